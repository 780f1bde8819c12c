//! How far an attempt at a task is: what its session does, for whoever looks on.

use handoff_agents::Block;
use handoff_core::{SessionId, TaskState};
use handoff_session::state::Phase;
use handoff_session::{Known, Notice, Places, Standing, catalogue};

/// What is done for a task in this moment, in a word or two; none if nothing is.
#[must_use]
pub fn step_of(state: &TaskState, places: &Places) -> Option<&'static str> {
    match state {
        TaskState::Leased { .. } => Some(PREPARED),
        TaskState::Running { session, .. } => Some(step_in(*session, places)),
        TaskState::Waiting
        | TaskState::Queued
        | TaskState::Done { .. }
        | TaskState::Failed { .. }
        | TaskState::Blocked { .. }
        | TaskState::Cancelled { .. } => None,
    }
}

/// Before there is a session.
const PREPARED: &str = "being prepared";

/// What is done in a session that was given a task. One of another machine has no files here.
#[must_use]
pub fn step_in(session: SessionId, places: &Places) -> &'static str {
    match catalogue::by_id(places, session) {
        Ok(Some(known)) => step(&known),
        Ok(None) => PREPARED,
        Err(_) => "unknown",
    }
}

fn step(known: &Known) -> &'static str {
    match (known.standing, known.notice) {
        (Standing::Ended, _) => "being checked",
        (Standing::Lost, _) => "lost",
        (Standing::Live, None) => "at work",
        (Standing::Live, Some(notice)) => doing(notice),
    }
}

fn doing(notice: Notice) -> &'static str {
    match (notice.state, notice.kind) {
        (Phase::Starting, _) => "starting",
        (Phase::Prompt, _) => "at its prompt",
        (Phase::Blocked, Some(Block::Limit)) => "at its limit",
        (Phase::Blocked, Some(Block::Error)) => "has an error",
        (
            Phase::Blocked,
            Some(
                Block::Permission
                | Block::Question
                | Block::Login
                | Block::Trust
                | Block::Panel
                | Block::Other,
            )
            | None,
        ) => "asks you",
        (Phase::Exited, _) => "being checked",
        (Phase::Busy | Phase::Unknown, _) => "at work",
    }
}

#[cfg(test)]
mod tests {
    use handoff_core::time::Nanos;
    use handoff_session::state::Source;

    use super::*;

    #[test]
    fn what_needs_a_person_is_told_from_what_does_not() {
        let at = |state, kind| {
            doing(Notice {
                state,
                kind,
                source: Source::Native,
                since: Nanos(0),
            })
        };
        assert_eq!(at(Phase::Busy, None), "at work");
        assert_eq!(at(Phase::Blocked, Some(Block::Question)), "asks you");
        assert_eq!(at(Phase::Blocked, Some(Block::Limit)), "at its limit");
        assert_eq!(at(Phase::Exited, None), "being checked");
    }
}
