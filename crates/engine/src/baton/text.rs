//! A baton as text. Whatever came from outside stands in it without the characters that nobody sees.

use handoff_core::task::{Ending, Evidence};
use handoff_core::{CommitId, HeadName, Ownership, Task, TaskState, visible};

use super::{Past, Setting};
use crate::ground::Ground;
use crate::prompt::quoted;

/// What names its version in the front matter.
pub(super) const VERSION: &str = "version: ";

/// The baton of a task.
pub fn text(task: &Task, setting: &Setting, past: &Past) -> String {
    let brief = seen(task.spec.brief.as_str());
    let front = front(task, setting, past);
    let mut text = format!("{front}\n# {}\n\n{brief}\n", task.spec.name);
    text += &objection(task);
    text += &section("Where the code stands", [standing(setting, past)]);
    text += &section("Recent commits", listed(setting.commits.iter()));
    let check = task.spec.verify.iter().map(|it| word(it.as_str()));
    text += &section("Tests", check.map(|it| format!("- {it}")));
    text += &section("Read first", reading(task, past));
    text += &section("Goes on from", past.tasks.iter().map(predecessor));
    text += &past.told;
    text += &section("Proved so far", task.evidence.iter().filter_map(proof));
    text + &finish(task)
}

fn front(task: &Task, setting: &Setting, past: &Past) -> String {
    let status = task.state.ending().map_or("active", Ending::word);
    let ground = setting.ground.as_ref();
    let branch = ground.and_then(|it| it.branch.as_ref());
    let base = base(setting, past);
    let proved = ground.and_then(|it| Some(&it.proved.as_ref()?.0.commit));
    let lines = [
        ("branch", branch.map(HeadName::as_str)),
        ("head", ground.map(|it| it.head.as_str())),
        ("base", base.map(CommitId::as_str)),
        (
            "baseline",
            ground.map(|_| proved.map_or("none", CommitId::as_str)),
        ),
        (
            "verified",
            base.map(|it| if proved == Some(it) { "true" } else { "false" }),
        ),
    ];
    let lines = lines
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    let lines: String = lines
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect();
    format!(
        "---\ntask: {}\nid: {}\nproject: {}\nstatus: {status}\n{VERSION}{}\n{lines}---\n",
        task.spec.name, task.id, task.project, task.version
    )
}

/// The commit that a session would begin at, before what the tasks before it left.
fn base<'a>(setting: &'a Setting, past: &'a Past) -> Option<&'a CommitId> {
    let ground = setting.ground.as_ref().map(Ground::base);
    past.base.as_ref().or(ground)
}

fn standing(setting: &Setting, past: &Past) -> String {
    let Some(ground) = &setting.ground else {
        return "There is no commit yet.".to_owned();
    };
    let told = match &past.base {
        Some(base) => format!("The work of this batch begins at `{}`.", short(base)),
        None => ground.told().unwrap_or_else(|| {
            let head = short(&ground.head);
            format!("`{head}` is not verified: this branch has no baseline.")
        }),
    };
    let before = if past.tasks.is_empty() {
        ""
    } else {
        " A session begins with what the tasks before it left."
    };
    visible::without_hidden(&format!("{told}{before}"))
}

/// Why nobody goes on with it.
fn objection(task: &Task) -> String {
    let (heading, reason) = match &task.state {
        TaskState::Failed { reason, .. } => ("Why it failed", Some(reason)),
        TaskState::Blocked { reason, .. } => ("What a person is needed for", Some(reason)),
        TaskState::Cancelled { reason, .. } => ("Why it was called off", reason.as_ref()),
        TaskState::Waiting
        | TaskState::Queued
        | TaskState::Leased { .. }
        | TaskState::Running { .. }
        | TaskState::Done { .. } => return String::new(),
    };
    section(heading, reason.map(|it| quoted(it.as_str())))
}

fn section(heading: &str, lines: impl IntoIterator<Item = String>) -> String {
    let lines: Vec<_> = lines.into_iter().collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\n## {heading}\n\n{}\n", lines.join("\n"))
}

fn listed<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<String> {
    texts
        .map(|it| format!("- {}", visible::without_hidden(it)))
        .collect()
}

/// What the task may change is what it has to know, and what was put beside the packages before it.
fn reading(task: &Task, past: &Past) -> Vec<String> {
    let patterns = task.spec.owns.iter().flat_map(Ownership::patterns);
    let patterns = patterns.map(|it| format!("- {}", word(&it.to_string())));
    let attached = past
        .reading
        .iter()
        .map(|it| format!("- {} (attached)", word(it)));
    patterns.chain(attached).collect()
}

fn predecessor((name, commit): &(String, Option<CommitId>)) -> String {
    match commit {
        Some(commit) => format!("- `{name}`, which left `{}`", short(commit)),
        None => format!("- `{name}`"),
    }
}

fn proof(evidence: &Evidence) -> Option<String> {
    match evidence {
        Evidence::Verified {
            command,
            exit_code,
            limit,
        } => {
            let code = match (exit_code, limit) {
                (Some(code), _) => code.to_string(),
                (None, Some(limit)) => format!("a limit: {limit}"),
                (None, None) => "a signal".to_owned(),
            };
            Some(format!("- {} ended with {code}", word(command.as_str())))
        }
        Evidence::Committed { branch, commit } => {
            Some(format!("- `{}` on `{branch}`", short(commit)))
        }
        Evidence::Measured(it) => Some(format!(
            "- {} ran {} tests, of which {} failed",
            word(it.command.as_str()),
            it.passed + it.failed,
            it.failed
        )),
        Evidence::Judged { verdict } => Some(format!("- judged `{}`", verdict.outcome)),
        Evidence::Gathered(it) => it.omissions().map(|told| format!("- left out: {told}")),
        Evidence::Sealed { .. }
        | Evidence::Left { .. }
        | Evidence::Refused { .. }
        | Evidence::Used { .. } => None,
    }
}

fn finish(task: &Task) -> String {
    let name = &task.spec.name;
    let by_hand = match task.state.ending() {
        Some(Ending::Done) => return String::new(),
        Some(Ending::Failed | Ending::Blocked | Ending::Cancelled) => {
            format!("Open it again: `handoff queue retry {name}`.")
        }
        None => format!(
            "By hand: `handoff queue claim {name}`, then `handoff queue complete {name} --fence N`."
        ),
    };
    format!(
        "\n## How to finish\n\nInside a session: `handoff done`, or `handoff block --reason TEXT` if a person is needed. {by_hand}\n"
    )
}

fn word(text: &str) -> String {
    format!("`{}`", visible::without_hidden(text).replace('`', "'"))
}

/// Text of a person: its lines stay, what nobody sees does not.
fn seen(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(visible::without_hidden).collect();
    lines.join("\n")
}

fn short(commit: &CommitId) -> &str {
    let commit = commit.as_str();
    commit.get(..12).unwrap_or(commit)
}
