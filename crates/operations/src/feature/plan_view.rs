//! A plan as commands show it.

use handoff_api::{PlanDocument, PlanVerdict, StepDocument, StepState};
use handoff_core::visible::one_line;
use handoff_workspace::plan::{Marker, Plan, Step, Verdict};

/// A plan in short.
pub fn plan_document(plan: &Plan) -> PlanDocument {
    PlanDocument {
        verdict: match plan.verdict() {
            Verdict::Invalid => PlanVerdict::Invalid,
            Verdict::NotInitialised => PlanVerdict::NotInitialised,
            Verdict::NothingRemaining => PlanVerdict::NothingRemaining,
            Verdict::Blocked => PlanVerdict::Blocked,
            Verdict::Ready { .. } => PlanVerdict::Ready,
        },
        done: plan.done(),
        total: plan.steps.len(),
        current: plan.current().map(step_document),
    }
}

/// One step.
pub fn step_document(step: &Step) -> StepDocument {
    let (state, reason) = match &step.marker {
        Marker::Done => (StepState::Done, None),
        Marker::Current => (StepState::Current, None),
        Marker::Pending => (StepState::Pending, None),
        Marker::Blocked { reason } => (StepState::Blocked, reason.clone()),
        Marker::Unknown { .. } => (StepState::Unknown, None),
    };
    StepDocument {
        number: step.number.get(),
        line: step.line.get(),
        depth: step.depth,
        state,
        title: step.title.clone(),
        reason,
        notes: step.notes.clone(),
    }
}

/// Where a plan stands, in a sentence.
pub fn standing(plan: &Plan) -> String {
    match plan.verdict() {
        Verdict::Invalid => "The plan has to be put right first: `handoff validate`.".to_owned(),
        Verdict::NotInitialised => "There is no step in the plan.".to_owned(),
        Verdict::NothingRemaining => "All steps are done.".to_owned(),
        Verdict::Blocked => "Only blocked steps remain.".to_owned(),
        Verdict::Ready { .. } => plan.current().map_or_else(String::new, |step| {
            let title = one_line(&step.title);
            format!("Step {} is current: {title}", step.number)
        }),
    }
}
