//! The first thing a session must know: whether what it is about to read is still true.

use handoff_core::feature::Marked;
use handoff_core::tree::{Drift, Freshness, Ignorance};
use handoff_core::{CommitId, TreeState};

use super::facts::{CodeNow, Facts};
use super::part::{Part, Rank};
use crate::quote;

/// So many files or commits are named; the rest is counted.
const NAMED: usize = 12;

pub(super) fn part(facts: &Facts<'_>) -> Part {
    let knowledge = &facts.knowledge;
    let part = Part::new("Is this still true?", Rank::Vital).intro(format!(
        "**{}.** {}",
        verdict(knowledge.freshness, knowledge.code.map(|code| code.tree)),
        recorded(knowledge.record.and_then(|record| record.mark.as_ref()))
    ));
    let part = if knowledge.is_plan_edited() {
        part.intro(format!(
            "`{}/STATE.md` was edited since that record, by hand or by an agent: its marks are unverified.",
            facts.path
        ))
    } else {
        part
    };
    let warnings = knowledge.warnings.iter();
    let part = part.items(warnings.map(|warning| format!("- warning: {}", quote::line(warning))));
    match knowledge.code {
        Some(code) => now(part, code),
        None => part,
    }
}

/// The verdict in a few words, the same in every command.
pub fn verdict(freshness: &Freshness, tree: Option<&TreeState>) -> String {
    let moved = match freshness.drift {
        Drift::None => None,
        Drift::Ahead { by } => Some(format!("ahead by {by} {}", commits(by))),
        Drift::Behind { by } => Some(format!("behind by {by} {}", commits(by))),
        Drift::Diverged { gained, lost } => Some(format!(
            "diverged: {gained} {} added, {lost} gone",
            commits(gained)
        )),
        Drift::Unknown { why } => Some(format!("unknown: {}", ignorance(why))),
    };
    let branch = freshness.written_on.as_ref();
    let branch =
        branch.map(|branch| format!("written on branch `{}`", quote::line(branch.as_str())));
    let files = tree
        .and_then(|tree| tree.dirty.as_ref())
        .map_or(0, |dirty| dirty.files);
    let edits = match (freshness.has_new_edits, files) {
        (false, _) => None,
        (true, 0) => Some("edits that were there are gone".to_owned()),
        (true, files) => Some(format!(
            "dirty: {files} {} not committed",
            count("file", files)
        )),
    };
    let said: Vec<String> = [moved, branch, edits].into_iter().flatten().collect();
    if said.is_empty() {
        "current".to_owned()
    } else {
        said.join("; ")
    }
}

const fn ignorance(why: Ignorance) -> &'static str {
    match why {
        Ignorance::NoGit => "there is no git repository here",
        Ignorance::NotRecorded => "no state of the code was recorded with this plan",
        Ignorance::LedgerUnreadable => "what was recorded cannot be read",
        Ignorance::NotCompared => "the commits could not be compared",
        Ignorance::CommitMissing => "the commit it was written at is not in this repository",
        Ignorance::NoCommit => "there is no commit to compare with",
    }
}

fn recorded(marked: Option<&Marked>) -> String {
    let Some(Marked { at, mark }) = marked else {
        return "Nothing below was verified by handoff; look for yourself before you rely on it."
            .to_owned();
    };
    format!(
        "The state below was last recorded on {}, {}.",
        at.strftime("%Y-%m-%d %H:%M UTC"),
        place(&mark.tree)
    )
}

fn now(part: Part, code: CodeNow<'_>) -> Part {
    let part = part.intro(format!("Now: {}.", place(code.tree)));
    let part = part.items(list("not committed", code.edited));
    part.items(list("commit since", code.commits))
}

/// The branch, the commit and the edits of a state, as half a sentence.
fn place(tree: &TreeState) -> String {
    let branch = tree.branch.as_ref().map_or_else(
        || "no branch".to_owned(),
        |branch| format!("branch `{}`", quote::line(branch.as_str())),
    );
    let commit = tree.commit.as_ref().map_or_else(
        || "before the first commit".to_owned(),
        |commit| format!("commit `{}`", short(commit)),
    );
    let edits = tree.dirty.as_ref().map_or_else(
        || "nothing uncommitted".to_owned(),
        |dirty| format!("{} uncommitted {}", dirty.files, count("file", dirty.files)),
    );
    format!("{branch}, {commit}, {edits}")
}

fn list<'a>(what: &'a str, all: &'a [String]) -> impl Iterator<Item = String> + 'a {
    let named = all.iter().take(NAMED);
    let named = named.map(move |one| format!("- {what} > {}", quote::line(one)));
    let more = all.len().saturating_sub(NAMED);
    named.chain((more > 0).then(|| format!("- {what}: {more} more")))
}

/// Enough of a commit's id.
pub(super) fn short(commit: &CommitId) -> &str {
    &commit.as_str()[..10]
}

fn commits(number: u32) -> String {
    count("commit", number)
}

fn count(noun: &str, number: u32) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{noun}{plural}")
}
