//! What the referee runs is code that a session wrote. It runs where it can change the tree that it is tried in, what is built from
//! that, and nothing else: no ledger, no commit, no result that was kept, no file of the user.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use handoff_core::Task;
use handoff_core::task::VerifyCommand;
use handoff_files::Dir;
use handoff_process::{Program, Sandbox, sandbox, tree};
use handoff_session::environment;

use crate::check::shell;
use crate::error::EngineError;
use crate::workshop::Workshop;

/// Where programs put what they need for a moment.
const TEMPORARY: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// How the commands of a referee are held.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Enclosure {
    /// Not at all: the kernel cannot, or a person does not want it.
    #[default]
    Open,
    /// To their tree and these places.
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

/// A place in which one command is run.
pub(crate) struct Bench {
    /// The tree.
    pub(crate) root: PathBuf,
    /// Where cargo builds: kept from one command to the next.
    target: PathBuf,
    /// For reports and temporary files, and for this command only: what an earlier one left running cannot write here.
    pub(crate) private: PathBuf,
}

impl Bench {
    /// Makes room beside a tree. Only one is at work there at a time; what is left of those before it goes.
    pub(crate) fn beside(root: PathBuf, output: &Path) -> Result<Self, EngineError> {
        let place = Dir::create_private(output)?;
        let (target, of_commands) = (place.create_dir("target")?, place.create_dir("commands")?);
        for old in of_commands.names()? {
            // What cannot be removed stays: nobody looks at it.
            std::fs::remove_dir_all(of_commands.path().join(old)).ok();
        }
        let private = of_commands.create_dir(handoff_process::mint().simple().to_string())?;
        private.create_dir("tmp")?;
        Ok(Self {
            root,
            target: target.path().to_owned(),
            private: private.path().to_owned(),
        })
    }

    /// Ends what a command left running outside of its group. One that hid its mark is held by its sandbox all the same.
    pub(crate) fn tidy_up(task: &Task) {
        // What cannot be found cannot be ended, and proves nothing against the command.
        tree::kill_marked((environment::CHECK, &task.id.to_string())).ok();
    }

    /// The program that a command is here.
    pub(crate) fn program(
        &self,
        workshop: &Workshop<'_>,
        task: &Task,
        command: &VerifyCommand,
    ) -> Program {
        let mut variables = workshop.environment.clone();
        let temporary = self.private.join("tmp").into_os_string();
        let own = TEMPORARY.map(|name| (name, temporary.clone()));
        let own = own.into_iter().chain([
            ("CARGO_TARGET_DIR", self.target.clone().into()),
            (environment::CHECK, task.id.to_string().into()),
        ]);
        variables.extend(own.map(|(name, value)| (OsString::from(name), value)));
        let mut program = shell(command, &self.root, variables);
        if let Enclosure::Closed { scratch } = &workshop.enclosure {
            for helper in sandbox::HELPERS {
                program.environment.remove(OsStr::new(helper));
            }
            let own = [&self.root, &self.target, &self.private].into_iter();
            program.sandbox = Some(Sandbox::new(own.chain(scratch).cloned()));
        }
        program
    }
}
