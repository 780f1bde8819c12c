//! Where the plan stands: the next action, what is in flight, what is blocked, what remains.

use handoff_core::feature::CheckOutcome;

use super::facts::{Entry, Facts};
use super::part::{Part, Rank};
use crate::plan::{Marker, Step, Verdict};
use crate::quote;

pub(super) fn next_action(facts: &Facts<'_>) -> Part {
    let part = Part::new("Next action", Rank::Vital);
    let plan = facts.plan;
    match plan.verdict() {
        Verdict::Ready { .. } => {}
        Verdict::NotInitialised => {
            return part.intro("There is no plan yet. Write one into `STATE.md` before any code.");
        }
        Verdict::NothingRemaining => {
            return part.intro(
                "Every step is done. Verify the whole, then tell the user that it is finished.",
            );
        }
        Verdict::Blocked => {
            return part.intro(
                "Only blocked steps remain. Ask the user for what is listed under blockers.",
            );
        }
        Verdict::Invalid => {
            let problems = plan.errors().map(|problem| {
                format!(
                    "- STATE.md:{}: {}",
                    problem.line,
                    quote::line(&problem.fault.to_string())
                )
            });
            return part
                .intro("The plan cannot be followed as it is. Put this right first:")
                .items(problems);
        }
    }
    let Some(step) = plan.current() else {
        return part;
    };
    let total = plan.steps.len();
    let part = part
        .intro(format!(
            "Step {} of {total}, {} done:",
            step.number,
            plan.done()
        ))
        .items([item(step)])
        .items(step.notes.iter().map(|note| note_line(step, note)));
    part.items(facts.memory.next.iter().map(Entry::quoted))
}

/// What was begun and not finished: by the word of the last session, and by what the tool sees.
pub(super) fn in_flight(facts: &Facts<'_>) -> Part {
    let checkpoint = facts
        .knowledge
        .record
        .and_then(|record| record.checkpoint.as_ref());
    let checkpoint = checkpoint.map(|checkpoint| {
        let step = checkpoint
            .step
            .as_ref()
            .map_or("no step", |step| step.as_str());
        let changes = match checkpoint.changes.as_str() {
            "" => "nothing uncommitted",
            changes => changes,
        };
        format!(
            "- checkpoint of {} ({}) > {}",
            checkpoint.at.strftime("%Y-%m-%d %H:%M UTC"),
            quote::line(changes),
            quote::line(step)
        )
    });
    let checks = facts
        .knowledge
        .record
        .into_iter()
        .flat_map(|record| record.checks.values());
    let failing = checks.filter(|run| run.outcome != CheckOutcome::Passed);
    let failing = failing.map(|run| {
        let last = run.output.as_str().lines().last().unwrap_or_default();
        format!(
            "- the check `{}` did not pass when it ran last > {}",
            run.check,
            quote::line(last)
        )
    });
    Part::new("In flight or broken", Rank::Highest)
        .items(checkpoint)
        .items(failing)
        .items(facts.memory.in_flight.iter().map(Entry::quoted))
        .rest("SESSION.md")
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
                quote::line(&step.title),
                quote::line(reason.as_deref().unwrap_or("no reason is given"))
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
        quote::line(&step.title)
    )
}

fn note_line(step: &Step, note: &str) -> String {
    format!("- below step {} > {}", step.number, quote::line(note))
}
