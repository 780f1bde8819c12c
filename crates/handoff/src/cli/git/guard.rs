//! `handoff git-guard`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use handoff_api::{ExitCode, GuardDocument, GuardVerdictDocument};
use handoff_core::caller::{Action, Role};
use handoff_git::guard::Verdict;
use handoff_guard::shim as link;
use handoff_operations::Failure;
use handoff_operations::guard_place::{BASH, GuardPlace, quoted};
use handoff_operations::project::require_person;

use crate::context::Context;
use crate::membership::Membership;
use crate::output::plain;
use crate::shim;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make the guard, for sessions to have first in PATH.
    Install,
    /// Remove it.
    Uninstall,
    /// Say whether it is there, and whether it is what `git` means here.
    Status,
    /// Print the lines that put it first in PATH, for a shell: `eval "$(handoff git-guard env)"`.
    Env,
    /// Say what the guard would say to a git command, without running it.
    Explain(ExplainArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// Ask for this role instead of one's own.
    #[arg(long, value_name = "ROLE")]
    role: Option<Role>,
    /// What would follow `git`.
    #[arg(last = true, required = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

pub(super) fn run(command: &Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let place = GuardPlace::of(ctx)?;
    match command {
        Command::Install => place.install(ctx)?,
        Command::Uninstall => {
            require_person(Action::Destroy, &ctx.ambient)?;
            place.uninstall()?;
        }
        Command::Status => {}
        Command::Env => return env(&place, ctx),
        Command::Explain(args) => return explain(args, ctx),
    }
    report(&place, ctx)
}

fn env(place: &GuardPlace, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if !place.is_installed() {
        return Err(
            Failure::new(ExitCode::NotFound, "the guard is not installed")
                .hint("make it first: `handoff git-guard install`"),
        );
    }
    let shown = |path: PathBuf| quoted(&path.to_string_lossy());
    let keep = |variable: &str| {
        let value = ctx.ambient.text(variable);
        let value = value.filter(|it| !Path::new(it).starts_with(&place.root));
        format!(
            "export HANDOFF_{variable}={}",
            quoted(value.unwrap_or_default())
        )
    };
    let lines = [
        keep("BASH_ENV"),
        keep("ZDOTDIR"),
        format!("export PATH={}:\"$PATH\"", shown(place.bin())),
        format!("export BASH_ENV={}", shown(place.root.join(BASH))),
        format!("export ZDOTDIR={}", shown(place.root.join("zsh"))),
    ];
    if ctx.out.is_json() {
        report(place, ctx)?;
    } else {
        ctx.out.line(lines.join("\n"))?;
    }
    Ok(ExitCode::Done)
}

fn explain(args: &ExplainArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let role = args.role;
    let own = Membership::find(&ctx.ambient);
    let membership = match (role, own) {
        (Some(role), _) => Membership {
            role,
            session: None,
            task: None,
        },
        (None, Some(own)) => own,
        (None, None) => {
            return Err(
                Failure::usage("outside of a session the guard says nothing")
                    .hint("name a role: `handoff git-guard explain --role sub-task -- commit`"),
            );
        }
    };
    let verdict = shim::verdict(&ctx.ambient, &membership, &args.arguments);
    let (refused, instead) = match &verdict {
        Verdict::Allowed => (None, None),
        Verdict::Refused { what, instead } => (Some(what.clone()), Some(*instead)),
    };
    if ctx.out.is_json() {
        let document = GuardVerdictDocument {
            is_allowed: refused.is_none(),
            refused: refused.clone(),
            instead,
        };
        ctx.out.document(GuardVerdictDocument::SCHEMA, document)?;
    } else {
        ctx.out.line(match (&refused, instead) {
            (Some(what), Some(instead)) => format!("Refused: `git {}`: {instead}.", plain(what)),
            _ => "Allowed.".to_owned(),
        })?;
    }
    Ok(if refused.is_some() {
        ExitCode::Guarded
    } else {
        ExitCode::Done
    })
}

fn report(place: &GuardPlace, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let path = ctx.ambient.variable("PATH").unwrap_or_default().to_owned();
    let first = std::env::split_paths(&path).find(|it| it.join("git").exists());
    let document = GuardDocument {
        is_installed: place.is_installed(),
        is_current: place.is_current(),
        directory: place.bin().display().to_string(),
        is_first: first.is_some_and(|it| it == place.bin()),
        git: link::real_git(&path).map(|git| git.display().to_string()),
    };
    if ctx.out.is_json() {
        ctx.out.document(GuardDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let directory = plain(&document.directory);
    ctx.out.line(match (document.is_installed, document.is_first) {
        (true, _) if !document.is_current => format!(
            "The guard in `{directory}` is of another version: `handoff git-guard install` makes it anew."
        ),
        (false, _) => "The guard is not installed: `handoff git-guard install`.".to_owned(),
        (true, true) => format!("The guard in `{directory}` is what `git` means here."),
        (true, false) => format!(
            "The guard is in `{directory}`, and not what `git` means here: `eval \"$(handoff git-guard env)\"` changes that for a shell."
        ),
    })?;
    Ok(ExitCode::Done)
}
