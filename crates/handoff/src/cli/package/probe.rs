//! Probing the claims of a package: each is looked at again, here and now. Nothing out of a package runs, unless a person said so.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use handoff_api::ClaimOutcome;
use handoff_core::context::{ContextKey, Entry};
use handoff_core::feature::{CheckName, CheckOutcome};
use handoff_core::ownership::RepoPath;
use handoff_core::task::VerifyCommand;
use handoff_core::tree::{Drift, Freshness, Relation};
use handoff_core::{CommitId, ContextScope, Digest, JsonText, TreeState};
use handoff_engine::check::Checker;
use handoff_engine::without_secrets;
use handoff_files::Access;
use handoff_git::{Git, Repository};
use handoff_operations::project::require_person;
use handoff_operations::{Failure, Project, sandbox_policy};
use handoff_package::payload::{Claim, Probe};
use handoff_package::{Payload, digest_of};
use handoff_store::{contexts, read};
use handoff_workspace::Workspace;
use handoff_workspace::config::Config;
use handoff_workspace::trust::{self, Trust};

use super::create::open_tree;
use crate::context::Context;

/// Whether commands out of a package may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commands {
    /// They are shown.
    Shown,
    /// A person wants to see what they say.
    Run,
}

/// What came of a probe.
enum Outcome {
    Held,
    Failed(String),
    NotRun(String),
}

/// What probes are made with.
pub(super) struct Prober<'a> {
    git: Git,
    at: &'a Repository,
    tree: Option<TreeState>,
    commands: Commands,
    context: Here,
    ctx: &'a Context,
}

/// The context that a package is received into, as it is before that.
pub(super) struct Here(BTreeMap<ContextKey, Entry>);

impl Here {
    pub(super) fn read(scope: ContextScope, desk: &mut Project) -> Result<Self, Failure> {
        let found = read(&mut *desk.store, |tx| contexts::matching(tx, scope, None))?;
        let entries = found.into_iter().map(|(key, (_, entry))| (key, entry));
        Ok(Self(entries.collect()))
    }

    /// Compares with what is here: that a package says so itself proves nothing.
    fn has(&self, key: &ContextKey, value: &JsonText) -> Outcome {
        match self.0.get(key) {
            Some(entry) if entry.value == *value => Outcome::Held,
            Some(_) => Outcome::Failed("the key has another value here".to_owned()),
            None => Outcome::NotRun("the key is not in the context here".to_owned()),
        }
    }
}

impl<'a> Prober<'a> {
    pub(super) fn new(
        at: &'a Repository,
        tree: Option<TreeState>,
        commands: Commands,
        context: Here,
        ctx: &'a Context,
    ) -> Self {
        Self {
            context,
            git: Git::new(without_secrets(ctx.ambient.environment.clone())),
            at,
            tree,
            commands,
            ctx,
        }
    }

    /// Probes all claims of a package.
    pub(super) fn all(&self, payload: &Payload) -> Vec<ClaimOutcome> {
        let claims = payload.claims.iter();
        claims.map(|claim| self.told(claim)).collect()
    }

    fn told(&self, claim: &Claim) -> ClaimOutcome {
        let outcome = match &claim.probe {
            Some(probe) => self.one(probe),
            None => Outcome::NotRun("there is no way to find out".to_owned()),
        };
        let (outcome, why) = match outcome {
            Outcome::Held => ("held", None),
            Outcome::Failed(why) => ("failed", Some(why)),
            Outcome::NotRun(why) => ("not_run", Some(why)),
        };
        ClaimOutcome {
            text: claim.text.to_string(),
            probe: claim.probe.as_ref().map(ToString::to_string),
            outcome,
            why,
        }
    }

    fn one(&self, probe: &Probe) -> Outcome {
        match probe {
            Probe::Commit { commit } => self.commit(commit),
            Probe::File { path, sha256 } => match file_digest(path, self.at) {
                Ok(found) if found == *sha256 => Outcome::Held,
                Ok(_) => Outcome::Failed("the file has another content".to_owned()),
                Err(error) => Outcome::Failed(error.to_string()),
            },
            Probe::Check { name } => self.check(name),
            Probe::CleanTree => match &self.tree {
                Some(tree) if tree.dirty.is_none() => Outcome::Held,
                Some(_) => Outcome::Failed("something is not committed".to_owned()),
                None => Outcome::NotRun("there is no tree here".to_owned()),
            },
            Probe::Context { key, value } => self.context.has(key, value),
            Probe::Command { command } => self.command(command),
        }
    }

    fn commit(&self, commit: &CommitId) -> Outcome {
        match self.git.relation(self.at, commit) {
            Ok(Relation::Counted { lost: 0, .. }) => Outcome::Held,
            Ok(Relation::Counted { .. }) => {
                Outcome::Failed("the commit is there, but not in this history".to_owned())
            }
            Ok(Relation::Missing) => Outcome::Failed("the commit is not here".to_owned()),
            Err(error) => Outcome::NotRun(error.to_string()),
        }
    }

