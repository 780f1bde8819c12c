//! What came of bringing results together, and what an agent is told of it.

use handoff_core::batch::BatchPart;
use handoff_core::task::{Ending, Evidence, Gathered, LeftOut, Omission};
use handoff_core::{BatchName, CommitId, PartName, Task, TaskId, TaskState, visible};

/// So many paths of a conflict are named.
const PATHS: usize = 20;
/// So many lines of what a part or a check said.
const LINES: usize = 20;

/// The results of a batch, brought together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gathering {
    /// Of which batch.
    pub batch: BatchName,
    /// What every part began with.
    pub base: CommitId,
    /// The parts that are in, in order.
    pub merged: Vec<MergedPart>,
    /// The commit with all of them.
    pub tip: CommitId,
    /// Parts that are done and changed nothing.
    pub unchanged: Vec<PartName>,
    /// Parts that are out because they change the same lines as others.
    pub conflicts: Vec<Conflict>,
    /// Parts that did not end well.
    pub blocked: Vec<Missing>,
    /// Parts that are out because the check fails with them.
    pub failed_checks: Vec<FailedCheck>,
    /// That the check of the fan-in passed on exactly this, if it has one and it did.
    pub checked: Option<Evidence>,
}

/// A part that is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedPart {
    /// Which.
    pub part: PartName,
    /// What it left.
    pub commit: CommitId,
}

/// A part that could not be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Which.
    pub part: PartName,
    /// The task it is.
    pub task: TaskId,
    /// What it left.
    pub commit: CommitId,
    /// Where somebody has to decide.
    pub paths: Vec<String>,
}

/// A part that did not end well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Which.
    pub part: PartName,
    /// The task it is.
    pub task: TaskId,
    /// How it ended.
    pub ending: Ending,
    /// Why.
    pub reason: Option<String>,
    /// Where what it had written is saved, newest last.
    pub saved: Vec<String>,
}

/// A check that does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCheck {
    /// The part with which it begins to fail, and which is out; none if it fails without any.
    pub part: Option<PartName>,
    /// Parts that are out because they are built on that one.
    pub also_left_out: Vec<PartName>,
    /// What the check said.
    pub objection: String,
}

impl Missing {
    /// A part that has ended, and not well.
    pub(super) fn of(part: &BatchPart, task: &Task) -> Option<Self> {
        let (ending, reason) = match &task.state {
            TaskState::Failed { reason, .. } => (Ending::Failed, Some(reason)),
            TaskState::Blocked { reason, .. } => (Ending::Blocked, Some(reason)),
            TaskState::Cancelled { reason, .. } => (Ending::Cancelled, reason.as_ref()),
            TaskState::Done { .. }
            | TaskState::Waiting
            | TaskState::Queued
            | TaskState::Leased { .. }
            | TaskState::Running { .. } => return None,
        };
        Some(Self {
            part: part.name.clone(),
            task: part.task,
            ending,
            reason: reason.map(ToString::to_string),
            saved: vec![],
        })
    }
}

impl Gathering {
    /// What the ledger keeps of it: which parts are in, and which are not.
    pub(crate) fn evidence(&self) -> Evidence {
        let conflicts = self
            .conflicts
            .iter()
            .map(|it| (&it.part, Omission::Conflict));
        let failed = self.failed_checks.iter().flat_map(|it| {
            let also = it.also_left_out.iter();
            let also = also.map(|part| (part, Omission::BuiltOnFailed));
            { it.part.iter() }
                .map(|part| (part, Omission::FailedCheck))
                .chain(also)
        });
        let missing = self.blocked.iter().map(|it| (&it.part, Omission::NotDone));
        let left_out = conflicts.chain(failed).chain(missing);
        Evidence::Gathered(Gathered {
            tip: self.tip.clone(),
            parts: self.merged.iter().map(|it| it.part.clone()).collect(),
            left_out: left_out
                .map(|(part, why)| LeftOut {
                    part: part.clone(),
                    why,
                })
                .collect(),
        })
    }

    /// Whether somebody has to decide something.
    pub fn needs_judgement(&self) -> bool {
        !(self.conflicts.is_empty() && self.blocked.is_empty() && self.failed_checks.is_empty())
    }

    /// What an agent is told: only what needs judgement. What others said is quoted, so that it cannot pose as ours.
    pub fn text(&self) -> String {
        let mut text = format!("\n# The batch {}\n\n{}", self.batch, self.summary());
        for conflict in &self.conflicts {
            text += &conflict.text();
        }
        for missing in &self.blocked {
            text += &missing.text();
        }
        for failed in &self.failed_checks {
            text += &failed.text();
        }
        text
    }

    fn summary(&self) -> String {
        let merged = names(self.merged.iter().map(|it| &it.part));
        let unchanged = match self.unchanged.as_slice() {
            [] => String::new(),
            parts => format!(" Done without a change: {}.", names(parts)),
        };
        format!(
            "This tree has, on top of {}, the work of: {merged}.{unchanged} What follows needs your judgement.\n",
            short(&self.base)
        )
    }
}

impl Conflict {
    fn text(&self) -> String {
        let shown: Vec<_> = self.paths.iter().take(PATHS).cloned().collect();
        let more = match self.paths.len().saturating_sub(PATHS) {
            0 => String::new(),
            more => format!("\n> and {more} more"),
        };
        format!(
            "\n## {} conflicts\n\nIt is not in this tree. Its commit is {}; see it with `git show {}`, and bring over what fits. It \
             conflicts in:\n\n{}{more}\n",
            self.part,
            short(&self.commit),
            short(&self.commit),
            quoted(&shown.join("\n"))
        )
    }
}

impl Missing {
    fn text(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or("It did not say why.");
        let saved = self.saved.last().map_or_else(String::new, |name| {
            format!(" What it had written is saved; see it with `git show {name}`.")
        });
        format!(
            "\n## {} is {}\n\nIts work is not in this tree.{saved} It said:\n\n{}\n",
            self.part,
            self.ending.word(),
            quoted(reason)
        )
    }
}

impl FailedCheck {
    fn text(&self) -> String {
        let objection = quoted(&self.objection);
        let Some(part) = &self.part else {
            return format!(
                "\n## The check fails without any part\n\nIt said so of the commit that all began with:\n\n{objection}\n"
            );
        };
        let also = match self.also_left_out.as_slice() {
            [] => String::new(),
            parts => format!(" So are those that were built on it: {}.", names(parts)),
        };
        format!(
            "\n## The check fails with {part}\n\nIt is not in this tree.{also} The check said:\n\n{objection}\n"
        )
    }
}

fn names<'a>(parts: impl IntoIterator<Item = &'a PartName>) -> String {
    let names: Vec<_> = parts.into_iter().map(PartName::as_str).collect();
    if names.is_empty() {
        "no part".to_owned()
    } else {
        names.join(", ")
    }
}

fn short(commit: &CommitId) -> &str {
    &commit.as_str()[..12]
}

fn quoted(text: &str) -> String {
    let lines = text.lines().take(LINES);
    let lines: Vec<_> = lines
        .map(|line| format!("> {}", visible::without_hidden(line)))
        .collect();
    lines.join("\n")
}
