//! A place in which one command is run that code of sessions is part of.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use handoff_core::Task;
use handoff_core::task::VerifyCommand;
use handoff_files::Dir;
use handoff_process::{Bound, program};
use handoff_session::toolchain::CACHES;

use crate::check::shell;
use crate::enclosure::{CheckPolicy, Contained, Contender, Enclosure, lies_in, without_ours};
use crate::error::EngineError;
use crate::places::{Attempt, Places};
use crate::workshop::Workshop;

/// Where programs put what they need for a moment.
const TEMPORARY: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];
const TARGET: &str = "CARGO_TARGET_DIR";

/// A place in which one command is run.
pub(crate) struct Bench {
    /// The tree.
    pub(crate) root: PathBuf,
    /// Where cargo builds: kept from one command to the next.
    target: Target,
    /// For reports, caches and temporary files, and for this command only: what an earlier one left cannot mislead it.
    pub(crate) private: PathBuf,
}

enum Target {
    /// Here, whatever the user has set.
    Here(PathBuf),
    /// In the tree, where the session has built; here if the user has set a place that cannot be written.
    InTree(PathBuf),
}

/// How a command differs from others on the same bench.
pub(crate) struct Order<'a> {
    pub(crate) command: &'a VerifyCommand,
    /// Variables of its own.
    pub(crate) variables: Vec<(&'static str, OsString)>,
    /// How much is kept of what it prints.
    pub(crate) output: Bound,
}

impl<'a> Order<'a> {
    pub(crate) const fn of(command: &'a VerifyCommand) -> Self {
        Self {
            command,
            variables: vec![],
            output: program::DEFAULT_BOUND,
        }
    }
}

impl Bench {
    /// Makes room beside a tree. Only one is at work there at a time; what is left of those before it goes.
    pub(crate) fn beside(root: PathBuf, output: &Path) -> Result<Self, EngineError> {
        Self::new(root, output, Target::Here)
    }

    /// Makes room for the check of an attempt, in its own tree. What is left of attempts that are over goes.
    pub(crate) fn of_attempt(
        workshop: &Workshop<'_>,
        task: &Task,
        root: PathBuf,
    ) -> Result<Self, EngineError> {
        let of_checks = workshop.places.checks(task.project);
        sweep(&workshop.places, task, &of_checks)?;
        let worktree = workshop.places.worktree(task.project, Attempt::of(task));
        let name = worktree.file_name().unwrap_or_default();
        Self::new(root, &of_checks.join(name), Target::InTree)
    }

    fn new(
        root: PathBuf,
        output: &Path,
        target: fn(PathBuf) -> Target,
    ) -> Result<Self, EngineError> {
        let place = Dir::create_private(output)?;
        let (build, of_commands) = (place.create_dir("target")?, place.create_dir("commands")?);
        for old in of_commands.names()? {
            // What cannot be removed stays: nobody looks at it.
            std::fs::remove_dir_all(of_commands.path().join(old)).ok();
        }
        let private = of_commands.create_dir(handoff_process::mint().simple().to_string())?;
        private.create_dir("tmp")?;
        let caches = private.create_dir("cache")?;
        for (_, name) in CACHES {
            caches.create_dir(name)?;
        }
        Ok(Self {
            root,
            target: target(build.path().to_owned()),
            private: private.path().to_owned(),
        })
    }

    /// Starts a command here.
    pub(crate) fn start(
        &self,
        workshop: &Workshop<'_>,
        task: &Task,
        order: Order<'_>,
    ) -> Result<Contender, EngineError> {
        let mut variables = self.variables(&workshop.checks, &workshop.environment);
        let own = order.variables.into_iter();
        variables.extend(own.map(|(name, value)| (OsString::from(name), value)));
        let mut program = shell(order.command, &self.root, variables);
        program.stdout = order.output;
        workshop.checks.start(Contained {
            program,
            places: Some(self.places()),
            mark: &task.id.to_string(),
        })
    }

    fn places(&self) -> Vec<PathBuf> {
        let (Target::Here(target) | Target::InTree(target)) = &self.target;
        vec![self.root.clone(), target.clone(), self.private.clone()]
    }

    fn variables(
        &self,
        policy: &CheckPolicy,
        environment: &BTreeMap<OsString, OsString>,
    ) -> BTreeMap<OsString, OsString> {
        let mut variables = without_ours(environment.clone());
        let mut set = |name: &str, value: PathBuf| variables.insert(name.into(), value.into());
        for name in TEMPORARY {
            set(name, self.private.join("tmp"));
        }
        if let Enclosure::Closed { scratch } = &policy.enclosure {
            let can_write = |name: &str| {
                let place = environment.get(OsStr::new(name));
                place.is_some_and(|it| lies_in(Path::new(it), scratch))
            };
            for (name, place) in CACHES.iter().filter(|(name, _)| !can_write(name)) {
                set(name, self.private.join("cache").join(place));
            }
            if let Target::InTree(target) = &self.target
                && environment.contains_key(OsStr::new(TARGET))
                && !can_write(TARGET)
            {
                set(TARGET, target.clone());
            }
        }
        if let Target::Here(target) = &self.target {
            set(TARGET, target.clone());
        }
        variables
    }
}

/// Removes what checks of attempts left whose tree is gone.
fn sweep(places: &Places, task: &Task, of_checks: &Path) -> Result<(), EngineError> {
    for name in Dir::create_private(of_checks)?.names()? {
        let place = of_checks.join(&name);
        let Some(attempt) = Attempt::from_directory(&place) else {
            continue;
        };
        if !places.worktree(task.project, attempt).exists() {
            // What cannot be removed now is tried again by the next check.
            std::fs::remove_dir_all(&place).ok();
        }
    }
    Ok(())
}