    /// A check of this repository's own configuration, if a person trusts it.
    fn check(&self, name: &CheckName) -> Outcome {
        match self.trusted(name) {
            Ok(command) => self.run(name.clone(), &command),
            Err(why) => Outcome::NotRun(why),
        }
    }

    fn trusted(&self, name: &CheckName) -> Result<VerifyCommand, String> {
        let root = self.at.main_worktree().unwrap_or_else(|| Path::new("."));
        let workspace = Workspace::open(root).map_err(|error| error.to_string())?;
        let workspace = workspace.ok_or("there is no workspace here that could name it")?;
        let config = Config::load(&workspace).map_err(|error| error.to_string())?;
        let home = self.ctx.home().map_err(|failure| failure.message)?;
        let digest = trust::digest(root, &config.checks);
        let is_trusted = Trust::below(&home).covers(&digest);
        if !is_trusted.map_err(|error| error.to_string())? {
            return Err("a person has not trusted the checks of this repository".to_owned());
        }
        let check = config.checks.into_iter().find(|check| check.name == *name);
        let check = check.ok_or("this repository has no check of that name")?;
        Ok(check.command)
    }

    fn command(&self, command: &VerifyCommand) -> Outcome {
        match self.commands {
            Commands::Shown => Outcome::NotRun(
                "a command out of a package runs only if a person says `--run-probes`".to_owned(),
            ),
            Commands::Run => {
                let name = "package".parse().expect("a word is a name");
                self.run(name, command)
            }
        }
    }

    fn run(&self, name: CheckName, command: &VerifyCommand) -> Outcome {
        let clock = match self.ctx.clock() {
            Ok(clock) => clock,
            Err(failure) => return Outcome::NotRun(failure.message),
        };
        let policy = match sandbox_policy::check_policy(self.at, self.ctx) {
            Ok(policy) => policy,
            Err(failure) => return Outcome::NotRun(failure.message),
        };
        let checker = Checker {
            at: self.at,
            git: &self.git,
            clock: &*clock,
            environment: without_secrets(self.ctx.ambient.environment.clone()),
            policy,
        };
        match checker.run(name, command.clone()).map(|run| run.outcome) {
            Ok(CheckOutcome::Passed) => Outcome::Held,
            Ok(CheckOutcome::Failed { code }) => Outcome::Failed(format!("it exited with {code}")),
            Ok(CheckOutcome::Killed { signal }) => {
                Outcome::Failed(format!("signal {signal} ended it"))
            }
            Ok(CheckOutcome::TimedOut) => Outcome::Failed("it took too long".to_owned()),
            Ok(CheckOutcome::OverLimit { limit }) => {
                Outcome::Failed(format!("it was ended: {limit}"))
            }
            Err(error) => Outcome::NotRun(error.to_string()),
        }
    }

    /// How far the code has moved since the package was made, in words.
    pub(super) fn drift(&self, payload: &Payload) -> String {
        let (Some(then), Some(now)) = (&payload.tree, &self.tree) else {
            return "unknown".to_owned();
        };
        let Some(commit) = &then.commit else {
            return "unknown".to_owned();
        };
        let relate = || self.git.relation(self.at, commit);
        match Freshness::of(then, now, relate) {
            Ok(freshness) => in_words(&freshness),
            Err(_) => "unknown".to_owned(),
        }
    }
}

fn in_words(freshness: &Freshness) -> String {
    let edits = if freshness.has_new_edits {
        ", with other edits"
    } else {
        ""
    };
    let commits = match freshness.drift {
        Drift::None => "current".to_owned(),
        Drift::Ahead { by } => format!("ahead by {by}"),
        Drift::Behind { by } => format!("behind by {by}"),
        Drift::Diverged { gained, lost } => format!("diverged: {gained} new, {lost} missing"),
        Drift::Unknown { .. } => return "unknown".to_owned(),
    };
    format!("{commits}{edits}")
}

/// The digest of a file of the tree. No link is followed, and nothing outside of the tree is read.
pub(super) fn file_digest(path: &RepoPath, at: &Repository) -> io::Result<Digest> {
    let tree = open_tree(at).ok_or_else(|| io::Error::other("there is no tree here"))?;
    let file = tree.open_beneath(path.as_str(), Access::Read);
    let mut file = file.map_err(io::Error::other)?;
    Ok(digest_of(&mut file)?.0)
}

/// Whether commands of a package may run: a person says so, at a terminal or not, but no session.
pub(super) fn commands(run_probes: bool, ctx: &Context) -> Result<Commands, Failure> {
    if run_probes {
        require_person(handoff_core::Action::Trust, &ctx.ambient)?;
        return Ok(Commands::Run);
    }
    Ok(Commands::Shown)
}
