//! Whether an agent is stuck, and what to do about it.
//!
//! A stall is that for the time set nothing is printed, no tool is at work, the processes use no processor time, and no file
//! changes. One of these alone says little: an agent that thinks is silent, one that waits for a build uses no time of its own.
//!
//! | the agent is | and nothing moves |
//! |---|---|
//! | busy | warn and send a message to go on; when enough were sent, give up |
//! | starting, unknown | warn and give up: nobody knows what a message would be typed into |
//! | at its prompt, blocked, ended | nothing: it is finished, or a person knows |
//!
//! Giving up is said once, and taken back by any movement.

use std::str::FromStr;
use std::time::Duration;

use handoff_agents::Pointer;
use handoff_core::time::Nanos;

use crate::state::State;

/// Of a core, in percent: an event loop that waits uses less, work uses more.
const IDLE_SHARE: u32 = 1;
/// A kernel tick.
const TICK: Duration = Duration::from_millis(10);

/// How long a stall takes, and how often the agent is told to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    pub stall_after: Duration,
    pub max_resumes: u32,
}

/// A policy with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// For one that writes code.
    Impl,
    /// For one that thinks.
    Plan,
    /// For one that waits for long checks.
    Gate,
}

/// A word that names no preset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a preset is `impl`, `plan` or `gate`")]
pub struct PresetError;

/// What is seen of an agent at one look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    pub state: State,
    pub printed_at: Option<Nanos>,
    /// What its processes have used so far, in kernel ticks.
    pub ticks: u64,
    pub tool: Tool,
}

/// Whether the agent waits for a tool that it called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Open,
    /// None is open, or nothing tells.
    NotSeen,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Say that nothing moves.
    Warn { silent: Duration, resumes: u32 },
    /// Send a message to go on: this one of so many.
    Resume { resume: u32, of: u32 },
    /// Tell whoever waits that a person is needed.
    Escalate { resumes: u32 },
}

/// One who looks at an agent from time to time.
#[derive(Debug, Clone)]
pub struct Watcher {
    policy: Policy,
    moved_at: Nanos,
    looked_at: Nanos,
    ticks: u64,
    resumes: u32,
    patience: Patience,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    Waiting,
    GivenUp,
}

impl Policy {
    /// What the preset says.
    pub const fn of(preset: Preset) -> Self {
        let (minutes, max_resumes) = match preset {
            Preset::Impl => (8, 1),
            Preset::Plan => (3, 2),
            Preset::Gate => (15, 0),
        };
        Self {
            stall_after: Duration::from_secs(minutes * 60),
            max_resumes,
        }
    }
}

impl Policy {
    /// For a program of this kind. A shell at work hands what is typed to the command that it runs, so that nothing is typed:
    /// a person is told at once.
    #[must_use]
    pub const fn suited_to(self, pointer: Pointer) -> Self {
        match pointer {
            Pointer::Sentence => self,
            Pointer::Source => Self {
                max_resumes: 0,
                ..self
            },
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::of(Preset::Impl)
    }
}

impl FromStr for Preset {
    type Err = PresetError;

    fn from_str(text: &str) -> Result<Self, PresetError> {
        match text {
            "impl" => Ok(Self::Impl),
            "plan" => Ok(Self::Plan),
            "gate" => Ok(Self::Gate),
            _ => Err(PresetError),
        }
    }
}

impl Watcher {
    pub const fn new(policy: Policy, now: Nanos) -> Self {
        Self {
            policy,
            moved_at: now,
            looked_at: now,
            ticks: 0,
            resumes: 0,
            patience: Patience::Waiting,
        }
    }

    /// When to look next: often enough to be right to an eighth of the time set.
    pub fn look_again(&self) -> Nanos {
        let often = Duration::from_secs(15);
        self.looked_at
            .after((self.policy.stall_after / 8).min(often))
    }

    /// Looks. `files` says how long ago a file changed; it is asked only when everything else is quiet, because that costs.
    pub fn look(
        &mut self,
        sight: &Sight,
        now: Nanos,
        files: impl FnOnce(Duration) -> Option<Duration>,
    ) -> Vec<Act> {
        let has_moved = self.has_moved(sight, now);
        self.ticks = sight.ticks;
        self.looked_at = now;
        let may_stall = match sight.state {
            State::Busy | State::Starting | State::Unknown => true,
            State::Prompt | State::Blocked(_) | State::Exited => false,
        };
        if has_moved || !may_stall {
            self.moved(now);
        }
        let quiet = now.since(self.moved_at);
        if quiet < self.policy.stall_after || self.patience == Patience::GivenUp {
            return vec![];
        }
        match files(quiet) {
            Some(ago) if ago < quiet => {
                self.moved_at = before(now, ago);
                vec![]
            }
            Some(_) | None => self.stalled(sight.state, quiet, now),
        }
    }

    fn has_moved(&self, sight: &Sight, now: Nanos) -> bool {
        let printed = sight.printed_at.is_some_and(|at| at > self.looked_at);
        let used = TICK
            .saturating_mul(u32::try_from(sight.ticks.abs_diff(self.ticks)).unwrap_or(u32::MAX));
        let works = used * 100 > now.since(self.looked_at) * IDLE_SHARE;
        printed || works || sight.tool == Tool::Open
    }

    fn moved(&mut self, now: Nanos) {
        self.moved_at = now;
        self.patience = Patience::Waiting;
    }

