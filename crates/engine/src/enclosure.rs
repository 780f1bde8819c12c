//! How commands that run code of sessions are held: one policy for the checks of tasks and parts, of fan-ins, suites and probes.
//!
//! Such a command can change the tree that it is tried in, what is declared as scratch and a private directory, and nothing else: no
//! ledger, no ref, no result that was kept, no file of the user. It finds nothing of ours in its environment. A process of ours stays
//! above it (`check-supervisor`), which bounds what it uses and ends all that it started.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_core::check_limits::{CheckLimit, CheckLimits};
use handoff_core::feature::{CheckOutcome, OutputTail};
use handoff_process::{Bound, Child, Exit, Program, Sandbox, sandbox};
use handoff_session::{environment, side};

use crate::error::EngineError;

/// What the names of our variables begin with.
const OURS: &str = "HANDOFF_";
/// How long a supervisor may take to end its tree after it was told to.
const ENDING_TAKES: Duration = Duration::from_secs(15);
/// Beyond its own bound a supervisor that does not answer is given up.
const GRACE: Duration = Duration::from_secs(60);

/// Where such a command can write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Enclosure {
    /// Everywhere: the kernel cannot hold it, or a person does not want it.
    #[default]
    Open,
    /// In its tree and these places.
    Closed {
        /// What a person has declared: caches, build output.
        scratch: Vec<PathBuf>,
    },
}

impl Enclosure {
    /// What to say of a suite that does not run: it may be for want of something that it cannot change there.
    pub(crate) const fn hint(&self) -> &'static str {
        match self {
            Self::Open => "",
            Self::Closed { .. } => {
                " (it runs in a sandbox, in which it can change its tree and temporary files; `[sandbox] write` names more)"
            }
        }
    }
}

/// How commands that run code of sessions are held.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckPolicy {
    /// Where they can write.
    pub enclosure: Enclosure,
    /// What they may use.
    pub limits: CheckLimits,
    /// This program, which supervises them. Without it, as in tests of the engine, only the time is bounded.
    pub supervisor: Option<PathBuf>,
}

/// A command that is to be run.
pub(crate) struct Contained<'a> {
    pub(crate) program: Program,
    /// What it can write if it is enclosed; none for one that a person runs in a tree of their own, which is not.
    pub(crate) places: Option<Vec<PathBuf>>,
    /// What it is about.
    pub(crate) mark: &'a str,
}

impl CheckPolicy {
    /// Starts a command.
    pub(crate) fn start(&self, contained: Contained<'_>) -> Result<Contender, EngineError> {
        let is_supervised = self.supervisor.is_some();
        let program = self.program(contained);
        let child = handoff_process::start(&program)?;
        Ok(Contender {
            child,
            is_supervised,
            time: self.limits.time,
        })
    }

    /// The program that is started for a command: the supervisor, where there is one.
    fn program(&self, contained: Contained<'_>) -> Program {
        let Contained {
            mut program,
            places,
            mark,
        } = contained;
        let writable = match (&self.enclosure, &places) {
            (Enclosure::Closed { scratch }, Some(places)) => {
                for helper in sandbox::HELPERS {
                    program.environment.remove(OsStr::new(helper));
                }
                Some(places.iter().chain(scratch).cloned().collect::<Vec<_>>())
            }
            (Enclosure::Closed { .. } | Enclosure::Open, _) => None,
        };
        let Some(supervisor) = &self.supervisor else {
            program.sandbox = writable.map(Sandbox::new);
            return program;
        };
        let mut arguments = self.arguments();
        let is_enclosed = writable.is_some();
        for place in writable.or(places).unwrap_or_default() {
            arguments.extend(["--write".into(), place.into_os_string()]);
        }
        if is_enclosed {
            arguments.push("--enclosed".into());
        }
        arguments.extend(["--".into(), program.name]);
        arguments.append(&mut program.arguments);
        program.name = supervisor.into();
        program.arguments = arguments;
        // On the supervisor only: whoever asks who is above a process finds it there.
        { &mut program.environment }.insert(environment::CHECK.into(), mark.into());
        program
    }

    fn arguments(&self) -> Vec<OsString> {
        let CheckLimits {
            time,
            memory,
            processes,
            output,
            disk,
        } = self.limits;
        let bounds = [
            ("--time-ms", time.as_millis().to_string()),
            ("--memory", memory.to_string()),
            ("--processes", processes.to_string()),
            ("--output", output.to_string()),
            ("--disk", disk.to_string()),
        ];
        let bounds = bounds.map(|(name, value)| [name.into(), value.into()]);
        let command = OsString::from(side::CHECK_COMMAND);
        std::iter::once(command)
            .chain(bounds.into_iter().flatten())
            .collect()
    }
}

