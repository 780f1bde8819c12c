//! Rests: a task whose agent met trouble that is nobody's fault is not handed out for a while.
//!
//! | trouble | what | first | longest | so often in a row | whose tasks wait |
//! |---|---|---|---|---|---|
//! | limit | quota or money is used up | 5 min | 1 h | 30 | the agent's |
//! | network | the model cannot be reached, or has too much to do | 30 s | 15 min | 30 | the agent's |
//! | error | the agent stopped with an error that says neither | 1 min | 15 min | 5 | this one |
//! | start | the agent could not be started | 5 s | 1 min | 5 | this one |
//! | lost | the session or its worker died, see [`crate::losses`] | 10 s | 15 min | 10 | this one |
//!
//! Each rest is twice as long as the one before it. What an agent says about the end of its limit counts more than the table.
//! A part of the span comes from the task's id, so that not all come back in the same second; the first that does finds out for
//! the others. It runs on the clock of the leases: a changed wall clock ends none early, and one of another boot is over.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::task::Reason;
use crate::time::{Moment, Nanos, Now, Timeline};
use crate::{AgentName, TaskId, Timestamp};

/// A reset that is farther away than this is not believed.
const FARTHEST: Duration = Duration::from_hours(8 * 24);
/// At most this is added from the task's id.
const SPREAD: Duration = Duration::from_mins(1);

/// What kept an agent from working, through no fault of its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// Its quota is used up.
    Limit,
    /// Its model cannot be reached.
    Network,
    /// It stopped with an error of its own.
    Error,
    /// It could not be started.
    Start,
    /// Its session, or the worker that began it, died without a word.
    Lost,
}

/// Whose tasks wait for the end of a rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// All tasks for the same agent, wherever they are.
    Agent,
    /// The one that met the trouble.
    Task,
}

/// How long and how often something is tried again.
struct Patience {
    first: Duration,
    longest: Duration,
    times: u32,
}

impl Trouble {
    /// The word for it, the same in every output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Network => "network",
            Self::Error => "error",
            Self::Start => "start",
            Self::Lost => "lost",
        }
    }

    /// What is the matter, for a sentence that begins with the agent.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Limit => "is at its limit",
            Self::Network => "cannot reach its model",
            Self::Error => "stopped with an error",
            Self::Start => "could not be started",
            Self::Lost => "was lost",
        }
    }

    /// Whose tasks it keeps waiting.
    pub const fn reach(self) -> Reach {
        match self {
            Self::Limit | Self::Network => Reach::Agent,
            Self::Error | Self::Start | Self::Lost => Reach::Task,
        }
    }

    const fn patience(self) -> Patience {
        let (first, longest, times) = match self {
            Self::Limit => (300, 3600, 30),
            Self::Network => (30, 900, 30),
            Self::Error => (60, 900, 5),
            Self::Start => (5, 60, 5),
            Self::Lost => (10, 900, 10),
        };
        Patience {
            first: Duration::from_secs(first),
            longest: Duration::from_secs(longest),
            times,
        }
    }
}

/// What whoever attends to a session saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setback {
    /// What the trouble is.
    pub trouble: Trouble,
    /// Whose, where that is known.
    pub agent: Option<AgentName>,
    /// What was seen of it.
    pub reason: Reason,
    /// When it is over, by the agent's own words.
    pub resets_at: Option<Timestamp>,
}

/// A time in which a task is not handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// Why.
    pub trouble: Trouble,
    /// The agent that is in trouble.
    pub agent: Option<AgentName>,
    /// What was seen of it.
    pub reason: Reason,
    /// Which one in a row it is.
    pub number: u32,
    /// Until when, for people.
    pub until: Timestamp,
    /// The clock that it runs on …
    pub timeline: Timeline,
    /// … and where it ends there.
    pub ends: Nanos,
}

/// It has rested often enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoMoreRest {
    /// How often.
    pub times: u32,
}

impl Rest {
    /// The rest that a setback is worth, after the one before it in the same row.
    pub fn after(
        before: Option<&Self>,
        setback: &Setback,
        task: TaskId,
        now: &Now,
    ) -> Result<Self, NoMoreRest> {
        let number = before.map_or(0, |it| it.number) + 1;
        let patience = setback.trouble.patience();
        if number > patience.times {
            let times = patience.times;
            return Err(NoMoreRest { times });
        }
        let told = setback.resets_at.and_then(|at| until(at, now.wall));
        let span = told.unwrap_or_else(|| patience.span(number));
        let span = span + spread(span, task, number);
        Ok(Self {
            trouble: setback.trouble,
            agent: setback.agent.clone(),
            reason: setback.reason.clone(),
            number,
            until: now.wall.saturating_add(span).unwrap_or(Timestamp::MAX),
            timeline: now.moment.timeline.clone(),
            ends: now.moment.elapsed.after(span),
        })
    }

    /// Whether it still lasts.
    pub fn lasts_at(&self, now: &Moment) -> bool {
        self.timeline == now.timeline && now.elapsed < self.ends
    }

