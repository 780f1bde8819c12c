//! What a session is told: the baton, as Markdown with front matter.
//!
//! Text of a person stands as it is; it is the brief. Text of an earlier session is quoted line by line and named as
//! what it is, so that it cannot pose as ours.

use handoff_core::run::Verdict;
use handoff_core::task::{Evidence, Reason, Summary};
use handoff_core::{BranchName, CommitId, Task, visible};
use handoff_git::saved_work::SavedWork;
use handoff_package::payload::{Checkpoint, CheckpointStatus, ContextEntry};
use handoff_package::{Package, Payload};

use crate::fan_in::Gathering;

/// So many keys of a context are told.
const KEYS: usize = 50;
/// So many files of an earlier attempt are named.
const PATHS: usize = 20;
/// The longest value that is told; the rest can be had.
const VALUE: usize = 1_000;

/// What the prompt is made of.
pub(crate) struct Baton<'a> {
    pub(crate) task: &'a Task,
    pub(crate) base: &'a CommitId,
    /// Where the code stands, where something is known of it.
    pub(crate) ground: Option<&'a str>,
    pub(crate) branch: &'a BranchName,
    /// What was done before it, and at it.
    pub(crate) hindsight: &'a str,
    /// What was saved of earlier attempts.
    pub(crate) saved: &'a [SavedWork],
    /// What the tool brought together, and what it could not.
    pub(crate) gathering: Option<&'a Gathering>,
    /// What the phase of a run is told besides.
    pub(crate) told: Option<&'a str>,
}

/// The text for the session.
pub(crate) fn prompt(baton: &Baton<'_>) -> String {
    let task = baton.task;
    let mut text = format!(
        "---\ntask: {}\nattempt: {}\nbase: {}\nbranch: {}\n---\n\n# Your task\n\n{}\n",
        task.spec.name, task.fence, baton.base, baton.branch, task.spec.brief
    );
    text += &baton.ground.map_or_else(String::new, standing);
    text += baton.hindsight;
    text += &saved(baton.saved);
    if let Some(gathering) = baton.gathering {
        text += &gathering.text();
    }
    text += baton.told.unwrap_or_default();
    text += &how_to_finish(task);
    text
}

/// A command may come from anywhere; hidden characters have no business in a prompt.
fn standing(ground: &str) -> String {
    let ground = visible::without_hidden(ground);
    format!("\n# Where the code stands\n\n{ground}\n")
}

/// The work of attempts that came to nothing: an agent at its limit had begun something, and the next one need not do it again.
fn saved(saved: &[SavedWork]) -> String {
    if saved.is_empty() {
        return String::new();
    }
    let lines: Vec<_> = saved.iter().map(saved_line).collect();
    format!(
        "\n# What earlier attempts at this task had changed\n\nIt is unfinished, nobody checked it, and it is not in your \
         worktree. `git show COMMIT:PATH` shows a file as it was left.\n\n{}\n",
        lines.join("\n")
    )
}

fn saved_line(saved: &SavedWork) -> String {
    let shown = saved.paths.iter().take(PATHS);
    let shown: Vec<_> = shown
        .map(|path| format!("`{}`", visible::without_hidden(path).replace('`', "'")))
        .collect();
    let more = match saved.paths.len().saturating_sub(PATHS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "- commit {:.12}: {}{more}",
        saved.commit.as_str(),
        shown.join(", ")
    )
}

/// What a session left for those that come after it.
pub(crate) fn before(package: &Package) -> String {
    let payload = &package.payload;
    let name = match (&payload.task_name, &payload.batch) {
        (Some(task), _) => task.to_string(),
        (None, Some(batch)) => format!("batch {}", batch.name),
        (None, None) => String::new(),
    };
    let said = payload.summary.as_ref().map(Summary::as_str);
    let proofs: Vec<_> = payload.proofs.iter().filter_map(proof).collect();
    let proofs = if proofs.is_empty() {
        "nothing".to_owned()
    } else {
        proofs.join("; ")
    };
    let mut text = format!(
        "\n# What the session before you left ({name})\n\nIts own words, which nobody checked:\n\n{}\n\nProved by the tool: {proofs}\n",
        quoted(said.unwrap_or("It said nothing.")),
    );
    text += &go_on(payload);
    text += &section("Decided", payload.decisions.iter().map(Reason::as_str));
    text += &section(
        "Does not work",
        payload.dead_ends.iter().map(Reason::as_str),
    );
    text + &shared(&payload.context.entries)
}

