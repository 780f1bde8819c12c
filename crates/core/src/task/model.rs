//! The task against a model so simple that it is obviously right.
//!
//! The model knows nothing of events, text or callers: a word for the state, a counter, a deadline and a flag.
//! Random histories must agree with it after every command, and a replay must agree with both.

use std::time::Duration;

use proptest::prelude::*;
use uuid::Uuid;

use super::{
    Command, Dependency, Ending, Part, Phase, Refusal, Task, TaskEvent, TaskSpec, Until, View,
};
use crate::lease::{Fence, Tenure, Term};
use crate::rest::{Setback, Trouble};
use crate::time::{Moment, Nanos, Now, Timeline, Timestamp};
use crate::{BatchId, Caller, ProjectId, TaskId};

const TTL: u64 = 60;
/// A rest, in seconds, and how many there are in a row.
const REST: u64 = 40;
const MOST: u32 = 5;

#[derive(Debug, Clone)]
enum Act {
    Claim,
    Renew(Shown),
    Complete(Option<Shown>),
    Fail(Option<Shown>),
    Block(Option<Shown>),
    Release(Shown),
    PutOff(Shown),
    Cancel,
    Retry,
    Hold,
    Unhold,
    Expire,
    EndDependency(Ending, Option<BatchId>),
    ReopenDependency,
    Pass(u64),
}

/// Which fence a caller shows, relative to the newest one.
#[derive(Debug, Clone, Copy)]
enum Shown {
    Newest,
    Older,
    Future,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let shown = prop_oneof![
        6 => Just(Shown::Newest),
        1 => Just(Shown::Older),
        1 => Just(Shown::Future)
    ];
    let maybe = prop::option::weighted(0.8, shown.clone());
    let endings = prop_oneof![
        Just(Ending::Done),
        Just(Ending::Failed),
        Just(Ending::Blocked)
    ];
    let act = prop_oneof![
        4 => Just(Act::Claim),
        2 => shown.clone().prop_map(Act::Renew),
        1 => maybe.clone().prop_map(Act::Complete),
        1 => maybe.clone().prop_map(Act::Fail),
        1 => maybe.prop_map(Act::Block),
        2 => shown.clone().prop_map(Act::Release),
        2 => shown.prop_map(Act::PutOff),
        1 => Just(Act::Cancel),
        2 => Just(Act::Retry),
        1 => Just(Act::Hold),
        2 => Just(Act::Unhold),
        1 => Just(Act::Expire),
        1 => (endings, prop_oneof![Just(Some(batch())), Just(None)])
            .prop_map(|(ending, of)| Act::EndDependency(ending, of)),
        1 => Just(Act::ReopenDependency),
        4 => (0..2 * TTL).prop_map(Act::Pass),
    ];
    prop::collection::vec(act, 1..60)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Word {
    Waiting,
    Queued,
    Leased { until: u64 },
    Ended(Phase),
}

#[derive(Debug, Clone, Copy)]
struct Model {
    word: Word,
    fence: u64,
    held: bool,
    /// Until when it rests; the row of rests is too short here to come to its end.
    rests: u64,
    row: u32,
    pending: Option<Until>,
    dependency: Option<Until>,
    part: Option<Part>,
}

impl Model {
    fn leased(&self, time: u64) -> bool {
        matches!(self.word, Word::Leased { until } if time < until)
    }

    fn ready(&self, time: u64) -> bool {
        let run_out = matches!(self.word, Word::Leased { until } if time >= until);
        !self.held && time >= self.rests && (self.word == Word::Queued || run_out)
    }

    fn shows_right(&self, shown: Shown, time: u64) -> bool {
        matches!(shown, Shown::Newest) && self.leased(time)
    }

    fn end(&mut self, shown: Option<Shown>, time: u64, phase: Phase) {
        let open = !matches!(self.word, Word::Ended(_));
        let allowed = match shown {
            Some(shown) => self.shows_right(shown, time),
            None => open && !self.leased(time),
        };
        if allowed {
            self.come_to(Word::Ended(phase));
        }
    }

    fn come_to(&mut self, word: Word) {
        self.word = word;
        (self.rests, self.row) = (0, 0);
    }

