//! `handoff safe-commit`.

use std::collections::BTreeMap;
use std::ffi::OsString;

use handoff_api::{CommitDocument, ExitCode, IndexWord};
use handoff_core::Caller;
use handoff_engine::{Counter, Right, SharedCommitError, ledger_apart};
use handoff_files::Holder;
use handoff_git::{
    CommitRequest, Git, IndexState, Made, Repository, SafeCommitError, TreePath, Version,
};
use handoff_operations::{Failure, project};
use handoff_session::environment;

use super::declaration::PathArgs;
use super::held_commit;
use super::message::{self, MessageArgs};
use super::peers::peers;
use super::refusal;
use crate::cli::errand::Reading;
use crate::context::Context;
use crate::output::plain;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  handoff safe-commit -m 'parser: accept tabs' -- src/parser.rs tests/tabs.rs
  git diff --name-only -z | handoff safe-commit -F message.txt -z")]
pub(crate) struct Args {
    #[command(flatten)]
    message: MessageArgs,
    /// Of a file that is staged and edited further, commit what is staged.
    #[arg(long, conflicts_with = "worktree")]
    staged: bool,
    /// Of such a file, commit what it is now.
    #[arg(long)]
    worktree: bool,
    #[command(flatten)]
    paths: PathArgs,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if args.message.is_from_stdin() && args.paths.is_from_stdin() {
        return Err(Failure::usage(
            "message and paths cannot both come from standard input",
        ));
    }
    let repository = project::discover(ctx)?;
    let Some(root) = repository.worktree_root() else {
        return Err(Failure::new(
            ExitCode::NotFound,
            "there is no working tree here",
        ));
    };
    let paths = args.paths.read(root, ctx)?;
    let message = message::with_trailers(&args.message.read()?, &ctx.ambient);
    if ctx.tree.is_some() {
        return held_commit::run(&repository, &paths, &message, ctx);
    }
    let peers = peers(ctx, &repository);
    let request = CommitRequest {
        paths: &paths,
        message: &message,
        version: args.version(),
        peers: peers.as_deref(),
        at: ctx.clock()?.now().wall,
    };
    let made = commit(ctx, &repository, &request)?;
    report(&made, &message, ctx)
}

impl Args {
    pub(super) fn reading(&self) -> Reading {
        match self.message.file() {
            Some(file) => Reading::File(file.to_owned()),
            None if self.message.is_from_stdin() || self.paths.is_from_stdin() => Reading::Input,
            None => Reading::Nothing,
        }
    }

    fn version(&self) -> Version {
        match (self.staged, self.worktree) {
            (true, _) => Version::Staged,
            (_, true) => Version::Tree,
            _ => Version::Only,
        }
    }
}

/// What git and its hooks see. In what is done for a session we know the way to the ledger; a hook, which the session may have
/// written, does not learn it.
fn environment_of_hooks(ctx: &Context) -> BTreeMap<OsString, OsString> {
    let whole = ctx.ambient.environment.clone();
    if ctx.ambient.variable(environment::SESSION).is_none() {
        return whole;
    }
    let (mut rest, ledger) = ledger_apart(whole);
    if !ledger.is_empty() {
        rest.insert(environment::LEDGER.into(), "holder".into());
    }
    rest
}

fn commit(
    ctx: &mut Context,
    repository: &Repository,
    request: &CommitRequest<'_>,
) -> Result<Made, Failure> {
    let right = right(ctx)?;
    let mut store = right.lease.map(|_| ctx.open_store()).transpose()?;
    let who = format!("safe-commit of {}", name(ctx, &right.caller));
    let git = Git::new(environment_of_hooks(ctx));
    let mut counter = Counter {
        git: &git,
        repository,
        store: store.as_deref_mut().map(|store| store as _),
        right: &right,
        who: &who,
    };
    let mut unsaid = None;
    let made = counter.commit(request, &mut |holder| {
        unsaid = ctx.out.note(waiting(holder)).err();
    });
    made.map_err(|error| refused(error, ctx))
}

/// A hook that says no usually says more than one line about it, and whoever commits needs them all.
fn refused(error: SharedCommitError, ctx: &mut Context) -> Failure {
    let said = if let SharedCommitError::Commit(SafeCommitError::Refused { said, .. }) = &error {
        said.trim().to_owned()
    } else {
        String::new()
    };
    let mut failure = refusal::of(error);
    if !said.contains('\n') {
        return failure;
    }
    if ctx.out.is_json() {
        failure.causes.push(said);
    } else {
        // Whoever has closed this has nothing to read it with.
        ctx.out.note(plain(&said)).unwrap_or_default();
    }
    failure
}

/// Who commits, and with which lease.
pub(super) fn right(ctx: &Context) -> Result<Right, Failure> {
    let caller = project::caller(&ctx.ambient)?;
    let lease = match &caller {
        Caller::Session {
            task: Some(task), ..
        } => project::fence(ctx, None).map(|fence| (*task, fence)),
        Caller::Session { task: None, .. }
        | Caller::Person
        | Caller::Worker
        | Caller::Reconciler
        | Caller::Check
        | Caller::Unknown => None,
    };
    Ok(Right { caller, lease })
}

pub(super) fn waiting(holder: Option<Holder>) -> String {
    match holder {
        Some(holder) => format!(
            "Waiting for process {}: {}.",
            holder.pid,
            plain(&holder.label)
        ),
        None => "Waiting for somebody else who commits here.".to_owned(),
    }
}

pub(super) fn name(ctx: &Context, caller: &Caller) -> String {
    let name = ctx.ambient.text("HANDOFF_SESSION_NAME");
    name.map_or_else(|| caller.to_string(), str::to_owned)
}

fn report(made: &Made, message: &str, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(CommitDocument::SCHEMA, document(made))?;
        return Ok(ExitCode::Done);
    }
    if !made.said.trim().is_empty() {
        ctx.out.note(plain(made.said.trim_end()))?;
    }
    let subject = message.lines().next().unwrap_or_default();
    let branch = short_branch(made).unwrap_or("detached HEAD");
    let count = made.paths.len();
    let files = if count == 1 { "file" } else { "files" };
    let id = &made.commit.as_str()[..10];
    ctx.out.line(format!(
        "{id} on {}: {count} {files}, {}",
        plain(branch),
        plain(subject)
    ))?;
    if made.index == IndexState::Behind {
        ctx.out.note(
            "The commit is made. Another git has the index of this tree locked, so `git status` is behind until the next handoff command.",
        )?;
    }
    Ok(ExitCode::Done)
}

fn short_branch(made: &Made) -> Option<&str> {
    let branch = made.branch.as_deref()?;
    Some(branch.strip_prefix("refs/heads/").unwrap_or(branch))
}

fn document(made: &Made) -> CommitDocument {
    let text = |path: &TreePath| String::from_utf8_lossy(path.as_bytes()).into_owned();
    CommitDocument {
        commit: made.commit.to_string(),
        parent: made.parent.as_ref().map(ToString::to_string),
        branch: short_branch(made).map(str::to_owned),
        paths: made.paths.iter().map(text).collect(),
        index: match made.index {
            IndexState::Current => IndexWord::Current,
            IndexState::Behind => IndexWord::Behind,
        },
        hooks_said: made.said.clone(),
    }
}
