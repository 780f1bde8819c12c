//! Storms: work that takes everybody along who touches it. One who died says nothing, and the machine starts the next one; so what
//! was lost is counted ([`Losses`]), and whoever comes after the last one lets the task rest, or asks a person instead of dying too.
//!
//! Two places have to be counted differently. An attempt that died with its worker leaves its lease behind, which is in the ledger.
//! An attempt that had ended and whose judges died leaves nothing there, because its lease is kept for the next judge; the ticket of
//! its session counts those.

use std::time::Duration;

use handoff_core::backoff::Backoff;
use handoff_core::losses::Losses;
use handoff_core::{Event, StreamId, Task, Timestamp};
use handoff_store::{events, read};

use crate::error::EngineError;
use crate::workshop::Workshop;

/// So many judges of one attempt that died are no coincidence. With the waits between them that takes more than an hour.
pub(crate) const MOST: u64 = 12;
/// So many of them are bad luck.
const FREE: u64 = 2;
const LONGEST: Duration = Duration::from_mins(15);

/// Why a task rests before it is begun again; none if there is no reason.
pub(crate) fn of_attempts(
    workshop: &mut Workshop<'_>,
    task: &Task,
) -> Result<Option<String>, EngineError> {
    // Nothing was lost before the first attempt.
    if task.leases() <= 1 {
        return Ok(None);
    }
    let stream = StreamId::Task(task.id);
    let history = read(workshop.store, |tx| {
        events::history(tx, stream, task.version)
    })?;
    let events = history.iter().filter_map(|it| match &it.event {
        Event::Task(event) => Some(event),
        Event::Hold(_)
        | Event::Feature(_)
        | Event::Package(_)
        | Event::Context(_)
        | Event::Batch(_)
        | Event::Run(_)
        | Event::Repository(_) => None,
    });
    let losses = Losses::at_end_of(events);
    let count = losses.count;
    Ok(losses.call_for_rest().then(|| {
        format!(
            "{count} attempts in a row were lost: the session, or the worker that began it, died each time without a word"
        )
    }))
}

/// When the next one may judge what was left, after so many who died over it; at once if that may be bad luck.
pub(crate) fn next_judge(dead: u64, now: Timestamp) -> Option<Timestamp> {
    const WAITS: Backoff = Backoff {
        first: Duration::from_secs(10),
        longest: LONGEST,
        patience: Duration::MAX,
    };
    let more = u32::try_from(dead.checked_sub(FREE)?).ok()? + 1;
    let wait = WAITS.wait(more, Duration::ZERO, u32::MAX)?;
    now.checked_add(wait).ok()
}

/// Whether it is too early to judge. A time that is farther away than any wait was written by another clock.
pub(crate) fn is_too_early(not_before: Option<Timestamp>, now: Timestamp) -> bool {
    let left = not_before.map(|it| it.duration_since(now));
    let left = left.and_then(|it| Duration::try_from(it).ok());
    left.is_some_and(|left| !left.is_zero() && left <= LONGEST)
}

/// Why the end of an attempt is not judged again, after so many judges.
pub(crate) fn of_judges(dead: u64) -> Option<String> {
    (dead >= MOST)
        .then(|| format!("{dead} workers in a row died while they judged what the session left"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judges_wait_longer_each_time_and_then_ask_a_person() {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let waits = |dead| next_judge(dead, at(0)).map(handoff_core::Timestamp::as_second);
        for (dead, wait) in [
            (0, None),
            (1, None),
            (2, Some(10)),
            (3, Some(20)),
            (6, Some(160)),
            (8, Some(640)),
            (9, Some(900)),
            (50, Some(900)),
        ] {
            assert_eq!(waits(dead), wait, "{dead}");
        }
        let all: i64 = (0..MOST).filter_map(waits).sum();
        assert!(all > 3600, "{all}");
        assert_eq!(of_judges(MOST - 1), None);
        assert!(of_judges(MOST).is_some());
    }

    #[test]
    fn a_wait_ends_and_one_of_another_clock_is_none() {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        for (not_before, now, is_early) in [
            (None, 0, false),
            (Some(10), 0, true),
            (Some(10), 9, true),
            (Some(10), 10, false),
            (Some(10), 50, false),
            (Some(900), 0, true),
            (Some(901), 0, false),
        ] {
            assert_eq!(
                is_too_early(not_before.map(at), at(now)),
                is_early,
                "{not_before:?} {now}"
            );
        }
    }
}
