//! How long a batch will still take: from guesses, what earlier guesses were worth, and what its own parts took.
//!
//! Nobody knows how far an agent is; it does not know itself. What is known is how long such work took before, and that is what
//! is shown against the time that has passed.

use std::time::Duration;

use super::calibration::{Calibration, Kind};
use super::manifest::Estimate;
use super::measure::{Measured, StintEnd};

/// What is expected of the tasks of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Of each task, in the order in which they were given.
    pub tasks: Vec<Expected>,
    /// Of all that has not ended; none if nobody works on it, or nobody can tell.
    pub left: Option<Duration>,
}

/// What is expected of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Expected {
    /// What it takes from the beginning to the end.
    pub takes: Option<Duration>,
    /// What is left of that, while somebody works on it; none for what takes longer than it should.
    pub left: Option<Duration>,
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    ToDo,
    Running { so_far: Duration },
    Over,
}

impl Forecast {
    /// Of the tasks of a batch, the fan-in among them.
    pub fn of(tasks: &[Measured], known: &Calibration) -> Self {
        let usual = middle(tasks);
        let expected = |task: &Measured| {
            let takes = takes(task, usual, known);
            let left = match standing(task) {
                Standing::Running { so_far } => takes.and_then(|it| it.checked_sub(so_far)),
                Standing::ToDo | Standing::Over => None,
            };
            Expected { takes, left }
        };
        let expected: Vec<_> = tasks.iter().map(expected).collect();
        let left = left(tasks, &expected);
        Self {
            tasks: expected,
            left,
        }
    }
}

fn standing(task: &Measured) -> Standing {
    match task.last().map(|it| (it.end, it.took())) {
        None | Some((StintEnd::Released | StintEnd::Lost, _)) => Standing::ToDo,
        Some((StintEnd::Running, so_far)) => Standing::Running { so_far },
        Some((StintEnd::Done | StintEnd::Failed | StintEnd::Blocked | StintEnd::Cancelled, _)) => {
            Standing::Over
        }
    }
}

/// A guess, corrected; without one, what the parts that are done took.
fn takes(task: &Measured, usual: Option<Duration>, known: &Calibration) -> Option<Duration> {
    let multiple = known.multiple(task.kind, task.agent.as_ref());
    let guessed = task.estimate.map(Estimate::span);
    let guessed = guessed.map(|it| it.mul_f64(multiple));
    guessed.or(match task.kind {
        Kind::SubTask => usual,
        Kind::FanIn => None,
    })
}

fn middle(tasks: &[Measured]) -> Option<Duration> {
    let is_done = |it: &&Measured| {
        it.kind == Kind::SubTask && it.last().is_some_and(|it| it.end == StintEnd::Done)
    };
    let done = tasks.iter().filter(is_done);
    let mut took: Vec<_> = done.filter_map(|it| Some(it.last()?.took())).collect();
    took.sort();
    took.get(took.len() / 2).copied()
}

/// As many go on side by side as do now; the longest begins first. What brings them together comes after.
fn left(tasks: &[Measured], expected: &[Expected]) -> Option<Duration> {
    let (mut busy, mut waiting, mut together) = (vec![], vec![], Duration::ZERO);
    for (task, expected) in tasks.iter().zip(expected) {
        match (task.kind, standing(task)) {
            (_, Standing::Over) => {}
            (Kind::FanIn, Standing::ToDo) => together = expected.takes.unwrap_or_default(),
            (Kind::SubTask, Standing::ToDo) => waiting.push(expected.takes?),
            (Kind::SubTask | Kind::FanIn, Standing::Running { .. }) => {
                expected.takes?;
                busy.push(expected.left.unwrap_or_default());
            }
        }
    }
    waiting.sort();
    for takes in waiting.into_iter().rev() {
        let first = busy.iter_mut().min()?;
        *first += takes;
    }
    Some(busy.into_iter().max()? + together)
}

#[cfg(test)]
mod tests {
    use super::super::measure::Stint;
    use super::*;
    use crate::Timestamp;

    const NOBODY: &[(i64, StintEnd)] = &[];

    fn task(kind: Kind, minutes: Option<f64>, stints: &[(i64, StintEnd)]) -> Measured {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let stint = |(seconds, end): &(i64, StintEnd)| Stint {
            from: at(0),
            to: at(*seconds),
            end: *end,
        };
        Measured {
            kind,
            agent: None,
            estimate: minutes.and_then(Estimate::minutes),
            stints: stints.iter().map(stint).collect(),
        }
    }

    fn seconds(it: Option<Duration>) -> Option<u64> {
        it.map(|it| it.as_secs())
    }

    fn of(tasks: &[Measured]) -> Forecast {
        Forecast::of(tasks, &Calibration::default())
    }

    #[test]
    fn a_guess_is_what_is_expected_and_else_what_the_others_took() {
        let told = of(&[
            task(Kind::SubTask, Some(1.0), &[(20, StintEnd::Running)]),
            task(Kind::SubTask, None, &[(30, StintEnd::Running)]),
            task(Kind::SubTask, None, &[(50, StintEnd::Done)]),
            task(Kind::FanIn, None, NOBODY),
        ]);
        let left: Vec<_> = told.tasks.iter().map(|it| seconds(it.left)).collect();
        assert_eq!(left, [Some(40), Some(20), None, None]);
        assert_eq!(seconds(told.left), Some(40));
    }

    #[test]
    fn what_waits_comes_after_what_runs_and_the_fan_in_last() {
        let told = of(&[
            task(Kind::SubTask, Some(1.0), &[(10, StintEnd::Running)]),
            task(Kind::SubTask, Some(1.0), &[(50, StintEnd::Running)]),
            task(Kind::SubTask, Some(2.0), NOBODY),
            task(Kind::SubTask, Some(1.0), &[(5, StintEnd::Lost)]),
            task(Kind::SubTask, Some(9.0), &[(5, StintEnd::Blocked)]),
            task(Kind::FanIn, Some(0.5), NOBODY),
        ]);
        // 50 and 10 are left; the longer one goes to the second, the other to the first.
        assert_eq!(seconds(told.left), Some(130 + 30));
    }

    #[test]
    fn nobody_at_work_and_nothing_to_go_by_say_nothing() {
        assert_eq!(of(&[task(Kind::SubTask, Some(1.0), NOBODY)]).left, None);
        let unknown = task(Kind::SubTask, None, &[(5, StintEnd::Running)]);
        assert_eq!(of(&[unknown]).left, None);
        let late = task(Kind::SubTask, Some(1.0), &[(90, StintEnd::Running)]);
        let told = of(&[late]);
        assert_eq!((told.tasks[0].left, seconds(told.left)), (None, Some(0)));
    }
}