    /// The agent whose tasks wait with this one.
    pub fn of_agent(&self) -> Option<&AgentName> {
        match self.trouble.reach() {
            Reach::Agent => self.agent.as_ref(),
            Reach::Task => None,
        }
    }
}

impl Patience {
    fn span(&self, number: u32) -> Duration {
        let doubled = 1_u32.checked_shl(number - 1).unwrap_or(u32::MAX);
        self.first.saturating_mul(doubled).min(self.longest)
    }
}

/// From now to then, if that is still to come and not too far away to be true.
fn until(then: Timestamp, now: Timestamp) -> Option<Duration> {
    let span = Duration::try_from(then.duration_since(now)).ok()?;
    (span <= FARTHEST).then_some(span)
}

/// A piece of a quarter of the span that is another one for each task and each time.
fn spread(span: Duration, task: TaskId, number: u32) -> Duration {
    let most = (span / 4).min(SPREAD);
    // The end of an id is random; a multiplication spreads the number over all bits.
    let (_, low) = task.as_uuid().as_u64_pair();
    let mixed = (low ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    most.mul_f64(f64::from(u32::try_from(mixed >> 32).unwrap_or(0)) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn now() -> Now {
        let moment = Moment {
            timeline: Timeline::of_boot("b"),
            elapsed: Nanos(7),
            awake: Nanos(7),
        };
        let wall = Timestamp::UNIX_EPOCH;
        Now { wall, moment }
    }

    fn task(number: u128) -> TaskId {
        TaskId::from_uuid(Uuid::from_u128(number))
    }

    fn setback(trouble: Trouble) -> Setback {
        Setback {
            trouble,
            agent: Some("claude".parse().unwrap()),
            reason: "seen".parse().unwrap(),
            resets_at: None,
        }
    }

    fn span(rest: &Rest) -> Duration {
        rest.ends.since(now().moment.elapsed)
    }

    /// The rests of a task that never gets anywhere, in seconds without what its id adds.
    fn row(trouble: Trouble) -> (Vec<u64>, NoMoreRest) {
        let (mut rests, mut before): (Vec<u64>, Option<Rest>) = (vec![], None);
        loop {
            // The id to which nothing is added: what is mixed is zero.
            let number = before.as_ref().map_or(0, |it| it.number) + 1;
            match Rest::after(
                before.as_ref(),
                &setback(trouble),
                task(number.into()),
                &now(),
            ) {
                Ok(rest) => {
                    rests.push(span(&rest).as_secs());
                    before = Some(rest);
                }
                Err(end) => return (rests, end),
            }
        }
    }

    #[test]
    fn each_rest_is_twice_as_long_as_the_one_before_until_it_is_enough() {
        let (rests, end) = row(Trouble::Error);
        assert_eq!(rests, [60, 120, 240, 480, 900]);
        assert_eq!(end, NoMoreRest { times: 5 });
        assert_eq!(row(Trouble::Start).0, [5, 10, 20, 40, 60]);
        assert_eq!(
            row(Trouble::Lost).0,
            [10, 20, 40, 80, 160, 320, 640, 900, 900, 900]
        );
        let (rests, end) = row(Trouble::Limit);
        assert_eq!(rests[..5], [300, 600, 1200, 2400, 3600]);
        assert_eq!((rests.len(), end), (30, NoMoreRest { times: 30 }));
    }

    #[test]
    fn no_two_tasks_come_back_at_once_and_none_much_later() {
        let of = |number| Rest::after(None, &setback(Trouble::Limit), task(number), &now());
        let spans: Vec<_> = (1..50).map(|it| span(&of(it).unwrap())).collect();
        let longest = Duration::from_secs(360);
        let is_near = |it: &Duration| (Duration::from_secs(300)..=longest).contains(it);
        assert!(spans.iter().all(is_near), "{spans:?}");
        let mut each = spans.clone();
        each.sort_unstable();
        each.dedup();
        assert_eq!(each.len(), spans.len());
    }

    #[test]
    fn what_the_agent_says_about_its_end_counts_more() {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let told = |seconds| {
            let setback = Setback {
                resets_at: Some(at(seconds)),
                ..setback(Trouble::Limit)
            };
            let rest = Rest::after(None, &setback, task(1), &now()).unwrap();
            span(&rest).as_secs()
        };
        assert_eq!(told(10_000), 10_000);
        assert_eq!(told(-1), 300, "it is over already");
        assert_eq!(told(9 * 24 * 3600), 300, "nobody waits for so long");
    }

    #[test]
    fn a_rest_lasts_on_its_own_clock_only() {
        let rest = Rest::after(None, &setback(Trouble::Start), task(1), &now()).unwrap();
        let mut moment = now().moment;
        assert!(rest.lasts_at(&moment));
        moment.elapsed = rest.ends;
        assert!(!rest.lasts_at(&moment));
        let rebooted = Moment {
            timeline: Timeline::of_boot("c"),
            ..now().moment
        };
        assert!(!rest.lasts_at(&rebooted));
    }
}