/// An environment without what is ours.
pub(crate) fn without_ours(
    mut environment: BTreeMap<OsString, OsString>,
) -> BTreeMap<OsString, OsString> {
    let is_ours = |name: &OsString| name.as_encoded_bytes().starts_with(OURS.as_bytes());
    environment.retain(|name, _| !is_ours(name));
    environment
}

/// A command that runs. Dropping it ends it with all that it started.
pub(crate) struct Contender {
    child: Child,
    is_supervised: bool,
    time: Duration,
}

impl Contender {
    /// What is waited for, and for how long at most.
    pub(crate) fn waited_for(&mut self) -> (&mut Child, Duration) {
        let patience = if self.is_supervised {
            self.time.saturating_add(GRACE)
        } else {
            self.time
        };
        (&mut self.child, patience)
    }

    /// What the end of it means.
    pub(crate) fn outcome(&self, exit: Exit) -> Result<CheckOutcome, EngineError> {
        let over_time = CheckOutcome::OverLimit {
            limit: CheckLimit::Time {
                milliseconds: u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX),
            },
        };
        match (exit, self.is_supervised) {
            (Exit::TimedOut, _) => Ok(over_time),
            (Exit::Signal(signal), _) => Ok(CheckOutcome::Killed { signal }),
            (Exit::Code(0), false) => Ok(CheckOutcome::Passed),
            (Exit::Code(code), false) => Ok(CheckOutcome::Failed { code }),
            (Exit::Code(_), true) => {
                let said = self.child.stderr().to_bytes();
                let told = serde_json::from_slice(&said);
                told.map_err(|_unreadable| {
                    let said = String::from_utf8_lossy(&said);
                    EngineError::Supervisor(said.trim().to_owned())
                })
            }
        }
    }

    /// What it printed, as far as that is kept.
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.child.stdout().to_bytes()).into_owned()
    }

    /// The end of what it printed.
    pub(crate) fn printed(&self) -> OutputTail {
        OutputTail::of(&self.stdout())
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        // KILL would leave the supervisor's tree behind; one that does not listen is killed with the child.
        if self.is_supervised && self.child.ask_to_end().is_ok() {
            self.child.wait(Some(ENDING_TAKES)).ok();
        }
    }
}

/// So much may be printed by a command whose whole output is read.
pub(crate) const fn whole(most: usize) -> Bound {
    // The supervisor passes on one piece more than the bound before it ends the command.
    Bound::Whole(most + 128 * 1024)
}

/// Whether a place lies in one of these.
pub(crate) fn lies_in(place: &Path, places: &[PathBuf]) -> bool {
    places.iter().any(|it| place.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(policy: &CheckPolicy, places: Option<Vec<PathBuf>>) -> Program {
        let mut program = Program::new("/bin/sh", "/tree").with_arguments(["-c", "true"]);
        let variables = ["PATH", "XDG_RUNTIME_DIR", "HANDOFF_HOME"];
        let variables = variables.map(|it| (it.into(), "/x".into()));
        program.environment = without_ours(variables.into());
        policy.program(Contained {
            program,
            places,
            mark: "task_1",
        })
    }

    fn names(program: &Program) -> Vec<&str> {
        let names = program.environment.keys();
        names.map(|it| it.to_str().unwrap()).collect()
    }

    #[test]
    fn a_supervisor_is_told_the_bounds_and_where_may_be_written() {
        let policy = CheckPolicy {
            enclosure: Enclosure::Closed {
                scratch: vec!["/cache".into()],
            },
            supervisor: Some("/bin/handoff".into()),
            ..CheckPolicy::default()
        };
        let program = started(&policy, Some(vec!["/tree".into()]));
        assert_eq!(program.name, "/bin/handoff");
        assert_eq!(program.arguments[0], side::CHECK_COMMAND);
        let rest: Vec<_> = program.arguments[11..]
            .iter()
            .map(|it| it.to_str().unwrap())
            .collect();
        assert_eq!(
            rest,
            [
                "--write",
                "/tree",
                "--write",
                "/cache",
                "--enclosed",
                "--",
                "/bin/sh",
                "-c",
                "true"
            ]
        );
        assert_eq!(names(&program), ["HANDOFF_CHECK", "PATH"]);
    }

    #[test]
    fn what_a_person_runs_in_their_own_tree_is_bounded_and_not_enclosed() {
        let policy = CheckPolicy {
            enclosure: Enclosure::Closed { scratch: vec![] },
            supervisor: Some("/bin/handoff".into()),
            ..CheckPolicy::default()
        };
        let program = started(&policy, None);
        assert!(!program.arguments.contains(&"--enclosed".into()));
        assert_eq!(
            names(&program),
            ["HANDOFF_CHECK", "PATH", "XDG_RUNTIME_DIR"]
        );
    }
}