    fn stalled(&mut self, state: State, silent: Duration, now: Nanos) -> Vec<Act> {
        let resumes = self.resumes;
        let warning = Act::Warn { silent, resumes };
        if state == State::Busy && resumes < self.policy.max_resumes {
            self.resumes += 1;
            self.moved_at = now;
            let of = self.policy.max_resumes;
            let resume = self.resumes;
            return vec![warning, Act::Resume { resume, of }];
        }
        self.patience = Patience::GivenUp;
        vec![warning, Act::Escalate { resumes }]
    }
}

fn before(now: Nanos, ago: Duration) -> Nanos {
    let nanos = i64::try_from(ago.as_nanos()).unwrap_or(i64::MAX);
    Nanos(now.0.saturating_sub(nanos))
}

#[cfg(test)]
mod tests {
    use handoff_agents::Block;

    use super::*;

    const POLICY: Policy = Policy {
        stall_after: Duration::from_secs(80),
        max_resumes: 1,
    };

    fn at(seconds: u64) -> Nanos {
        Nanos(0).after(Duration::from_secs(seconds))
    }

    const fn sight(state: State) -> Sight {
        Sight {
            state,
            printed_at: None,
            ticks: 0,
            tool: Tool::NotSeen,
        }
    }

    /// What happens to an agent that is seen like this every ten seconds.
    fn acts(seen: impl Fn(u64) -> Sight, seconds: u64) -> Vec<(u64, Act)> {
        let mut watcher = Watcher::new(POLICY, at(0));
        let mut acts = vec![];
        for second in (10..=seconds).step_by(10) {
            assert!(watcher.look_again() <= at(second));
            let now = watcher.look(&seen(second), at(second), |_| None);
            acts.extend(now.into_iter().map(|act| (second, act)));
        }
        acts
    }

    #[test]
    fn a_busy_agent_is_warned_of_told_to_go_on_and_given_up() {
        let silent = Duration::from_secs(80);
        let expected = [
            (80, Act::Warn { silent, resumes: 0 }),
            (80, Act::Resume { resume: 1, of: 1 }),
            (160, Act::Warn { silent, resumes: 1 }),
            (160, Act::Escalate { resumes: 1 }),
        ];
        assert_eq!(acts(|_| sight(State::Busy), 1000), expected);
    }

    #[test]
    fn a_finished_or_blocked_agent_is_left_alone() {
        for state in [
            State::Prompt,
            State::Blocked(Block::Permission),
            State::Blocked(Block::Limit),
            State::Exited,
        ] {
            assert_eq!(acts(|_| sight(state), 1000), [], "{state:?}");
        }
    }

    #[test]
    fn nothing_is_typed_into_what_nobody_knows() {
        for state in [State::Unknown, State::Starting] {
            let acts = acts(|_| sight(state), 1000);
            let kinds: Vec<_> = acts
                .iter()
                .map(|(second, act)| (*second, matches!(act, Act::Resume { .. })))
                .collect();
            assert_eq!(kinds, [(80, false), (80, false)], "{state:?}");
        }
    }

    #[test]
    fn any_movement_is_none() {
        let printing = |second| Sight {
            printed_at: Some(at(second - 1)),
            ..sight(State::Busy)
        };
        let working = |second| Sight {
            // Two percent of a core.
            ticks: second * 2,
            ..sight(State::Busy)
        };
        let calling = |_| Sight {
            tool: Tool::Open,
            ..sight(State::Busy)
        };
        assert_eq!(acts(printing, 500), []);
        assert_eq!(acts(working, 500), []);
        assert_eq!(acts(calling, 500), []);
        // A loop that only waits wakes now and then.
        let waiting = |second| Sight {
            ticks: second / 20,
            ..sight(State::Busy)
        };
        assert_eq!(acts(waiting, 100).len(), 2);
    }

    #[test]
    fn a_file_that_changed_begins_the_time_anew_where_it_changed() {
        let mut watcher = Watcher::new(POLICY, at(0));
        let busy = sight(State::Busy);
        let changed = |_| Some(Duration::from_secs(30));
        assert_eq!(watcher.look(&busy, at(80), changed), []);
        let unchanged = |_| Some(Duration::from_secs(90));
        assert_eq!(watcher.look(&busy, at(129), unchanged), []);
        assert_eq!(watcher.look(&busy, at(130), unchanged).len(), 2);
    }

    #[test]
    fn files_are_looked_at_only_when_all_else_is_quiet() {
        let mut watcher = Watcher::new(POLICY, at(0));
        let never = |_| -> Option<Duration> { panic!("it is too early") };
        assert_eq!(watcher.look(&sight(State::Busy), at(79), never), []);
        assert_eq!(watcher.look(&sight(State::Prompt), at(90), never), []);
    }

    #[test]
    fn giving_up_is_taken_back_by_movement() {
        let mut watcher = Watcher::new(POLICY, at(0));
        assert_eq!(
            watcher.look(&sight(State::Unknown), at(80), |_| None).len(),
            2
        );
        let printing = Sight {
            printed_at: Some(at(95)),
            ..sight(State::Busy)
        };
        assert_eq!(watcher.look(&printing, at(100), |_| None), []);
        assert_eq!(
            watcher.look(&sight(State::Busy), at(180), |_| None).len(),
            2
        );
    }

    #[test]
    fn presets_are_what_they_are_known_for() {
        let table = [("impl", 480, 1), ("plan", 180, 2), ("gate", 900, 0)];
        for (word, seconds, max_resumes) in table {
            let policy = Policy {
                stall_after: Duration::from_secs(seconds),
                max_resumes,
            };
            assert_eq!(Policy::of(word.parse().unwrap()), policy, "{word}");
        }
        assert_eq!("fast".parse::<Preset>(), Err(PresetError));
    }

    #[test]
    fn nothing_is_typed_into_what_a_shell_runs() {
        let policy = Policy::of(Preset::Plan);
        assert_eq!(policy.suited_to(Pointer::Source).max_resumes, 0);
        assert_eq!(policy.suited_to(Pointer::Sentence), policy);
    }
}
