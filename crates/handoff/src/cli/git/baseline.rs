//! `handoff baseline`.

use std::ffi::OsString;

use handoff_api::{BaselineDocument, ExitCode};
use handoff_core::baseline::Distance;
use handoff_core::task::VerifyCommand;
use handoff_core::{Action, Baseline, HeadName};
use handoff_engine::{Ground, checked_out, publish_baseline, reconcile};
use handoff_git::{Git, GitError};
use handoff_operations::{Failure, Project, project};
use handoff_process::{Exit, Program, output};
use handoff_store::StoreError;
use handoff_store::queue::{Change, Proved};

use crate::context::Context;
use crate::output::plain;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Show the last commit of this branch that was verified good.
    Show,
    /// Say that a commit is good; the newest one of this branch, unless another is named.
    Set {
        /// Any name that git knows for it.
        commit: Option<String>,
    },
    /// Run a command here, and make the newest commit the baseline if it succeeds.
    Verify {
        /// The command.
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
}

pub(super) fn run(command: &Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let git = Git::new(ctx.ambient.environment.clone());
    match command {
        Command::Show => show(&git, ctx),
        Command::Set { commit } => {
            let mut desk = Project::open(ctx)?;
            let branch = branch(&desk)?;
            let name = commit.as_deref().unwrap_or("HEAD");
            set(&mut desk, &git, branch, name, None)?;
            report(&mut desk, &git, ctx)
        }
        Command::Verify { command } => {
            let mut desk = Project::open(ctx)?;
            verify(&mut desk, &git, command, ctx)?;
            report(&mut desk, &git, ctx)
        }
    }
}

/// Whoever looks also sees to it that git shows the same.
fn show(git: &Git, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let Some(mut desk) = Project::peek(ctx)? else {
        let branch = checked_out(&project::discover(ctx)?);
        return Err(none(branch.as_ref()));
    };
    reconcile::baselines(&mut *desk.store, desk.id, git, &desk.repository).ok();
    report(&mut desk, git, ctx)
}

fn none(branch: Option<&HeadName>) -> Failure {
    let Some(branch) = branch else {
        return detached();
    };
    let text = format!("`{branch}` has no baseline yet");
    Failure::new(ExitCode::NotFound, text).hint("make one: `handoff baseline verify -- COMMAND`")
}

fn detached() -> Failure {
    Failure::new(ExitCode::Conflict, "no branch is checked out here")
}

fn failed(error: &GitError) -> Failure {
    Failure::of(ExitCode::Failed, error)
}

fn branch(desk: &Project) -> Result<HeadName, Failure> {
    checked_out(&desk.repository).ok_or_else(detached)
}

fn set(
    desk: &mut Project,
    git: &Git,
    branch: HeadName,
    name: &str,
    command: Option<VerifyCommand>,
) -> Result<(), Failure> {
    let unknown = || Failure::new(ExitCode::NotFound, format!("there is no commit {name:?}"));
    let commit = match name.starts_with('-') {
        true => None,
        false => git
            .commit_named(&desk.repository, name)
            .map_err(|error| failed(&error))?,
    };
    let change = Change::SetBaseline(Proved {
        project: desk.id,
        branch,
        commit: commit.ok_or_else(unknown)?,
        command,
    });
    let recorded = desk.submit(change, None)?;
    publish_baseline(git, &desk.repository, &recorded.receipt.answer);
    Ok(())
}

