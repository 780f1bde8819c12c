//! A repository whose tasks are in a store of its own: what a person who types commands has.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use anyhow::{Context as _, Result, bail};
use handoff_core::{ProjectId, ProjectMark};
use handoff_testkit::postgres::Database;
use handoff_testkit::{GitRepo, TestEnv};

use super::fill::{self, Past};
use super::ledger::{Ledger, Place};

pub(crate) struct Stage {
    env: TestEnv,
    repo: GitRepo,
    binary: PathBuf,
    place: Place,
}

impl Stage {
    /// A repository whose tasks are in a SQLite file beside it, or in this database.
    pub(crate) fn set(binary: &Path, database: Option<&Database>) -> Result<Self> {
        let mut env = TestEnv::new(binary);
        let place = match database {
            None => Place::Sqlite(env.handoff_home()),
            Some(database) => {
                env.set("HANDOFF_STORE", database.url());
                Place::Postgres(database.url().to_owned())
            }
        };
        let stage = Self {
            repo: env.repo("repo"),
            env,
            binary: binary.to_owned(),
            place,
        };
        stage.say(["queue", "add", "first", "--brief", "Be there."])?;
        Ok(stage)
    }

    /// The same with so many tasks, of which the product can show one.
    pub(crate) fn filled(
        binary: &Path,
        database: Option<&Database>,
        tasks: usize,
        past: Past,
    ) -> Result<Self> {
        let stage = Self::set(binary, database)?;
        let mut ledger = Ledger::open(&stage.place, stage.project()?)?;
        fill::fill(&stage.place, &mut ledger, tasks, past)?;
        stage.say(["queue", "show", &fill::name(tasks)])?;
        Ok(stage)
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// The state directory of the product.
    pub(crate) fn state(&self) -> PathBuf {
        self.env.handoff_home()
    }

    /// A directory on the disk that the store is on.
    pub(crate) fn directory(&self) -> &Path {
        self.env.root()
    }

    /// The product with these words, not started yet.
    pub(crate) fn handoff<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.program(&self.binary);
        command.args(args);
        command
    }

    /// Any program, started where and as the product is.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.env.command(program);
        command.current_dir(self.repo.path()).stdin(Stdio::null());
        command
    }

    /// Writes a file of the repository.
    pub(crate) fn write(&self, path: &str, content: &str) {
        self.repo.write(path, content);
    }

    /// Says when a file of the repository was last changed.
    pub(crate) fn date(&self, path: &str, time: SystemTime) -> Result<()> {
        let file = fs::File::options()
            .write(true)
            .open(self.repo.path().join(path))?;
        Ok(file.set_modified(time)?)
    }

    /// Commits what was written.
    pub(crate) fn commit(&self, message: &str) {
        self.repo.commit(message);
    }

    /// Runs the product, which must succeed.
    pub(crate) fn say<const N: usize>(&self, args: [&str; N]) -> Result<()> {
        let output = self.handoff(args).output()?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr).into_owned();
            bail!("`handoff {}` fails: {reason}", args.join(" "));
        }
        Ok(())
    }

    fn project(&self) -> Result<ProjectId> {
        let path = self.repo.path().join(".git/handoff/project");
        let text = fs::read_to_string(&path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let mark: ProjectMark = text.parse()?;
        Ok(mark.project)
    }
}