    fn step(&mut self, act: &Act, time: u64) {
        match act {
            Act::Claim if self.ready(time) => {
                self.fence += 1;
                self.word = Word::Leased { until: time + TTL };
            }
            Act::Renew(shown) if self.shows_right(*shown, time) => {
                self.word = Word::Leased { until: time + TTL };
            }
            Act::Complete(shown) => self.end(*shown, time, Phase::Done),
            Act::Fail(shown) => self.end(*shown, time, Phase::Failed),
            Act::Block(shown) => self.end(*shown, time, Phase::Blocked),
            Act::Release(shown) if self.shows_right(*shown, time) => self.come_to(Word::Queued),
            Act::PutOff(shown) if self.shows_right(*shown, time) && self.row == MOST => {
                self.come_to(Word::Ended(Phase::Blocked));
            }
            Act::PutOff(shown) if self.shows_right(*shown, time) => {
                (self.word, self.rests) = (Word::Queued, time + REST);
                self.row += 1;
            }
            Act::Cancel => self.end(None, u64::MAX, Phase::Cancelled),
            Act::Retry => match self.word {
                Word::Ended(Phase::Failed | Phase::Blocked | Phase::Cancelled) => {
                    self.come_to(if self.pending.is_some() {
                        Word::Waiting
                    } else {
                        Word::Queued
                    });
                }
                Word::Waiting | Word::Queued | Word::Leased { .. } | Word::Ended(_) => {}
            },
            Act::Hold if !matches!(self.word, Word::Ended(_)) => self.held = true,
            Act::Unhold if self.held || time < self.rests => {
                (self.held, self.rests, self.row) = (false, 0, 0);
            }
            Act::Expire => {
                if let Word::Leased { until } = self.word
                    && time >= until
                {
                    self.word = Word::Queued;
                }
            }
            Act::EndDependency(ending, of) => {
                let is_met = self.pending.map(|until| ending.satisfies(until));
                match (is_met, self.word) {
                    (Some(true), word) if word != Word::Ended(Phase::Done) => {
                        self.pending = None;
                        if word == Word::Waiting {
                            self.word = Word::Queued;
                        }
                    }
                    (Some(false), Word::Waiting) if self.is_sub_task() && of.is_some() => {
                        self.come_to(Word::Ended(Phase::Blocked));
                    }
                    (Some(_) | None, _) => {}
                }
            }
            Act::ReopenDependency if self.may_wait_again(time) => {
                self.pending = self.dependency;
                if matches!(self.word, Word::Queued | Word::Leased { .. }) {
                    self.word = Word::Waiting;
                }
            }
            Act::Claim
            | Act::Renew(_)
            | Act::Release(_)
            | Act::PutOff(_)
            | Act::Hold
            | Act::Unhold
            | Act::ReopenDependency
            | Act::Pass(_) => {}
        }
    }

    fn is_sub_task(&self) -> bool {
        matches!(self.part, Some(Part::SubTask { .. }))
    }

    fn may_wait_again(&self, time: u64) -> bool {
        matches!(self.part, Some(Part::FanIn { .. }))
            && self.pending.is_none()
            && self.dependency.is_some()
            && !self.leased(time)
            && self.word != Word::Ended(Phase::Done)
    }