/// What is verified must be the commit, and not an edit that is not in it.
fn verify(
    desk: &mut Project,
    git: &Git,
    command: &[OsString],
    ctx: &mut Context,
) -> Result<(), Failure> {
    desk.caller.may(Action::Prove).map_err(StoreError::from)?;
    let branch = branch(desk)?;
    let repository = desk.repository.clone();
    let dirty = || -> Result<Vec<String>, Failure> {
        Ok(git
            .status(&repository)
            .map_err(|error| failed(&error))?
            .edited)
    };
    if let Some(first) = dirty()?.first() {
        return Err(Failure::new(
            ExitCode::Conflict,
            format!("`{first}` is not committed, and so no commit can be verified here"),
        ));
    }
    let head = || {
        repository
            .read_head()
            .map_err(|error| Failure::of(ExitCode::Failed, &error))
    };
    let tested = head()?;
    let (name, arguments) = command.split_first().expect("the command is required");
    let mut program = Program::new(name, ctx.cwd()?);
    program.arguments = arguments.to_vec();
    program.environment = ctx.ambient.environment.clone();
    let ran = output(&program, None)
        .map_err(|error| Failure::failed("cannot run the command").because(&error))?;
    let said = [Vec::from(ran.stdout), ran.stderr.into()].concat();
    ctx.out.note(plain(&String::from_utf8_lossy(&said)))?;
    if ran.exit != Exit::Code(0) {
        return Err(Failure::new(
            ExitCode::CheckFailed,
            format!(
                "the command ended with {}; the baseline stays where it was",
                ran.exit
            ),
        ));
    }
    if head()? != tested || !dirty()?.is_empty() {
        return Err(Failure::new(
            ExitCode::Conflict,
            "the tree changed while the command ran, and so it is not known what was verified",
        )
        .hint("commit or put back what changed, and run it again"));
    }
    let name = tested.commit.map(|commit| commit.to_string());
    let name = name.as_deref().unwrap_or("HEAD");
    set(desk, git, branch, name, Some(told(command)))
}

/// The command as the ledger takes it: without NUL, and not endless.
fn told(command: &[OsString]) -> VerifyCommand {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let text: String = words.join(" ").chars().take(4_000).collect();
    let text = text.replace('\0', "\u{fffd}");
    text.parse().expect("a program has a name")
}

fn report(desk: &mut Project, git: &Git, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let ground = Ground::survey(&mut *desk.store, desk.id, git, &desk.repository)?;
    let Some((baseline, distance)) = &ground.proved else {
        return Err(none(ground.branch.as_ref()));
    };
    if ctx.out.is_json() {
        let document = document(&ground, baseline, distance);
        ctx.out.document(BaselineDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let how = match &baseline.command {
        Some(command) => format!("`{}` succeeded", plain(command.as_str())),
        None => "they said so".to_owned(),
    };
    ctx.out.line(format!(
        "{:.10} on {}: {how}, by {} at {:.0}.{}",
        baseline.commit.as_str(),
        plain(baseline.branch.as_str()),
        baseline.by,
        baseline.at,
        far(distance)
    ))?;
    Ok(ExitCode::Done)
}

fn document(ground: &Ground, baseline: &Baseline, distance: &Distance) -> BaselineDocument {
    let ahead = match distance {
        Distance::None => Some(0),
        Distance::Ahead { commits, .. } => Some(*commits),
        Distance::Elsewhere => None,
    };
    BaselineDocument {
        branch: baseline.branch.to_string(),
        commit: baseline.commit.to_string(),
        command: baseline.command.as_ref().map(ToString::to_string),
        at: baseline.at.to_string(),
        by: baseline.by.to_string(),
        ahead,
        next_start: ground.base().to_string(),
    }
}

/// Where HEAD is, and what that means for the next attempt.
fn far(distance: &Distance) -> String {
    match distance {
        Distance::None => String::new(),
        Distance::Elsewhere => {
            " HEAD does not contain it, and the next attempt starts at HEAD.".to_owned()
        }
        Distance::Ahead {
            commits,
            unfinished: None,
        } => format!(" HEAD is {commits} ahead, unverified; the next attempt starts there."),
        Distance::Ahead {
            commits,
            unfinished: Some(task),
        } => format!(
            " HEAD is {commits} ahead, unverified, with work of `{task}`, which is not done; the next attempt starts at the baseline."
        ),
    }
}
