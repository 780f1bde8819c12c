//! `handoff git-hook`: what our hooks ask, and then become the hook that was there before.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_core::caller::Role;
use handoff_core::ownership::CaseRule;
use handoff_core::{Task, TaskId};
use handoff_git::safe_commit::COMMIT_VARIABLE;
use handoff_git::{Git, Repository, TreePath, ref_moves};
use handoff_process::{Input, Program, Stdin, ancestors, replace};
use handoff_store::{read, tasks};

use super::declaration;
use crate::context::Context;
use crate::desk;
use crate::failure::Failure;
use crate::membership::Membership;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which hook.
    name: String,
    /// The hook that was there before.
    chain: PathBuf,
    /// What git says to it.
    #[arg(last = true)]
    rest: Vec<OsString>,
}

/// What a hook may still say, whatever it was asked.
const INPUT_LIMIT: u64 = 64 * 1024 * 1024;

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let input = match args.name.as_str() {
        "reference-transaction" | "pre-push" => Some(read_input()?),
        _ => None,
    };
    let repository = desk::discover(ctx)?;
    if !is_own_commit(ctx, &repository) {
        check(args, input.as_deref(), &repository, ctx)?;
    }
    step_aside(args, input, ctx)
}

fn read_input() -> Result<Vec<u8>, Failure> {
    let mut input = vec![];
    std::io::stdin()
        .take(INPUT_LIMIT)
        .read_to_end(&mut input)
        .map_err(|error| Failure::failed("cannot read what git says").because(&error))?;
    Ok(input)
}

/// Whether this happens within a `safe-commit` of ours: its booth says so, and it is above us.
fn is_own_commit(ctx: &Context, repository: &Repository) -> bool {
    let Some(booth) = ctx.ambient.text(COMMIT_VARIABLE) else {
        return false;
    };
    let pid = repository.committing_process(booth);
    pid.is_some_and(|pid| ancestors().iter().any(|it| it.identity.pid == pid))
}

fn check(
    args: &Args,
    input: Option<&[u8]>,
    repository: &Repository,
    ctx: &Context,
) -> Result<(), Failure> {
    let membership = Membership::find(&ctx.ambient);
    match args.name.as_str() {
        "pre-commit" => check_staged(membership.as_ref(), repository, ctx),
        "reference-transaction" if args.rest.first().is_some_and(|it| it == "prepared") => {
            check_refs(membership.as_ref(), input.unwrap_or_default(), repository)
        }
        "reference-transaction" if args.rest.first().is_some_and(|it| it == "committed") => {
            let moves = ref_moves::parse(&String::from_utf8_lossy(input.unwrap_or_default()));
            // It happened; that it could not be written down must not make git complain.
            repository.note_moves(&moves).ok();
            Ok(())
        }
        "pre-push" => check_push(membership.as_ref()),
        _ => Ok(()),
    }
}

fn check_push(membership: Option<&Membership>) -> Result<(), Failure> {
    match membership.map(|it| it.role) {
        Some(Role::SubTask) => Err(refused("a sub-task does not push")),
        Some(Role::Main | Role::FanIn) | None => Ok(()),
    }
}

fn check_refs(
    membership: Option<&Membership>,
    input: &[u8],
    repository: &Repository,
) -> Result<(), Failure> {
    let Some(membership) = membership else {
        return Ok(());
    };
    let moves = ref_moves::parse(&String::from_utf8_lossy(input));
    let branch = repository.read_head().ok().and_then(|head| head.branch);
    match ref_moves::forbidden(membership.role, branch.as_deref(), &moves) {
        None => Ok(()),
        Some(it) if it.name == "refs/stash" => Err(refused(
            "a stash would take away what others are working on in this tree",
        )),
        Some(it) => Err(refused(&format!("this session may not move `{}`", it.name))),
    }
}

/// What is staged must be expected, where somebody said what is, and owned, where the task says what is.
fn check_staged(
    membership: Option<&Membership>,
    repository: &Repository,
    ctx: &Context,
) -> Result<(), Failure> {
    let Some(root) = repository.worktree_root() else {
        return Ok(());
    };
    let expected = declaration::expected(root, ctx)?;
    let task = membership.and_then(|it| task_of(it, ctx));
    if expected.is_none() && task.is_none() {
        return Ok(());
    }
    let git = Git::new(ctx.ambient.environment.clone());
    let index = ctx.ambient.directory("GIT_INDEX_FILE");
    let staged = git
        .staged_paths(repository, index)
        .map_err(|error| Failure::of(ExitCode::Failed, &error))?;
    if let Some(expected) = &expected {
        complain(&staged, |path| expected.contains(path), "was not expected")?;
    }
    let owns = task.as_ref().and_then(|task| task.spec.owns.as_ref());
    if let Some(owns) = owns {
        let is_owned = |path: &TreePath| {
            path.to_repo_path()
                .is_some_and(|path| owns.covers(&path, CaseRule::NATIVE))
        };
        complain(&staged, is_owned, "is not owned by this session's task")?;
    }
    Ok(())
}

fn complain(
    staged: &BTreeSet<TreePath>,
    is_right: impl Fn(&TreePath) -> bool,
    why: &str,
) -> Result<(), Failure> {
    match staged.iter().find(|path| !is_right(path)) {
        None => Ok(()),
        Some(path) => Err(refused(&format!("`{path}` is staged and {why}"))),
    }
}

/// A ledger that cannot be read says nothing of ownership; it is checked again when the work is collected.
fn task_of(membership: &Membership, ctx: &Context) -> Option<Task> {
    let id: TaskId = membership.task.as_ref()?.to_str()?.parse().ok()?;
    let mut store = ctx.open_store().ok()?;
    read(&mut *store, |tx| tasks::get(tx, id)).ok()
}

fn refused(why: &str) -> Failure {
    Failure::new(ExitCode::Forbidden, why).hint(
        "`handoff safe-commit -m … -- PATHS` commits exactly the files that are named, on a branch that is yours",
    )
}

/// Becomes the hook that was there before, if there is one.
fn step_aside(args: &Args, input: Option<Vec<u8>>, ctx: &Context) -> Result<ExitCode, Failure> {
    let cwd = ctx.cwd()?;
    if !is_program(&cwd.join(&args.chain)) {
        return Ok(ExitCode::Done);
    }
    let mut program = Program::new(cwd.join(&args.chain), cwd);
    program.arguments.clone_from(&args.rest);
    program.environment.clone_from(&ctx.ambient.environment);
    let reads = match input {
        Some(bytes) => {
            program.stdin = Stdin::Bytes(bytes);
            Input::Described
        }
        None => Input::Ours,
    };
    let error = replace(&program, reads);
    Err(Failure::failed("cannot run the hook that was there before").because(&error))
}

fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