    fn phase(&self, time: u64) -> Phase {
        match self.word {
            Word::Ended(phase) => phase,
            Word::Leased { until } if time < until => Phase::Leased,
            Word::Waiting | Word::Queued | Word::Leased { .. } if self.held => Phase::Held,
            Word::Waiting => Phase::Waiting,
            Word::Queued | Word::Leased { .. } if time < self.rests => Phase::Resting,
            Word::Queued | Word::Leased { .. } => Phase::Queued,
        }
    }
}

fn now(time: u64) -> Now {
    let nanos = Nanos(0).after(Duration::from_secs(time));
    let moment = Moment {
        timeline: Timeline::of_boot("b"),
        elapsed: nanos,
        awake: nanos,
    };
    Now {
        wall: Timestamp::UNIX_EPOCH,
        moment,
    }
}

fn other() -> TaskId {
    TaskId::from_uuid(Uuid::from_u128(9))
}

fn command(act: &Act, newest: Fence, now: &Now) -> Option<Command> {
    let fence = |shown: &Shown| match shown {
        Shown::Newest => newest,
        Shown::Older => Fence::new(newest.number().saturating_sub(1)),
        Shown::Future => newest.next(),
    };
    let reason = || "because".parse().unwrap();
    Some(match act {
        Act::Claim => {
            let term = Term::starting(&now.moment, Duration::from_secs(TTL));
            Command::Claim {
                tenure: Tenure::Timed(term),
            }
        }
        Act::Renew(shown) => Command::Renew {
            fence: fence(shown),
        },
        Act::Complete(shown) => Command::Complete {
            fence: shown.as_ref().map(fence),
            summary: None,
        },
        Act::Fail(shown) => Command::Fail {
            fence: shown.as_ref().map(fence),
            reason: reason(),
        },
        Act::Block(shown) => Command::Block {
            fence: shown.as_ref().map(fence),
            reason: reason(),
        },
        Act::Release(shown) => Command::Release {
            fence: fence(shown),
            reason: None,
        },
        Act::PutOff(shown) => Command::PutOff {
            fence: fence(shown),
            setback: setback(),
        },
        Act::Cancel => Command::Cancel { reason: None },
        Act::Retry => Command::Retry,
        Act::Hold => Command::Hold { reason: None },
        Act::Unhold => Command::Unhold,
        Act::Expire => Command::Expire,
        Act::EndDependency(ending, batch) => Command::EndDependency {
            task: other(),
            name: "other".parse().unwrap(),
            ending: *ending,
            batch: *batch,
        },
        Act::ReopenDependency => Command::ReopenDependency { task: other() },
        Act::Pass(_) => return None,
    })
}

/// The end of it is told, and close enough that nothing is added from the task's id.
fn setback() -> Setback {
    Setback {
        trouble: Trouble::Error,
        agent: None,
        reason: "because".parse().unwrap(),
        resets_at: Timestamp::from_second(i64::try_from(REST).unwrap()).ok(),
    }
}

fn batch() -> BatchId {
    BatchId::from_uuid(Uuid::from_u128(3))
}

fn parts() -> impl Strategy<Value = Option<Part>> {
    let batch = batch();
    prop_oneof![
        Just(None),
        Just(Some(Part::SubTask { batch })),
        Just(Some(Part::FanIn { batch }))
    ]
}

fn spec(dependency: Option<Until>, part: Option<Part>) -> TaskSpec {
    TaskSpec {
        part,
        after: dependency
            .map(|until| Dependency {
                task: other(),
                until,
            })
            .into_iter()
            .collect(),
        ..TaskSpec::new("t".parse().unwrap(), "do it".parse().unwrap())
    }
}

fn fresh(spec: TaskSpec) -> Task {
    let project = ProjectId::from_uuid(Uuid::from_u128(2));
    Task::begin(
        TaskId::from_uuid(Uuid::from_u128(1)),
        project,
        spec,
        Timestamp::UNIX_EPOCH,
    )
}

proptest! {
    #[test]
    fn any_history_agrees_with_the_model_and_with_its_replay(
        dependency in prop::option::of(prop_oneof![Just(Until::Done), Just(Until::Ended)]),
        part in parts(),
        acts in acts(),
    ) {
        let spec = spec(dependency, part);
        let mut task = fresh(spec.clone());
        let mut history = vec![(1, Timestamp::UNIX_EPOCH, TaskEvent::Added { spec })];
        let mut model = Model {
            word: if dependency.is_some() { Word::Waiting } else { Word::Queued },
            fence: 0,
            held: false,
            rests: 0,
            row: 0,
            pending: dependency,
            dependency,
            part,
        };
        let mut time = 0;
        for act in &acts {
            if let Act::Pass(seconds) = act {
                time += seconds;
            }
            let now = now(time);
            let before = task.clone();
            if let Some(command) = command(act, task.fence, &now) {
                for event in task.decide(&command, &Caller::Person, &now).unwrap_or_default() {
                    task.apply(event.clone(), now.wall);
                    history.push((task.version, now.wall, event));
                }
            }
            model.step(act, time);
            if let Some(rest) = task.resting(&now.moment) {
                // What is added from the task's id is for the tests of rests.
                let almost = Duration::from_nanos(999_999_999);
                let ends = (rest.ends.since(Nanos(0)) + almost).as_secs();
                prop_assert!((model.rests..=model.rests + REST / 4).contains(&ends));
                model.rests = ends;
            }
            prop_assert_eq!(task.phase(&View::at(&now.moment)), model.phase(time), "after {:?}", act);
            prop_assert_eq!(task.fence.number(), model.fence);
            prop_assert!(task.fence >= before.fence);
            if before.state.ending() == Some(Ending::Done) {
                prop_assert_eq!(&task.state, &before.state);
            }
        }
        prop_assert_eq!(Task::replay(task.id, task.project, history).unwrap(), task);
    }
}

#[test]
fn a_late_owner_is_told_that_its_lease_is_lost() {
    let mut task = fresh(spec(None, None));
    let tenure = |time| Tenure::Timed(Term::starting(&now(time).moment, Duration::from_secs(TTL)));
    for time in [0, 100] {
        let claim = Command::Claim {
            tenure: tenure(time),
        };
        for event in task.decide(&claim, &Caller::Person, &now(time)).unwrap() {
            task.apply(event, Timestamp::UNIX_EPOCH);
        }
    }
    let late = Command::Complete {
        fence: Some(Fence::new(1)),
        summary: None,
    };
    assert_eq!(
        task.decide(&late, &Caller::Person, &now(101)),
        Err(Refusal::LeaseLost {
            shown: Fence::new(1),
            newest: Fence::new(2)
        })
    );
}

#[test]
fn a_history_with_a_gap_is_not_a_task() {
    let at = Timestamp::UNIX_EPOCH;
    let history = [
        (
            1,
            at,
            TaskEvent::Added {
                spec: spec(None, None),
            },
        ),
        (3, at, TaskEvent::Unheld),
    ];
    let task = fresh(spec(None, None));
    assert!(Task::replay(task.id, task.project, history).is_err());
    assert!(Task::replay(task.id, task.project, []).is_err());
}
