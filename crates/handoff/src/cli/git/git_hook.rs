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
use handoff_engine::Attempt;
use handoff_git::ref_moves::{self, RefMove};
use handoff_git::ref_watch::Phase;
use handoff_git::safe_commit::repair::InTheMaking;
use handoff_git::safe_commit::{COMMIT_VARIABLE, Company};
use handoff_git::{Git, Repository, TreePath};
use handoff_operations::Failure;
use handoff_process::{Input, Program, Stdin, ancestors, replace};
use handoff_store::{read, tasks};

use super::declaration;
use super::peers::peers;
use crate::context::Context;
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
    let place = Place::find(ctx);
    if !is_of_own_commit(args, input.as_deref(), &place) {
        check(args, input.as_deref(), &place, ctx)?;
    }
    step_aside(args, input, ctx)
}

/// Where git runs the hook, and who runs git. Outside of our sessions nothing is refused because it could not be looked at.
struct Place {
    repository: Option<Repository>,
    membership: Option<Membership>,
    /// The `safe-commit` of ours that is above us.
    making: Option<InTheMaking>,
}

impl Place {
    fn find(ctx: &Context) -> Self {
        let repository = repository(ctx);
        Self {
            making: repository.as_ref().and_then(|it| making(it, ctx)),
            membership: Membership::find(&ctx.ambient),
            repository,
        }
    }

    /// Hooks like lint-staged put a copy of everything aside while they run. Where nobody else works, that is nobody else's. It is
    /// looked for once more: the commit may have waited for its lock since it looked.
    fn may_put_aside(&self, ctx: &Context) -> bool {
        let company = self.making.as_ref().map(|it| it.company);
        let is_alone = |at: &Repository| peers(ctx, at).is_some_and(|it| it.is_empty());
        company == Some(Company::Nobody) && self.repository.as_ref().is_some_and(is_alone)
    }

    /// The branch that is this sub-task's own, if it works in the worktree of that branch.
    fn own_branch(&self, ctx: &Context) -> Option<String> {
        let repository = self.repository.as_ref().filter(|it| it.is_linked())?;
        // It would make git use another repository than the one we look at.
        if ctx.ambient.variable("GIT_COMMON_DIR").is_some() {
            return None;
        }
        let branch = repository.read_head().ok()?.branch?;
        let task = self.membership.as_ref().and_then(|it| task_of(it, ctx));
        let expected = task.map(|task| Attempt::of(&task).branch(&task));
        let is_own = expected.is_none_or(|it| branch == format!("refs/heads/{it}"));
        is_own.then_some(branch)
    }
}

/// The repository that git works on: where it says so, what it says, because a hook may be run for another than it stands in.
fn repository(ctx: &Context) -> Option<Repository> {
    let cwd = ctx.cwd().ok()?;
    match ctx.ambient.variable("GIT_DIR") {
        Some(git_dir) => Repository::at_git_dir(Path::new(git_dir), cwd),
        None => Repository::discover(cwd).ok(),
    }
}

/// A `safe-commit` of ours at work: its booth says so, and it is above us.
fn making(repository: &Repository, ctx: &Context) -> Option<InTheMaking> {
    let booth = ctx.ambient.text(COMMIT_VARIABLE)?;
    let making = repository.commit_in_the_making(booth)?;
    let is_above = ancestors().iter().any(|it| it.identity.pid == making.pid);
    is_above.then_some(making)
}

fn read_input() -> Result<Vec<u8>, Failure> {
    let mut input = vec![];
    std::io::stdin()
        .take(INPUT_LIMIT)
        .read_to_end(&mut input)
        .map_err(|error| Failure::failed("cannot read what git says").because(&error))?;
    Ok(input)
}

/// Whether what is asked is what a `safe-commit` of ours does itself. What a user's hook does within it is judged like
/// everything else.
fn is_of_own_commit(args: &Args, input: Option<&[u8]>, place: &Place) -> bool {
    let Some(making) = &place.making else {
        return false;
    };
    match args.name.as_str() {
        "pre-commit" => true,
        "reference-transaction" => making
            .landing
            .as_ref()
            .is_some_and(|landing| moves(input) == [landing.clone()]),
        _ => false,
    }
}

fn moves(input: Option<&[u8]>) -> Vec<RefMove> {
    ref_moves::parse(&String::from_utf8_lossy(input.unwrap_or_default()))
}

fn check(args: &Args, input: Option<&[u8]>, place: &Place, ctx: &Context) -> Result<(), Failure> {
    match args.name.as_str() {
        "pre-commit" => check_staged(place, ctx),
        "reference-transaction" => {
            let moves = moves(input);
            match args.rest.first().and_then(|it| it.to_str()) {
                Some("prepared") => {
                    check_refs(place, &moves, ctx)?;
                    note(place, Phase::Prepared, &moves);
                }
                Some("committed") => note(place, Phase::Committed, &moves),
                Some(_) | None => {}
            }
            Ok(())
        }
        "pre-push" => check_push(place.membership.as_ref()),
        _ => Ok(()),
    }
}

/// That it could not be written down must not make git complain.
fn note(place: &Place, phase: Phase, moves: &[RefMove]) {
    if let Some(repository) = &place.repository {
        repository.note_moves(phase, moves).ok();
    }
}

fn check_push(membership: Option<&Membership>) -> Result<(), Failure> {
    match membership.map(|it| it.role) {
        Some(Role::SubTask) => Err(refused("a sub-task does not push")),
        Some(Role::Main | Role::FanIn) | None => Ok(()),
    }
}

fn check_refs(place: &Place, moves: &[RefMove], ctx: &Context) -> Result<(), Failure> {
    let Some(membership) = &place.membership else {
        return Ok(());
    };
    let branch = match membership.role {
        Role::SubTask => place.own_branch(ctx),
        Role::Main | Role::FanIn => None,
    };
    let mut moves = moves.to_vec();
    if let Some(repository) = &place.repository {
        repository.leave_out_packing(&mut moves);
    }
    leave_out_putting_aside(place, &mut moves, ctx)?;
    match ref_moves::forbidden(membership.role, branch.as_deref(), &moves) {
        None => Ok(()),
        Some(it) if it.name == ref_moves::STASH => Err(refused(
            "a stash would take away what others are working on in this tree",
        )),
        Some(it) => Err(refused(&format!("this session may not move `{}`", it.name))),
    }
}

/// What a hook puts aside within a commit of ours, and takes back, needs no leave. What was put aside before stays: it may be of
/// another tree.
fn leave_out_putting_aside(
    place: &Place,
    moves: &mut Vec<RefMove>,
    ctx: &Context,
) -> Result<(), Failure> {
    let is_stash = |it: &RefMove| it.name == ref_moves::STASH;
    if !moves.iter().any(is_stash) || !place.may_put_aside(ctx) {
        return Ok(());
    }
    let has_stash = place.making.as_ref().is_some_and(|it| it.has_stash);
    if has_stash && moves.iter().any(|it| is_stash(it) && it.goes_away()) {
        return Err(refused(
            "what was put aside before this commit is not for it to drop",
        ));
    }
    moves.retain(|it| !is_stash(it));
    Ok(())
}

/// What is staged must be expected, where somebody said what is, and owned, where the task says what is.
fn check_staged(place: &Place, ctx: &Context) -> Result<(), Failure> {
    let repository = place.repository.as_ref();
    let Some((repository, root)) = repository.and_then(|it| Some((it, it.worktree_root()?))) else {
        return Ok(());
    };
    let expected = declaration::expected(root, ctx)?;
    let task = place.membership.as_ref().and_then(|it| task_of(it, ctx));
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
