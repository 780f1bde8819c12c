//! `handoff context`: keyed JSON values that sessions leave for each other.

mod change;
mod look;

use clap::Subcommand;
use handoff_api::ExitCode;
use handoff_core::{Caller, ContextScope, RunId, SessionId, TaskId};
use handoff_operations::{Failure, Project};
use handoff_store::queue::TaskRef;
use handoff_store::{read, tasks};

use super::errand::Reading;
use crate::context::Context;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Write a value.
    Set(change::SetArgs),
    /// Print a value.
    Get(look::GetArgs),
    /// Show the values, or those whose key matches a pattern.
    List(look::ListArgs),
    /// Take a key out. Its history stays.
    Rm(change::RmArgs),
    /// Show what a key had before, and who wrote it.
    History(look::HistoryArgs),
}

impl Command {
    /// What it reads; all of them are done for a session in a sandbox.
    pub(super) fn reading(&self) -> Reading {
        match self {
            Self::Set(args) if args.is_from_stdin() => Reading::Input,
            Self::Set(_) | Self::Get(_) | Self::List(_) | Self::Rm(_) | Self::History(_) => {
                Reading::Nothing
            }
        }
    }
}

pub(super) fn run(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::Set(args) => change::set(args, ctx),
        Command::Get(args) => look::get(&args, ctx),
        Command::List(args) => look::list(&args, ctx),
        Command::Rm(args) => change::rm(args, ctx),
        Command::History(args) => look::history(&args, ctx),
    }
}

/// Whose context is meant: of the task or session one works in, else of the project.
#[derive(Debug, Default, clap::Args)]
pub(super) struct ScopeArg {
    /// Of this task, by name or id.
    #[arg(long, value_name = "TASK", conflicts_with = "session")]
    task: Option<String>,
    /// Of this session, by its id.
    #[arg(long, value_name = "SESSION")]
    session: Option<SessionId>,
    /// Of this run of a workflow, by name or id.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["task", "session"])]
    run: Option<String>,
    /// One that need not be there yet.
    #[arg(skip)]
    exact: Option<ContextScope>,
    /// Of the whole project, also from within a session.
    #[arg(long, conflicts_with_all = ["task", "session", "run"])]
    project: bool,
}

impl ScopeArg {
    /// Of this task.
    pub(super) fn of_task(task: TaskId) -> Self {
        Self {
            task: Some(task.to_string()),
            ..Self::default()
        }
    }

    /// Of this session.
    pub(super) fn of_session(session: SessionId) -> Self {
        Self {
            session: Some(session),
            ..Self::default()
        }
    }

    /// Of this run, also before it is known here.
    pub(super) fn of_run(run: RunId) -> Self {
        Self {
            exact: Some(ContextScope::Run(run)),
            ..Self::default()
        }
    }

    pub(super) fn resolve(&self, desk: &mut Project) -> Result<ContextScope, Failure> {
        if let Some(scope) = self.exact {
            return Ok(scope);
        }
        if let Some(session) = self.session {
            return Ok(ContextScope::Session(session));
        }
        if let Some(run) = &self.run {
            return Ok(ContextScope::Run(desk.run(run)?.id));
        }
        if let Some(task) = &self.task {
            let task = desk.task_ref(task)?;
            let found = read(&mut *desk.store, |tx| match &task {
                TaskRef::Id(id) => tasks::get(tx, *id),
                TaskRef::Named { project, name } => tasks::named(tx, *project, name),
            })?;
            return Ok(ContextScope::Task(found.id));
        }
        Ok(match &desk.caller {
            Caller::Session {
                task: Some(task), ..
            } if !self.project => ContextScope::Task(*task),
            Caller::Session { session, .. } if !self.project => ContextScope::Session(*session),
            Caller::Person
            | Caller::Worker
            | Caller::Reconciler
            | Caller::Check
            | Caller::Unknown
            | Caller::Session { .. } => ContextScope::Project(desk.id),
        })
    }
}
