//! The referee's own tree, and what suites showed there before.

use std::path::PathBuf;

use handoff_core::ownership::RepoPath;
use handoff_core::task::{Evidence, Measured, VerifyCommand};
use handoff_core::trial::{Results, SuiteRun};
use handoff_core::workflow::Suite;
use handoff_core::{CommitId, Digest, RunId, Task};
use handoff_files::{Dir, Lock, Mode, atomic};
use handoff_git::Repository;

use crate::check_bench::{Bench, Order};
use crate::error::EngineError;
use crate::judgement::prove;
use crate::suite;
use crate::workshop::Workshop;

/// A place where the referee looks at commits: one for each run.
pub(super) struct Referee {
    directory: PathBuf,
    _lock: Lock,
}

/// What is looked at: a commit, with some paths as they are in another one, and some that are in none.
pub(super) struct Exhibit<'a> {
    pub(super) commit: &'a CommitId,
    pub(super) laid_over: Option<(&'a CommitId, &'a [RepoPath])>,
    pub(super) written: Vec<(&'a RepoPath, String)>,
}

impl<'a> Exhibit<'a> {
    pub(super) const fn of(commit: &'a CommitId) -> Self {
        Self {
            commit,
            laid_over: None,
            written: vec![],
        }
    }
}

impl Referee {
    pub(super) fn of(workshop: &Workshop<'_>, run: RunId) -> Result<Self, EngineError> {
        let directory = directory(workshop, run);
        Dir::create_private(&directory)?;
        let lock = Lock::acquire(&directory.join("lock"), "referee")?;
        Ok(Self {
            directory,
            _lock: lock,
        })
    }

    /// The tree, and where commands leave what they make. What is known of commits lies beside, out of their reach.
    fn bench(&self) -> Result<Bench, EngineError> {
        Bench::beside(self.directory.join("tree"), &self.directory.join("output"))
    }

    fn lay_out(
        &self,
        workshop: &Workshop<'_>,
        exhibit: &Exhibit<'_>,
    ) -> Result<Repository, EngineError> {
        let (git, repository) = (&workshop.git, workshop.repository);
        let at = git.lay_out(repository, &self.directory.join("tree"), exhibit.commit)?;
        if let Some((commit, paths)) = exhibit.laid_over {
            let git = git.bound_to(&at);
            git.restore(&at, commit, paths).map_err(EngineError::Show)?;
        }
        let tree = Dir::open(&self.directory.join("tree"))?;
        for (path, text) in &exhibit.written {
            write(&tree, path, text)?;
        }
        Ok(at)
    }

    /// Runs the suite on what is shown, and keeps what it showed in the ledger.
    pub(super) fn run(
        &self,
        workshop: &mut Workshop<'_>,
        task: &Task,
        suite: &Suite,
        exhibit: &Exhibit<'_>,
    ) -> Result<SuiteRun, EngineError> {
        self.lay_out(workshop, exhibit)?;
        let bench = self.bench()?;
        suite::run(workshop, task, suite, &bench)
    }

    /// What the suite showed on a commit that was proved, or the run began with: known from before, or found out now.
    pub(super) fn known(
        &self,
        workshop: &mut Workshop<'_>,
        task: &Task,
        suite: &Suite,
        commit: &CommitId,
    ) -> Result<Result<Results, String>, EngineError> {
        if let Some(kept) = self.kept(suite, commit)? {
            return Ok(Ok(kept));
        }
        let exhibit = Exhibit::of(commit);
        let mut results = match self.run(workshop, task, suite, &exhibit)? {
            SuiteRun::Ran(results) => results,
            SuiteRun::DidNotRun { said } => return Ok(Err(said)),
        };
        if let SuiteRun::Ran(again) = self.run(workshop, task, suite, &exhibit)? {
            results.repeat(&again);
        }
        self.keep(suite, commit, &results)?;
        measured(workshop, task, suite, commit, &results)?;
        Ok(Ok(results))
    }

    /// What is known of a commit from before.
    pub(super) fn kept(
        &self,
        suite: &Suite,
        commit: &CommitId,
    ) -> Result<Option<Results>, EngineError> {
        let dir = Dir::open(&self.directory)?;
        let kept = dir.read_to_string(self.name(suite, commit), 256 * 1024 * 1024);
        Ok(kept.ok().and_then(|it| serde_json::from_str(&it).ok()))
    }

