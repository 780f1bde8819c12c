//! What a batch took, from the times of its events and from nothing that anybody typed.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::calibration::{Kind, Sample};
use super::manifest::Estimate;
use super::plan::{amdahl, ratio};
use crate::{AgentName, TaskEvent, Timestamp};

/// What is shorter than this share of the time in which anybody worked is a matter of moments.
const MOMENTS: u32 = 20;

/// One attempt at a task: from the claim to whatever ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stint {
    /// When it was claimed.
    pub from: Timestamp,
    /// When it ended; now, if it has not.
    pub to: Timestamp,
    /// How.
    pub end: StintEnd,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StintEnd {
    /// With success.
    Done,
    /// Without.
    Failed,
    /// Until a person helps.
    Blocked,
    /// It was called off.
    Cancelled,
    /// It was given back undone.
    Released,
    /// Its session or worker died.
    Lost,
    /// It goes on.
    Running,
}

impl Stint {
    /// How long it took.
    pub fn took(&self) -> Duration {
        between(self.from, self.to)
    }
}

/// Zero if the wall clock was put back meanwhile.
fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

/// The attempts at a task, from its events and their times, oldest first.
pub fn stints<'a>(
    history: impl IntoIterator<Item = (Timestamp, &'a TaskEvent)>,
    now: Timestamp,
) -> Vec<Stint> {
    let (mut found, mut open) = (vec![], None);
    for (at, event) in history {
        if let TaskEvent::Claimed { .. } = event {
            open = Some(at);
        } else if let Some(end) = end_of(event)
            && let Some(from) = open.take()
        {
            found.push(Stint { from, to: at, end });
        }
    }
    found.extend(open.map(|from| Stint {
        from,
        to: now,
        end: StintEnd::Running,
    }));
    found
}

const fn end_of(event: &TaskEvent) -> Option<StintEnd> {
    match event {
        TaskEvent::Completed { .. } => Some(StintEnd::Done),
        TaskEvent::Failed { .. } => Some(StintEnd::Failed),
        TaskEvent::Blocked { .. } => Some(StintEnd::Blocked),
        TaskEvent::Cancelled { .. } => Some(StintEnd::Cancelled),
        TaskEvent::Released { .. } | TaskEvent::PutOff { .. } => Some(StintEnd::Released),
        TaskEvent::LeaseExpired { .. } | TaskEvent::Restored { .. } => Some(StintEnd::Lost),
        TaskEvent::Added { .. }
        | TaskEvent::DependencyEnded { .. }
        | TaskEvent::DependencyReopened { .. }
        | TaskEvent::Claimed { .. }
        | TaskEvent::Started { .. }
        | TaskEvent::Renewed { .. }
        | TaskEvent::Evidenced { .. }
        | TaskEvent::Reported { .. }
        | TaskEvent::Retried
        | TaskEvent::Held { .. }
        | TaskEvent::Unheld => None,
    }
}

/// A task of a batch with what was measured of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// What kind of work it is.
    pub kind: Kind,
    /// Who did it, or was asked to.
    pub agent: Option<AgentName>,
    /// The guess.
    pub estimate: Option<Estimate>,
    /// Its attempts.
    pub stints: Vec<Stint>,
}

impl Measured {
    /// The attempt that counts: the last one.
    pub fn last(&self) -> Option<&Stint> {
        self.stints.last()
    }

    /// Guess and measure, where there are both and the work was done.
    pub fn sample(&self) -> Option<Sample> {
        let last = self.last().filter(|it| it.end == StintEnd::Done)?;
        Some(Sample {
            agent: self.agent.clone(),
            kind: self.kind,
            estimate: self.estimate?,
            took: last.took(),
        })
    }
}

/// What a batch took.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// From the first claim to the last end.
    pub wall: Duration,
    /// The attempts that count of all parts, one after the other.
    pub parts: Duration,
    /// The same of the fan-in.
    pub fan_in: Duration,
    /// What attempts took that came to nothing and were repeated.
    pub repeated: Duration,
    /// While exactly one thing was worked on.
    pub serial: Duration,
    /// While several were.
    pub parallel: Duration,
    /// While nothing was.
    pub idle: Duration,
    /// How many were worked on at the same time, at the most for more than moments.
    pub width: usize,
}

impl Report {
    /// Of what was measured. Nothing that was never claimed counts.
    pub fn of(tasks: &[Measured]) -> Self {
        let last = |kind: Kind| -> Duration {
            let of_kind = tasks.iter().filter(|it| it.kind == kind);
            of_kind.filter_map(Measured::last).map(Stint::took).sum()
        };
        let all: Vec<_> = tasks.iter().flat_map(|it| &it.stints).copied().collect();
        let (parts, fan_in) = (last(Kind::SubTask), last(Kind::FanIn));
        let everything: Duration = all.iter().map(Stint::took).sum();
        let sweep = Sweep::over(&all);
        Self {
            wall: sweep.serial + sweep.parallel + sweep.idle,
            parts,
            fan_in,
            repeated: everything.saturating_sub(parts + fan_in),
            serial: sweep.serial,
            parallel: sweep.parallel,
            idle: sweep.idle,
            width: sweep.width,
        }
    }

    /// How many times faster it was than its measured parts one after the other.
    pub fn speed_up(&self) -> f64 {
        ratio(self.parts + self.fan_in, self.wall)
    }

