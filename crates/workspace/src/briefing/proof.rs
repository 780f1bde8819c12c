//! What is done, and what proves it.

use handoff_core::feature::{CheckOutcome, CheckRun, Finished};

use super::facts::Facts;
use super::freshness::short;
use super::part::{Part, Rank};
use crate::config::Check;
use crate::plan::Step;
use crate::quote;

/// The steps that are done, the newest first: it is what the next one builds on.
pub(super) fn done(facts: &Facts<'_>) -> Part {
    let steps = facts.plan.steps.iter().rev().filter(|step| step.is_done());
    Part::new("Done", Rank::Middle)
        .items(steps.map(|step| {
            let record = facts.knowledge.record;
            let proof = record.and_then(|record| record.proof_of(&step.title));
            done_item(step, proof)
        }))
        .rest("STATE.md")
}

fn done_item(step: &Step, proof: Option<&Finished>) -> String {
    let title = quote::line(&step.title);
    format!(
        "- {}: step {}, STATE.md:{} > {title}",
        standing(proof),
        step.number,
        step.line
    )
}

/// What a finished step rests on.
fn standing(proof: Option<&Finished>) -> String {
    let Some(proof) = proof.filter(|proof| !proof.proved_by.is_empty()) else {
        return "unverified".to_owned();
    };
    let checks: Vec<String> = proof
        .proved_by
        .iter()
        .map(|check| format!("`{check}`"))
        .collect();
    let commit = proof.mark.tree.commit.as_ref().map_or("no commit", short);
    let edits = if proof.mark.tree.dirty.is_some() {
        " with edits"
    } else {
        ""
    };
    format!(
        "verified by {} on {} at {commit}{edits}",
        checks.join(", "),
        proof.at.strftime("%Y-%m-%d")
    )
}

/// The commands that prove the work, and how they came out.
pub(super) fn checks(facts: &Facts<'_>) -> Part {
    let items = facts.checks.iter().map(|check| check_item(facts, check));
    Part::new("Commands that prove the work", Rank::High)
        .intro("`handoff verify --run` runs them and keeps the evidence.")
        .items(items)
        .rest("config.toml")
}

fn check_item(facts: &Facts<'_>, check: &Check) -> String {
    let run = facts
        .knowledge
        .record
        .and_then(|record| record.checks.get(&check.name));
    let command = quote::line(check.command.as_str());
    format!(
        "- `{}`, {} > {command}",
        check.name,
        came_out(facts, check, run)
    )
}

fn came_out(facts: &Facts<'_>, check: &Check, run: Option<&CheckRun>) -> String {
    let Some(run) = run.filter(|run| run.command == check.command) else {
        return "unverified: never run by handoff".to_owned();
    };
    let is_now = facts
        .knowledge
        .code
        .is_some_and(|code| run.proves(code.tree));
    match (run.outcome, is_now) {
        (CheckOutcome::Passed, true) => "verified: passed on exactly this code".to_owned(),
        (CheckOutcome::Passed, false) => format!("passed on other code ({})", ran_at(run)),
        (CheckOutcome::Failed { .. } | CheckOutcome::Killed { .. } | CheckOutcome::TimedOut, _) => {
            format!("did not pass ({})", ran_at(run))
        }
    }
}

fn ran_at(run: &CheckRun) -> String {
    let commit = run.tree.as_ref().and_then(|tree| tree.commit.as_ref());
    commit.map_or_else(
        || "unknown commit".to_owned(),
        |commit| format!("at {}", short(commit)),
    )
}
