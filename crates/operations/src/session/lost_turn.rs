//! A turn that ended without an answer, as it is told.

use handoff_api::{ExitCode, TroubleDocument};
use handoff_core::visible::plain;
use handoff_session::Known;
use handoff_session::outcome::Outcome;

use crate::failure::Failure;

/// What a command exits with that waited for such a turn.
pub const fn code(outcome: &Outcome) -> ExitCode {
    match outcome {
        Outcome::Answered => ExitCode::Done,
        Outcome::Failed(_) => ExitCode::TurnFailed,
        Outcome::Interrupted => ExitCode::Interrupted,
        Outcome::Refused => ExitCode::Refused,
        Outcome::LimitReached(_) => ExitCode::LimitReached,
        Outcome::Died => ExitCode::AgentDied,
        Outcome::Unclear | Outcome::Other => ExitCode::OutcomeUnknown,
    }
}

/// Nothing comes any more of what was waited for.
pub fn failure(known: &Known, turn: u64, outcome: &Outcome) -> Failure {
    let name = &known.record.name;
    let text = format!(
        "`{name}` has not answered: its turn {turn} {}",
        plain(&outcome.meaning())
    );
    let look = if *outcome == Outcome::Died {
        format!("see what it printed: `handoff logs --id {name}`")
    } else {
        format!("look at it: `handoff pane --id {name}`")
    };
    Failure::new(code(outcome), text).hint(look)
}

pub fn trouble(outcome: &Outcome) -> Option<TroubleDocument> {
    outcome.error().map(|error| TroubleDocument {
        kind: error.kind.word().to_owned(),
        said: error.said.clone(),
    })
}