/// Where the work goes on, if it was stopped in the middle.
fn go_on(payload: &Payload) -> String {
    let is_open = |checkpoint: &&Checkpoint| checkpoint.status != CheckpointStatus::Completed;
    let open = payload.checkpoint.as_ref().filter(is_open);
    open.map_or_else(String::new, |checkpoint| {
        let point = quoted(checkpoint.resume_point.as_str());
        format!("\nGo on here:\n\n{point}\n")
    })
}

/// Text of an earlier session, line by line, without what nobody sees.
pub(crate) fn quoted(text: &str) -> String {
    let lines = text.lines();
    let lines: Vec<_> = lines
        .map(|line| format!("> {}", visible::without_hidden(line)))
        .collect();
    lines.join("\n")
}

fn section<'a>(heading: &str, texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<_> = texts.map(quoted).collect();
    if texts.is_empty() {
        return String::new();
    }
    format!("\n{heading}:\n\n{}\n", texts.join("\n>\n"))
}

/// The keys of the context, with values that are short enough.
fn shared(entries: &[ContextEntry]) -> String {
    let told = entries.iter().take(KEYS).map(|entry| {
        let value = entry.value.as_str();
        if value.len() > VALUE {
            format!("{}: {} bytes", entry.key, value.len())
        } else {
            format!("{} = {value}", entry.key)
        }
    });
    let told: Vec<_> = told.collect();
    if told.is_empty() {
        return String::new();
    }
    let told = quoted(&told.join("\n"));
    format!("\nShared context (`handoff context get KEY`):\n\n{told}\n")
}

fn proof(evidence: &Evidence) -> Option<String> {
    match evidence {
        Evidence::Verified {
            command,
            exit_code: Some(0),
            ..
        } => Some(format!("`{command}` passed")),
        Evidence::Committed { branch, commit } => Some(format!("commit {commit} on {branch}")),
        Evidence::Judged { verdict } => Some(judged(verdict)),
        Evidence::Gathered(it) => it.omissions().map(|told| format!("left out: {told}")),
        Evidence::Verified { .. }
        | Evidence::Sealed { .. }
        | Evidence::Measured(_)
        | Evidence::Left { .. }
        | Evidence::Refused { .. }
        | Evidence::Used { .. } => None,
    }
}

/// What the referee found. The name of a test may be anybody's words.
fn judged(verdict: &Verdict) -> String {
    let test = verdict.test.as_ref().map(|it| {
        let name = visible::without_hidden(it.as_str()).replace('`', "'");
        format!(" for the test `{name}`")
    });
    let tests = { verdict.tests }.map(|(passed, failed, skipped)| {
        format!(" ({passed} tests pass, {failed} fail, {skipped} are skipped)")
    });
    let weaker = verdict
        .weaker
        .map(|it| format!(", by a weaker proof ({})", it.word()));
    format!(
        "`{}` with commit {}{}{}{}",
        verdict.outcome,
        verdict.commit,
        test.unwrap_or_default(),
        tests.unwrap_or_default(),
        weaker.unwrap_or_default()
    )
}

fn how_to_finish(task: &Task) -> String {
    let owned = task.spec.owns.as_ref().map_or_else(String::new, |owns| {
        let patterns: Vec<_> = owns.patterns().iter().map(|it| format!("`{it}`")).collect();
        format!("Change only {}. ", patterns.join(", "))
    });
    let checked = task
        .spec
        .verify
        .as_ref()
        .map_or_else(String::new, |command| {
            format!("Your work is checked with `{command}` after you exit. ")
        });
    format!(
        "\n# How to finish\n\n{owned}{checked}Do not commit: what you changed is committed for you. When you are done, run \
         `handoff done --summary \"what you did and what is left\"`; if you cannot go on without a person, run `handoff block \
         --reason \"what you need\"`.\n"
    )
}
