//! Storms: work that takes everybody along who touches it. One who died says nothing, and the machine starts the next one; so what
//! was lost is counted, and whoever comes after the last one asks a person instead of dying too.
//!
//! Two places have to be counted differently. An attempt that died with its worker leaves its lease behind, which is in the ledger.
//! An attempt that had ended and whose judges died leaves nothing there, because its lease is kept for the next judge; the ticket of
//! its session counts those.

use handoff_core::{Event, StreamId, Task, TaskEvent};
use handoff_store::{events, read};

use crate::error::EngineError;
use crate::workshop::Workshop;

/// So many attempts in a row that were lost, or judges of one attempt that died, are no coincidence.
pub(crate) const MOST: u64 = 5;

/// Why a task is not begun again; none if there is no reason.
pub(crate) fn of_attempts(
    workshop: &mut Workshop<'_>,
    task: &Task,
) -> Result<Option<String>, EngineError> {
    if task.fence.number() <= MOST {
        return Ok(None);
    }
    let stream = StreamId::Task(task.id);
    let history = read(workshop.store, |tx| {
        events::history(tx, stream, task.version)
    })?;
    let lost = lost_in_a_row(history.iter().map(|it| &it.event));
    Ok((lost >= MOST).then(|| {
        format!(
            "{lost} attempts in a row were lost: the session, or the worker that began it, died each time without a word"
        )
    }))
}

/// Why the end of an attempt is not judged again, after so many judges.
pub(crate) fn of_judges(dead: u64) -> Option<String> {
    (dead >= MOST)
        .then(|| format!("{dead} workers in a row died while they judged what the session left"))
}

/// How many attempts were lost since anything else came of one, or a person said that it is to go on.
fn lost_in_a_row<'a>(history: impl DoubleEndedIterator<Item = &'a Event>) -> u64 {
    let mut lost = 0;
    for event in history.rev() {
        let Event::Task(event) = event else { continue };
        match event {
            TaskEvent::LeaseExpired { .. } => lost += 1,
            TaskEvent::Claimed { .. }
            | TaskEvent::Started { .. }
            | TaskEvent::Evidenced { .. }
            | TaskEvent::Renewed { .. }
            | TaskEvent::Held { .. }
            | TaskEvent::DependencyEnded { .. }
            | TaskEvent::DependencyReopened { .. } => {}
            TaskEvent::Added { .. }
            | TaskEvent::Reported { .. }
            | TaskEvent::Released { .. }
            | TaskEvent::PutOff { .. }
            | TaskEvent::Completed { .. }
            | TaskEvent::Failed { .. }
            | TaskEvent::Blocked { .. }
            | TaskEvent::Cancelled { .. }
            | TaskEvent::Retried
            | TaskEvent::Unheld => break,
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use handoff_core::Fence;

    use super::*;

    fn history(acts: &str) -> Vec<Event> {
        let fence = Fence::new(1);
        let event = |act| match act {
            'x' => TaskEvent::LeaseExpired { fence },
            'r' => TaskEvent::Released {
                fence,
                reason: None,
            },
            'u' => TaskEvent::Unheld,
            _ => TaskEvent::Retried,
        };
        acts.chars().map(|act| Event::Task(event(act))).collect()
    }

    #[test]
    fn only_losses_in_a_row_are_a_storm() {
        for (acts, lost) in [
            ("", 0),
            ("xxxxx", 5),
            ("xxrxx", 2),
            ("xxxxxu", 0),
            ("xxxxxt", 0),
        ] {
            assert_eq!(lost_in_a_row(history(acts).iter()), lost, "{acts}");
        }
        assert_eq!(of_judges(MOST - 1), None);
        assert!(of_judges(MOST).is_some());
    }
}
