//! What a holder has done for its session: outside of the sandbox, or with the way to the ledger, which the session does not have.
//!
//! The session says which command of this program; the holder says who asks, with which role and which lease, and from which
//! repository. The command itself knows which ones it does for a session.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use handoff_core::Caller;
use handoff_process::{Bound, Child, Exit, Program, Stdin, start};
use rustix::event::PollFd;

use super::Holder;
use super::guest::Guest;
use crate::confinement::Bounds;
use crate::control::errand::{Bytes, Errand, Returned};
use crate::control::message::{Refusal, refusal};

/// How many are done at a time.
const MOST: usize = 4;
/// How much of what a command prints comes back.
const PRINTED: Bound = Bound::Last(1024 * 1024);
/// What a shell says of a program that was ended from outside.
const ENDED: u8 = 128 + 9;

/// What is needed to do something for a session, and what is being done.
pub(super) struct Errands {
    /// Nothing is done for one that can do everything itself.
    outside: Option<Outside>,
    running: Vec<Running>,
    begun: u64,
}

/// The world of the one who started the session.
pub(super) struct Outside {
    /// The walls, if there are any.
    pub(super) bounds: Option<Bounds>,
    pub(super) program: PathBuf,
    /// With everything that says which session it is.
    pub(super) environment: BTreeMap<OsString, OsString>,
}

struct Running {
    number: u64,
    child: Child,
}

impl Errands {
    pub(super) const fn new(outside: Option<Outside>) -> Self {
        Self {
            outside,
            running: vec![],
            begun: 0,
        }
    }

    pub(super) fn poll_fds(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.running.iter().flat_map(|it| it.child.poll_fds())
    }

    pub(super) fn processes(&self) -> impl Iterator<Item = u32> {
        self.running.iter().map(|it| it.child.identity().pid)
    }

    /// Ends what is being done. A commit that is ended is put right by the next command.
    pub(super) fn end(&mut self) {
        self.running.clear();
    }

    /// Begins one, and says its number.
    fn begin(&mut self, errand: &Errand) -> Result<u64, Refusal> {
        let Some(outside) = &self.outside else {
            let text = "nothing holds this session: it does everything itself";
            return Err(refusal(409, text));
        };
        if self.running.len() >= MOST {
            return Err(refusal(
                503,
                "enough is being done for this session; ask again",
            ));
        }
        let program = outside.program(errand);
        let child = start(&program).map_err(|error| refusal(503, &error.to_string()))?;
        self.begun += 1;
        let number = self.begun;
        self.running.push(Running { number, child });
        Ok(number)
    }

    /// Those that have ended since the last look.
    fn returned(&mut self) -> Vec<(u64, Returned)> {
        let mut returned = vec![];
        self.running.retain_mut(|it| match it.returned() {
            None => true,
            Some(end) => {
                returned.push((it.number, end));
                false
            }
        });
        returned
    }
}

impl Outside {
    fn program(&self, errand: &Errand) -> Program {
        let place = match &self.bounds {
            Some(bounds) => &bounds.common_dir,
            None => &errand.directory,
        };
        let mut program = Program::new(&self.program, place).with_arguments(["errand"]);
        if let Some(bounds) = &self.bounds {
            let tree: [&OsStr; 2] = ["--tree".as_ref(), bounds.root.as_ref()];
            program = program.with_arguments(tree);
        }
        let directory: [&OsStr; 2] = ["--directory".as_ref(), errand.directory.as_ref()];
        program = program.with_arguments(directory).with_arguments(["--"]);
        let words = errand.words.iter().map(|word| word.0.clone());
        program.arguments.extend(words);
        program.environment = self.environment.clone();
        program.stdin = Stdin::Bytes(errand.input.0.clone());
        (program.stdout, program.stderr) = (PRINTED, PRINTED);
        program
    }
}

impl Running {
    fn returned(&mut self) -> Option<Returned> {
        let exit_code = match self.child.wait(Some(Duration::ZERO)) {
            Ok(Exit::TimedOut) => return None,
            Ok(Exit::Code(code)) => u8::try_from(code & 0xff).unwrap_or(ENDED),
            Ok(Exit::Signal(_)) | Err(_) => ENDED,
        };
        Some(Returned {
            exit_code,
            stdout: Bytes(self.child.stdout().to_bytes()),
            stderr: Bytes(self.child.stderr().to_bytes()),
        })
    }
}

impl Holder<'_> {
    /// Only the session itself has something done: a person can do it.
    pub(super) fn begin_errand(&mut self, guest: &mut Guest, errand: &Errand) {
        let begun = match guest.caller() {
            Some(Caller::Session { .. }) => self.errands.begin(errand),
            Some(
                Caller::Person
                | Caller::Worker
                | Caller::Reconciler
                | Caller::Check
                | Caller::Unknown,
            )
            | None => Err(refusal(
                403,
                "only the session itself has something done for it",
            )),
        };
        match begun {
            Ok(number) => guest.await_errand(number),
            Err(refusal) => guest.refuse(&refusal),
        }
    }

    /// Tells those who wait what came of theirs. One who has left meanwhile is not waited for.
    pub(super) fn tell_errands(&mut self) {
        for (number, returned) in self.errands.returned() {
            let mut guests = self.guests.iter_mut();
            if let Some(guest) = guests.find(|it| it.awaits_errand(number)) {
                guest.answer(&returned);
            }
        }
        // The end of the connection is the end of the answer.
        self.guests.retain(|guest| !guest.is_gone());
    }
}
