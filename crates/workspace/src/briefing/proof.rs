//! What is done, and what proves it.

use handoff_core::feature::{CheckOutcome, Finished, Ran};

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
    let title = quote::folded(&step.title, "  ");
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
    let commands = proof.proved_by.iter().map(|it| {
        let at = it.at.strftime("%Y-%m-%d %H:%M UTC");
        format!("`{}` at {at}", in_code(it.command.as_str()))
    });
    let commands: Vec<String> = commands.collect();
    let commit = proof.mark.tree.commit.as_ref().map_or("no commit", short);
    let edits = if proof.mark.tree.dirty.is_some() {
        " with edits"
    } else {
        ""
    };
    format!("verified by {} on {commit}{edits}", commands.join(", "))
}

/// A command between backticks: one of its own would end the quote.
fn in_code(command: &str) -> String {
    quote::line(command).replace('`', "'")
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
    let run = last_run(facts, check);
    let command = quote::line(check.command.as_str());
    format!("- `{}`, {} > {command}", check.name, came_out(facts, run))
}

/// The last run of a check as it is now.
pub(super) fn last_run<'a>(facts: &Facts<'a>, check: &Check) -> Option<&'a Ran> {
    let ran = facts.knowledge.record?.checks.get(&check.name)?;
    (ran.run.command == check.command).then_some(ran)
}

fn came_out(facts: &Facts<'_>, ran: Option<&Ran>) -> String {
    let Some(ran) = ran else {
        return "unverified: never run by handoff as it is".to_owned();
    };
    let is_now = facts
        .knowledge
        .code
        .is_some_and(|code| ran.run.proves(code.tree));
    match (ran.run.outcome, is_now) {
        (CheckOutcome::Passed, true) => {
            format!("verified: passed on this code, {}", ran_at(ran))
        }
        (CheckOutcome::Passed, false) => format!("passed on other code, {}", ran_at(ran)),
        (
            CheckOutcome::Failed { .. }
            | CheckOutcome::Killed { .. }
            | CheckOutcome::TimedOut
            | CheckOutcome::OverLimit { .. },
            _,
        ) => {
            format!("did not pass, {}", ran_at(ran))
        }
    }
}

/// When a check ran, and on which commit.
pub(super) fn ran_at(ran: &Ran) -> String {
    let commit = ran.run.tree.as_ref().and_then(|tree| tree.commit.as_ref());
    let commit = commit.map_or("code that changed meanwhile", short);
    let at = ran.at.strftime("%Y-%m-%d %H:%M UTC");
    format!("at {at} on {commit}")
}