    /// What the suite showed on one commit counts for another with the same code.
    pub(super) fn carry_over(
        &self,
        suite: &Suite,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<(), EngineError> {
        match self.kept(suite, from)? {
            Some(results) => self.keep(suite, to, &results),
            None => Ok(()),
        }
    }

    /// Keeps what the suite showed on a commit that is proved now.
    pub(super) fn keep(
        &self,
        suite: &Suite,
        commit: &CommitId,
        results: &Results,
    ) -> Result<(), EngineError> {
        let dir = Dir::open(&self.directory)?;
        let text = serde_json::to_string(results).expect("names and words are JSON");
        let name = self.name(suite, commit);
        Ok(atomic::replace(
            &dir,
            &name,
            text.as_bytes(),
            Mode::Private,
        )?)
    }

    /// A suite that is run otherwise shows something else.
    fn name(&self, suite: &Suite, commit: &CommitId) -> String {
        let digest = Digest::of(suite.command.as_str().as_bytes()).to_string();
        format!("{commit}-{}.json", &digest[..12])
    }

    /// Runs a command on what is shown; says why it is not accepted.
    pub(super) fn check(
        &self,
        workshop: &mut Workshop<'_>,
        task: &Task,
        command: &VerifyCommand,
        exhibit: &Exhibit<'_>,
    ) -> Result<Option<String>, EngineError> {
        self.lay_out(workshop, exhibit)?;
        let bench = self.bench()?;
        let mut running = bench.start(workshop, task, Order::of(command))?;
        let (child, patience) = running.waited_for();
        let exit = workshop.wait(child, task, Some(patience))?;
        let (outcome, said) = (running.outcome(exit)?, running.printed());
        Ok(crate::referee::objection(outcome).map(|what| {
            let last = said.as_str().lines().last().unwrap_or_default();
            format!("`{command}` {what}: {last}")
        }))
    }
}

/// Writes a file beneath a tree. A directory that is a link is none: what a commit brought may lead anywhere.
fn write(tree: &Dir, path: &RepoPath, text: &str) -> Result<(), EngineError> {
    let (dir, name) = match path.as_str().rsplit_once('/') {
        Some((parent, name)) => (Some(tree.dir(parent)?), name),
        None => (None, path.as_str()),
    };
    let dir = dir.as_ref().unwrap_or(tree);
    Ok(atomic::replace_view(
        dir,
        name,
        text.as_bytes(),
        Mode::Shared,
    )?)
}

/// Removes the referee's tree of a run that is over, and what was kept beside it; later, if it is still looked at there.
pub(super) fn clear(workshop: &Workshop<'_>, run: RunId) -> Result<(), EngineError> {
    let directory = directory(workshop, run);
    if !directory.exists() {
        return Ok(());
    }
    let Some(_lock) = Lock::try_acquire(&directory.join("lock"), "referee")? else {
        return Ok(());
    };
    let tree = directory.join("tree");
    workshop.git.remove_worktree(workshop.repository, &tree)?;
    std::fs::remove_dir_all(&directory).map_err(EngineError::Clear)
}

/// Keeps others from showing runs in git at the same time.
pub(super) fn lock_views(workshop: &Workshop<'_>) -> Result<Lock, EngineError> {
    let directory = referees(workshop);
    Dir::create_private(&directory)?;
    Ok(Lock::acquire(&directory.join("views.lock"), "views")?)
}

/// Where referees have their places, each named for its run.
pub(crate) fn referees(workshop: &Workshop<'_>) -> PathBuf {
    workshop.places.home().join("referee")
}

fn directory(workshop: &Workshop<'_>, run: RunId) -> PathBuf {
    referees(workshop).join(run.to_string())
}

/// Writes down in numbers what a suite showed.
pub(super) fn measured(
    workshop: &mut Workshop<'_>,
    task: &Task,
    suite: &Suite,
    commit: &CommitId,
    results: &Results,
) -> Result<(), EngineError> {
    let (passed, failed, skipped) = results.numbers();
    let evidence = Evidence::Measured(Measured {
        command: suite.command.clone(),
        commit: commit.clone(),
        passed,
        failed,
        skipped,
        flaky: results.flaky().take(100).cloned().collect(),
    });
    // Another run of the same suite is another proof.
    let verb = format!("measure-{}", handoff_process::mint().simple());
    prove(workshop, task, &evidence, &verb)
}
