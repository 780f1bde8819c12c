//! Losses: attempts that ended without a word, because the session or its worker died.
//!
//! A machine that goes down, or somebody who kills workers, takes many attempts along within seconds, and none of that is the task's
//! fault. A task that itself takes its workers along looks the same. So a task that was lost a few times rests before each further
//! attempt, longer each time ([`crate::rest::Trouble::Lost`]), and only one that is still lost after more than an hour of rests is left to a person.

use crate::TaskEvent;
use crate::rest::Trouble;

/// So many losses in a row are bad luck.
const FREE: u64 = 2;

/// The losses of a task since anything else came of it, or a person said that it is to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Losses {
    /// How many.
    pub count: u64,
    /// How many of them since it rested last because of them.
    pub since_rest: u64,
    /// How often it rested because of them.
    pub rests: u64,
}

impl Losses {
    /// The losses at the end of a history.
    pub fn at_end_of<'a>(history: impl DoubleEndedIterator<Item = &'a TaskEvent>) -> Self {
        let mut losses = Self::default();
        for event in history.rev() {
            match event {
                TaskEvent::LeaseExpired { .. } => {
                    losses.count += 1;
                    losses.since_rest += u64::from(losses.rests == 0);
                }
                TaskEvent::PutOff { rest, .. } if rest.trouble == Trouble::Lost => {
                    losses.rests += 1;
                }
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
                | TaskEvent::Restored { .. }
                | TaskEvent::Retried
                | TaskEvent::Unheld => break,
            }
        }
        losses
    }

    /// Whether it is to rest before the next attempt.
    #[must_use]
    pub const fn call_for_rest(self) -> bool {
        match self.rests {
            0 => self.since_rest > FREE,
            _ => self.since_rest > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;
    use crate::rest::{Rest, Setback};
    use crate::time::{Moment, Nanos, Now, Timeline};
    use crate::{Fence, TaskId, Timestamp};

    fn setback(trouble: Trouble) -> Setback {
        Setback {
            trouble,
            agent: None,
            reason: "lost".parse().unwrap(),
            resets_at: None,
        }
    }

    fn at(elapsed: Duration) -> Now {
        let nanos = Nanos(0).after(elapsed);
        Now {
            wall: Timestamp::UNIX_EPOCH,
            moment: Moment {
                timeline: Timeline::of_boot("b"),
                elapsed: nanos,
                awake: nanos,
            },
        }
    }

    fn task(number: u128) -> TaskId {
        TaskId::from_uuid(Uuid::from_u128(number))
    }

    fn history(acts: &str) -> Vec<TaskEvent> {
        let fence = Fence::new(1);
        let rest = |trouble| {
            let rest = Rest::after(None, &setback(trouble), task(1), &at(Duration::ZERO)).unwrap();
            TaskEvent::PutOff { fence, rest }
        };
        let event = |act| match act {
            'x' => TaskEvent::LeaseExpired { fence },
            'z' => rest(Trouble::Lost),
            'l' => rest(Trouble::Limit),
            'r' => TaskEvent::Released {
                fence,
                reason: None,
            },
            'u' => TaskEvent::Unheld,
            _ => TaskEvent::Retried,
        };
        acts.chars().map(event).collect()
    }

    #[test]
    fn a_task_rests_after_a_few_losses_and_then_after_each() {
        for (acts, count, rests) in [
            ("", 0, false),
            ("x", 1, false),
            ("xx", 2, false),
            ("xxx", 3, true),
            ("xxxxxxx", 7, true),
            ("xxxz", 3, false),
            ("xxxzx", 4, true),
            ("xxxzxz", 4, false),
            ("xxrxx", 2, false),
            ("xxxlx", 1, false),
            ("xxxxxu", 0, false),
            ("xxxxxt", 0, false),
            ("xxxzxtxx", 2, false),
        ] {
            let losses = Losses::at_end_of(history(acts).iter());
            assert_eq!(
                (losses.count, losses.call_for_rest()),
                (count, rests),
                "{acts}"
            );
        }
    }

    /// Plays a task whose every attempt is lost after `survival`, and tells when it was left to a person, after how many losses.
    fn doomed(survival: Duration, number: u128) -> (Duration, u64) {
        let (mut now, mut events, mut rest) = (Duration::ZERO, vec![], None::<Rest>);
        let fence = Fence::new(1);
        loop {
            let losses = Losses::at_end_of(events.iter());
            if losses.call_for_rest() {
                let after = Rest::after(
                    rest.as_ref(),
                    &setback(Trouble::Lost),
                    task(number),
                    &at(now),
                );
                let Ok(next) = after else {
                    return (now, losses.count);
                };
                now = next.ends.since(Nanos(0));
                events.push(TaskEvent::PutOff {
                    fence,
                    rest: next.clone(),
                });
                rest = Some(next);
                continue;
            }
            now += survival;
            events.push(TaskEvent::LeaseExpired { fence });
        }
    }

    #[test]
    fn attempts_are_used_up_only_over_a_long_time_however_fast_they_are_lost() {
        for number in 0..100 {
            for survival in [0, 1, 500, 60_000].map(Duration::from_millis) {
                let (took, lost) = doomed(survival, number);
                assert!(took > Duration::from_hours(1), "{survival:?} {took:?}");
                assert_eq!(lost, 13);
            }
        }
    }

    /// Workers are killed every half second for a while: every task is begun again soon after that, and none is given up.
    #[test]
    fn a_crash_loop_of_seconds_leaves_nobody_behind() {
        for number in 0..100 {
            for trouble_lasts in [6, 20, 60].map(Duration::from_secs) {
                let (mut now, mut events, mut rest) = (Duration::ZERO, vec![], None::<Rest>);
                let fence = Fence::new(1);
                while now < trouble_lasts {
                    if Losses::at_end_of(events.iter()).call_for_rest() {
                        let after = Rest::after(
                            rest.as_ref(),
                            &setback(Trouble::Lost),
                            task(number),
                            &at(now),
                        );
                        let next = after.expect("nobody is given up");
                        now = next.ends.since(Nanos(0));
                        events.push(TaskEvent::PutOff {
                            fence,
                            rest: next.clone(),
                        });
                        rest = Some(next);
                    } else {
                        now += Duration::from_millis(500);
                        events.push(TaskEvent::LeaseExpired { fence });
                    }
                }
                assert!(now < trouble_lasts * 2 + Duration::from_secs(15), "{now:?}");
            }
        }
    }
}