    /// The share of all work that was done while nothing else was.
    pub fn serial_share(&self) -> f64 {
        ratio(self.serial, self.parts + self.fan_in + self.repeated)
    }

    /// What nobody could beat on as many slots as were used, with that share (Amdahl). What was measured was possible.
    pub fn bound(&self) -> f64 {
        let bound =
            NonZeroUsize::new(self.width).map_or(0.0, |width| amdahl(self.serial_share(), width));
        bound.max(self.speed_up())
    }
}

/// How many were at work, over time.
#[derive(Default)]
struct Sweep {
    serial: Duration,
    parallel: Duration,
    idle: Duration,
    width: usize,
}

impl Sweep {
    fn over(stints: &[Stint]) -> Self {
        let mut times: Vec<_> = stints.iter().flat_map(|it| [it.from, it.to]).collect();
        times.sort();
        times.dedup();
        let mut sweep = Self::default();
        let mut at_work: BTreeMap<usize, Duration> = BTreeMap::new();
        for (from, to) in times.iter().zip(times.iter().skip(1)) {
            let count = { stints.iter() }
                .filter(|it| it.from <= *from && *to <= it.to)
                .count();
            let span = between(*from, *to);
            *at_work.entry(count).or_default() += span;
            match count {
                0 => sweep.idle += span,
                1 => sweep.serial += span,
                _ => sweep.parallel += span,
            }
        }
        sweep.width = width(&at_work, sweep.serial + sweep.parallel);
        sweep
    }
}

/// How many were at work at once. While the result of one is being brought in, the next has begun already (a slot is for what
/// runs): what is true for moments only is not how many there is room for.
fn width(at_work: &BTreeMap<usize, Duration>, busy: Duration) -> usize {
    let mut so_far = Duration::ZERO;
    let is_lasting = |(_, span): &(&usize, &Duration)| {
        so_far += **span;
        so_far > busy / MOMENTS
    };
    let widest = at_work.iter().rev().find(is_lasting);
    widest.map_or(0, |(count, _)| *count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::{Fence, Tenure};
    use crate::{Caller, Lease, SessionId};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn claimed() -> TaskEvent {
        let session = SessionId::from_uuid(uuid::Uuid::nil());
        let lease = Lease {
            fence: Fence::new(1),
            owner: Caller::Worker,
            tenure: Tenure::Anchored { session },
        };
        TaskEvent::Claimed { lease }
    }

    fn task(kind: Kind, stints: &[(i64, i64)]) -> Measured {
        let stint = |&(from, to): &(i64, i64)| Stint {
            from: at(from),
            to: at(to),
            end: StintEnd::Done,
        };
        Measured {
            kind,
            agent: None,
            estimate: Estimate::minutes(1.0),
            stints: stints.iter().map(stint).collect(),
        }
    }

    #[test]
    fn attempts_are_read_from_the_events() {
        let expired = TaskEvent::LeaseExpired {
            fence: Fence::new(1),
        };
        let (claimed, retried) = (claimed(), TaskEvent::Retried);
        let history = [
            (at(1), &claimed),
            (at(3), &expired),
            (at(4), &retried),
            (at(5), &claimed),
        ];
        let found = stints(history, at(9));
        let short: Vec<_> = found
            .iter()
            .map(|it| (it.took().as_secs(), it.end))
            .collect();
        assert_eq!(short, [(2, StintEnd::Lost), (4, StintEnd::Running)]);
    }

    #[test]
    fn two_parts_side_by_side_and_a_fan_in() {
        let tasks = [
            task(Kind::SubTask, &[(0, 100)]),
            task(Kind::SubTask, &[(0, 10), (20, 80)]),
            task(Kind::FanIn, &[(110, 130)]),
        ];
        let report = Report::of(&tasks);
        let seconds =
            [report.wall, report.parts, report.fan_in, report.repeated].map(|it| it.as_secs());
        assert_eq!(seconds, [130, 160, 20, 10]);
        let seconds = [report.serial, report.parallel, report.idle].map(|it| it.as_secs());
        assert_eq!((seconds, report.width), ([50, 70, 10], 2));
        assert!((report.speed_up() - 180.0 / 130.0).abs() < 1e-9);
        assert!((report.serial_share() - 50.0 / 190.0).abs() < 1e-9);
        assert!(report.speed_up() <= report.bound());
        assert_eq!(tasks[1].sample().unwrap().took.as_secs(), 60);
    }

    #[test]
    fn who_begins_while_another_is_brought_in_takes_no_place_of_its_own() {
        // Two slots; each is free a second before the outcome of what was in it is recorded.
        let tasks = [
            task(Kind::SubTask, &[(0, 101)]),
            task(Kind::SubTask, &[(0, 101)]),
            task(Kind::SubTask, &[(100, 201)]),
            task(Kind::SubTask, &[(100, 201)]),
        ];
        let report = Report::of(&tasks);
        assert_eq!(report.width, 2);
        let speed_up = 404.0 / 201.0;
        assert!(
            (report.bound() - speed_up).abs() < 1e-9,
            "{}",
            report.bound()
        );
    }

    #[test]
    fn a_batch_that_nobody_touched_took_nothing() {
        let report = Report::of(&[task(Kind::SubTask, &[])]);
        assert_eq!(
            (report.wall, report.speed_up(), report.bound()),
            (Duration::ZERO, 0.0, 0.0)
        );
    }
}
