//! Where the plan stands: the next action, what is in flight, what is blocked, what remains.

use handoff_core::feature::{CheckOutcome, Checkpoint, Ran};

use super::facts::{Entry, Facts};
use super::part::{Part, Rank};
use super::proof::{last_run, ran_at};
use crate::plan::{Marker, Problem, Step, Verdict};
use crate::quote;

pub(super) fn next_action(facts: &Facts<'_>) -> Part {
    let part = Part::new("Next action", Rank::Vital);
    match facts.plan.verdict() {
        Verdict::Ready { current } => match facts.plan.step(current) {
            Some(step) => current_step(part, facts, step),
            None => part,
        },
        Verdict::NotInitialised => {
            part.intro("There is no plan yet. Write one into `STATE.md` before any code.")
        }
        Verdict::NothingRemaining => part
            .intro("Every step is done. Verify the whole, then tell the user that it is finished."),
        Verdict::Blocked => {
            part.intro("Only blocked steps remain. Ask the user for what is listed under blockers.")
        }
        Verdict::Invalid => part
            .intro("The plan cannot be followed as it is. Put this right first:")
            .items(facts.plan.errors().map(problem)),
    }
}

fn current_step(part: Part, facts: &Facts<'_>, step: &Step) -> Part {
    let (done, total) = (facts.plan.done(), facts.plan.steps.len());
    part.intro(format!("Step {} of {total}, {done} done:", step.number))
        .items([item(step)])
}

/// What is written below the current step, and what the last session wanted to do next.
pub(super) fn details(facts: &Facts<'_>) -> Part {
    let step = facts.plan.current().into_iter();
    let notes = step.flat_map(|step| step.notes.iter().map(|note| note_line(step, note)));
    Part::new("What is said about it", Rank::Highest)
        .items(notes)
        .items(facts.memory.next.iter().map(Entry::quoted))
        .rest("STATE.md")
}

fn problem(problem: &Problem) -> String {
    let fault = quote::line(&problem.fault.to_string());
    format!("- STATE.md:{}: {fault}", problem.line)
}

/// What was begun and not finished: by the word of the last session, and by what the tool sees.
pub(super) fn in_flight(facts: &Facts<'_>) -> Part {
    let record = facts.knowledge.record;
    let checkpoint = record.and_then(|record| record.checkpoint.as_ref());
    let checks = facts.checks.iter();
    let failing = checks
        .filter_map(|check| last_run(facts, check))
        .filter(|ran| ran.run.outcome != CheckOutcome::Passed);
    Part::new("In flight or broken", Rank::Highest)
        .items(checkpoint.map(left_at))
        .items(failing.map(failed))
        .items(facts.memory.in_flight.iter().map(Entry::quoted))
        .rest("SESSION.md")
}

fn left_at(checkpoint: &Checkpoint) -> String {
    let step = checkpoint
        .step
        .as_ref()
        .map_or("no step", |step| step.as_str());
    let reason = checkpoint
        .reason
        .as_ref()
        .map_or_else(String::new, |reason| {
            format!("; {}", quote::line(reason.as_str()))
        });
    let at = checkpoint.at.strftime("%Y-%m-%d %H:%M UTC");
    let changes = quote::line(&checkpoint.changes);
    format!(
        "- checkpoint of {at}: {changes} > {}{reason}",
        quote::line(step)
    )
}

fn failed(ran: &Ran) -> String {
    let last = ran.run.output.as_str().lines().last().unwrap_or_default();
    let (check, last) = (&ran.run.check, quote::line(last));
    let at = ran_at(ran);
    format!("- the check `{check}` did not pass {at} > {last}")
}

pub(super) fn blockers(facts: &Facts<'_>) -> Part {
    let blocked = facts
        .plan
        .steps
        .iter()
        .filter_map(|step| match &step.marker {
            Marker::Blocked { reason } => Some(format!(
                "- step {}, STATE.md:{} > {}; {}",
                step.number,
                step.line,
                quote::folded(&step.title, "  "),
                quote::folded(reason.as_deref().unwrap_or("no reason is given"), "  ")
            )),
            Marker::Done | Marker::Current | Marker::Pending | Marker::Unknown { .. } => None,
        });
    Part::new("Blocked", Rank::Highest)
        .items(blocked)
        .items(facts.memory.blockers.iter().map(Entry::quoted))
        .rest("STATE.md")
}

pub(super) fn remaining(facts: &Facts<'_>) -> Part {
    let current = facts.plan.current().map(|step| step.number);
    let open = |step: &&Step| {
        let is_waiting = matches!(step.marker, Marker::Pending | Marker::Unknown { .. });
        is_waiting && Some(step.number) != current
    };
    Part::new("After that", Rank::Middle)
        .items(facts.plan.steps.iter().filter(open).map(item))
        .rest("STATE.md")
}

fn item(step: &Step) -> String {
    format!(
        "- step {}, STATE.md:{} > {}",
        step.number,
        step.line,
        quote::folded(&step.title, "  ")
    )
}

fn note_line(step: &Step, note: &str) -> String {
    format!(
        "- below step {} > {}",
        step.number,
        quote::folded(note, "  ")
    )
}
