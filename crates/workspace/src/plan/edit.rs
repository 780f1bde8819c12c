//! Changing a plan: single lines, and every other byte as it was.

use super::checkbox::Checkbox;
use super::{Marker, Plan, Problem, Sentence, Step, StepNumber, current_line, insert, parse};
use crate::markdown::{Markdown, Splice, splice};

/// What to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Make this step the one that is current, whatever it was; another that was current is pending again.
    Start(StepNumber),
    /// Mark it as done.
    Done {
        /// This one.
        step: StepNumber,
        /// What becomes of the next one.
        then: Then,
    },
    /// Mark it as blocked.
    Block {
        /// This one.
        step: StepNumber,
        /// Why, and what would unblock it.
        reason: Sentence,
    },
    /// Put a new pending step into the plan.
    Add {
        /// What is to be done.
        title: Sentence,
        /// Where.
        place: Place,
    },
}

/// What becomes of the next step when one is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// If no other is current, the next pending one is.
    StartNext,
    /// Nothing.
    Rest,
}

/// Where a new step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Behind all others.
    End,
    /// Behind this one and what is nested in it.
    After(StepNumber),
}

/// The document after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// All of it.
    pub text: String,
    /// Its plan.
    pub plan: Plan,
    /// The step that was changed or added.
    pub step: StepNumber,
}

/// An edit that was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// It cannot be told where the plan is or where it ends.
    #[error("the plan cannot be edited: {0}")]
    Structure(Problem),
    /// The plan has no such step.
    #[error("the plan has {count} steps; there is no step {number}")]
    NoSuchStep {
        /// The one that was asked for.
        number: StepNumber,
        /// How many there are.
        count: usize,
    },
    /// What is done cannot be blocked.
    #[error("step {0} is done")]
    AlreadyDone(StepNumber),
    /// An open step says the same.
    #[error("step {0} says the same and is not done")]
    SameStep(StepNumber),
}

/// Makes an edit in the text of `STATE.md`. One that changes nothing gives the text as it was.
pub fn edit(text: &str, edit: &Edit) -> Result<Edited, EditError> {
    let document = Markdown::parse(text);
    let plan = parse::read(&document);
    if let Some(problem) = plan.problems.iter().find(|it| it.is_structural()) {
        return Err(EditError::Structure(problem.clone()));
    }
    let (splices, step) = match edit {
        Edit::Start(number) => (start(&document, &plan, *number)?, *number),
        Edit::Done { step, then } => (done(&document, &plan, *step, *then)?, *step),
        Edit::Block { step, reason } => (block(&document, &plan, *step, reason)?, *step),
        Edit::Add { title, place } => insert::step(&document, &plan, title, *place)?,
    };
    Ok(finish(&splice(text, splices), step))
}

/// Brings the section `Current Step` into line with the plan as it is now.
fn finish(text: &str, step: StepNumber) -> Edited {
    let document = Markdown::parse(text);
    let plan = parse::read(&document);
    let splices = current_line::rewrite(&document, &plan);
    let text = splice(text, splices.into_iter().collect());
    Edited {
        plan: Plan::parse(&text),
        text,
        step,
    }
}

fn start(
    document: &Markdown<'_>,
    plan: &Plan,
    number: StepNumber,
) -> Result<Vec<Splice>, EditError> {
    let step = existing(plan, number)?;
    let is_other = |other: &&Step| other.marker == Marker::Current && other.number != number;
    let others = plan.steps.iter().filter(is_other);
    let mut splices: Vec<_> = others.filter_map(|it| mark(it, &Marker::Pending)).collect();
    splices.extend(mark(step, &Marker::Current));
    splices.extend(without_reason(document, step));
    Ok(splices)
}

fn done(
    document: &Markdown<'_>,
    plan: &Plan,
    number: StepNumber,
    then: Then,
) -> Result<Vec<Splice>, EditError> {
    let step = existing(plan, number)?;
    if step.is_done() {
        return Ok(vec![]);
    }
    let mut splices: Vec<_> = mark(step, &Marker::Done).into_iter().collect();
    splices.extend(without_reason(document, step));
    match then {
        Then::StartNext => {
            splices.extend(next(plan, number).and_then(|it| mark(it, &Marker::Current)));
        }
        Then::Rest => {}
    }
    Ok(splices)
}

/// The step to be started when this one is done: the next pending one, from the beginning if need be. None if
/// another is current already.
fn next(plan: &Plan, number: StepNumber) -> Option<&Step> {
    let is_other = |step: &Step| step.marker == Marker::Current && step.number != number;
    if plan.steps.iter().any(is_other) {
        return None;
    }
    let (before, behind) = plan.steps.split_at(number.index());
    let is_pending = |step: &&Step| step.marker == Marker::Pending && step.number != number;
    behind.iter().chain(before).find(is_pending)
}

fn block(
    document: &Markdown<'_>,
    plan: &Plan,
    number: StepNumber,
    reason: &Sentence,
) -> Result<Vec<Splice>, EditError> {
    let step = existing(plan, number)?;
    if step.is_done() {
        return Err(EditError::AlreadyDone(number));
    }
    let marker = Marker::Blocked { reason: None };
    let splices = mark(step, &marker).into_iter();
    Ok(splices
        .chain([insert::reason(document, step, reason)])
        .collect())
}

fn existing(plan: &Plan, number: StepNumber) -> Result<&Step, EditError> {
    plan.step(number).ok_or(EditError::NoSuchStep {
        number,
        count: plan.steps.len(),
    })
}

/// A new letter for the box of a step. One that says the same stays, so that a capital X does.
fn mark(step: &Step, marker: &Marker) -> Option<Splice> {
    let text = Checkbox::letter(marker)?;
    (step.marker != *marker).then(|| Splice {
        range: step.spot.box_range.clone(),
        text: text.to_owned(),
    })
}

/// The line `blocked: …` goes with the box that it explained.
fn without_reason(document: &Markdown<'_>, step: &Step) -> Option<Splice> {
    let line = match step.marker {
        Marker::Blocked { .. } => &document.lines[step.spot.reason_line?],
        Marker::Done | Marker::Current | Marker::Pending | Marker::Unknown { .. } => return None,
    };
    Some(Splice {
        range: line.start..line.end(),
        text: String::new(),
    })
}
