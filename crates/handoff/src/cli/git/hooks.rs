//! `handoff hooks`.

use handoff_api::{ExitCode, ForeignMoveDocument, HooksDocument, HooksWord};
use handoff_core::{Action, SessionName};
use handoff_git::Git;
use handoff_git::hooks::{HooksError, HooksState};
use handoff_git::ref_watch::ForeignMove;
use handoff_operations::{Failure, project, ref_monitor};

use crate::context::Context;
use crate::output::plain;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Put our hooks in front of those of this repository, which go on working.
    Install,
    /// Take them away again, without a trace.
    Uninstall,
    /// Say whether they are what git runs, and which refs moved past them.
    Status,
    /// From now on, notice refs that move past the hooks, as long as this session lives.
    Watch(WatchArgs),
    /// This session is over.
    Unwatch(WatchArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    /// What the session is called.
    session: SessionName,
}

pub(super) fn run(command: &Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if matches!(command, Command::Uninstall | Command::Unwatch(_)) {
        project::require_person(Action::Destroy, &ctx.ambient)?;
    }
    let repository = project::discover(ctx)?;
    let git = Git::new(ctx.ambient.environment.clone());
    match command {
        Command::Install => {
            let program = ctx.ambient.program.clone();
            let program =
                program.ok_or_else(|| Failure::failed("cannot tell where this program is"))?;
            git.install_hooks(&repository, &program)
                .map_err(|error| failed(&error))?;
        }
        Command::Uninstall => drop(
            git.uninstall_hooks(&repository)
                .map_err(|error| failed(&error))?,
        ),
        Command::Watch(args) => git
            .begin_ref_watch(&repository, args.session.as_str())
            .map_err(|error| Failure::of(ExitCode::Failed, &error))?,
        Command::Unwatch(args) => repository
            .end_ref_watch(args.session.as_str())
            .map_err(|error| Failure::failed("cannot end the watch").because(&error))?,
        Command::Status => {}
    }
    let foreign = ref_monitor::look(&repository, ctx)?;
    let state = git
        .hooks_state(&repository)
        .map_err(|error| failed(&error))?;
    report(&state, &foreign, ctx)?;
    let is_troubled = matches!(
        state,
        HooksState::Displaced { .. } | HooksState::Overridden { .. }
    ) || !foreign.is_empty();
    Ok(match command {
        Command::Status if is_troubled => ExitCode::CheckFailed,
        Command::Install
        | Command::Uninstall
        | Command::Status
        | Command::Watch(_)
        | Command::Unwatch(_) => ExitCode::Done,
    })
}

fn failed(error: &HooksError) -> Failure {
    let failure = Failure::of(ExitCode::Failed, error);
    match error {
        HooksError::Overridden(_) => failure.hint(
            "give the setting to the whole repository, and install again: `git config --worktree --unset core.hooksPath`, `git config core.hooksPath …`",
        ),
        HooksError::Git(_)
        | HooksError::Directory(_)
        | HooksError::Write(_)
        | HooksError::Remove(..) => failure,
    }
}

fn report(state: &HooksState, foreign: &[ForeignMove], ctx: &mut Context) -> Result<(), Failure> {
    let (word, directory) = match state {
        HooksState::Absent => (HooksWord::Absent, None),
        HooksState::Installed { chain } => (HooksWord::Installed, Some(chain)),
        HooksState::Displaced { by } => (HooksWord::Displaced, Some(by)),
        HooksState::Overridden { by } => (HooksWord::Overridden, Some(by)),
    };
    let directory = directory.map(|path| path.display().to_string());
    if ctx.out.is_json() {
        let document = HooksDocument {
            state: word,
            directory,
            foreign: foreign.iter().map(document).collect(),
        };
        ctx.out.document(HooksDocument::SCHEMA, document)?;
        return Ok(());
    }
    let directory = plain(&directory.unwrap_or_default());
    ctx.out.line(match state {
        HooksState::Absent => {
            "Our hooks are not installed in this repository: `handoff hooks install`.".to_owned()
        }
        HooksState::Installed { .. } => format!(
            "Our hooks are installed. Outside of our sessions they do nothing but call those in `{directory}`."
        ),
        HooksState::Displaced { .. } => format!(
            "Our hooks were installed, but git runs those in `{directory}` now: `handoff hooks install` puts ours in front again."
        ),
        HooksState::Overridden { .. } => format!(
            "Our hooks are installed, but in this worktree alone git runs those in `{directory}`: `git config --worktree --unset core.hooksPath` changes that."
        ),
    })?;
    for it in foreign {
        ctx.out.note(ref_monitor::told(it))?;
    }
    Ok(())
}

fn document(it: &ForeignMove) -> ForeignMoveDocument {
    ForeignMoveDocument {
        name: it.moved.name.clone(),
        old: it.moved.old.clone(),
        new: it.moved.new.clone(),
        sessions: it.sessions.clone(),
    }
}
