//! `handoff baseline`.

use std::ffi::OsString;

use handoff_api::{BaselineDocument, ExitCode};
use handoff_core::Action;
use handoff_git::baseline::Baseline;
use handoff_git::{Git, GitError, Repository};
use handoff_process::{Exit, Program, output};

use crate::context::Context;
use crate::desk;
use crate::failure::Failure;
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
    let repository = desk::discover(ctx)?;
    let git = Git::new(ctx.ambient.environment.clone());
    let branch = branch(&repository)?;
    match command {
        Command::Show => {}
        Command::Set { commit } => {
            let name = commit.as_deref().unwrap_or("HEAD");
            set(&git, &repository, &branch, name, None, ctx)?;
        }
        Command::Verify { command } => verify(&git, &repository, &branch, command, ctx)?,
    }
    match git
        .baseline(&repository, &branch)
        .map_err(|error| failed(&error))?
    {
        Some(baseline) => report(&baseline, ctx),
        None => Err(Failure::new(
            ExitCode::NotFound,
            format!("`{branch}` has no baseline yet"),
        )
        .hint("make one: `handoff baseline verify -- COMMAND`")),
    }
}

fn failed(error: &GitError) -> Failure {
    Failure::of(ExitCode::Failed, error)
}

fn branch(repository: &Repository) -> Result<String, Failure> {
    let head = repository
        .read_head()
        .map_err(|error| Failure::of(ExitCode::Failed, &error))?;
    let branch = head
        .branch
        .and_then(|branch| Some(branch.strip_prefix("refs/heads/")?.to_owned()));
    branch.ok_or_else(|| Failure::new(ExitCode::Conflict, "no branch is checked out here"))
}

fn set(
    git: &Git,
    repository: &Repository,
    branch: &str,
    name: &str,
    command: Option<String>,
    ctx: &Context,
) -> Result<(), Failure> {
    let caller = desk::caller(&ctx.ambient)?;
    caller.may(Action::Steer)?;
    let unknown = || Failure::new(ExitCode::NotFound, format!("there is no commit {name:?}"));
    let commit = match name.starts_with('-') {
        true => None,
        false => git
            .commit_named(repository, name)
            .map_err(|error| failed(&error))?,
    };
    let baseline = Baseline {
        branch: branch.to_owned(),
        commit: commit.ok_or_else(unknown)?,
        command,
        at: Some(ctx.clock()?.now().wall),
        by: caller.to_string(),
    };
    git.set_baseline(repository, &baseline)
        .map_err(|error| failed(&error))
}

/// What is verified must be the commit, and not an edit that is not in it.
fn verify(
    git: &Git,
    repository: &Repository,
    branch: &str,
    command: &[OsString],
    ctx: &mut Context,
) -> Result<(), Failure> {
    let dirty = || -> Result<Vec<String>, Failure> {
        Ok(git
            .status(repository)
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
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    set(git, repository, branch, name, Some(words.join(" ")), ctx)
}

fn report(baseline: &Baseline, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        let document = BaselineDocument {
            branch: baseline.branch.clone(),
            commit: baseline.commit.to_string(),
            command: baseline.command.clone(),
            at: baseline.at.map(|at| at.to_string()),
            by: baseline.by.clone(),
        };
        ctx.out.document(BaselineDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let how = match &baseline.command {
        Some(command) => format!("`{}` succeeded", plain(command)),
        None => "they said so".to_owned(),
    };
    let at = baseline
        .at
        .map_or_else(String::new, |at| format!(" at {at:.0}"));
    ctx.out.line(format!(
        "{:.10} on {}: {how}, by {}{at}.",
        baseline.commit.as_str(),
        plain(&baseline.branch),
        plain(&baseline.by)
    ))?;
    Ok(ExitCode::Done)
}
