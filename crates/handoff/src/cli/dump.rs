//! `handoff dump`: the baton for the next session, in its single-task form.

use clap::ValueEnum;
use handoff_api::ExitCode;
use handoff_core::task::{Brief, Command, Reason, Summary, TaskSpec, VerifyCommand};
use handoff_core::{TaskId, TaskName};
use handoff_store::queue::{Change, TaskRef};

use super::queue::{KeyArg, change_task};
use crate::context::Context;
use crate::desk::{Desk, fence};
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The task.
    #[arg(long, value_name = "NAME")]
    task: TaskName,
    /// What the next session is to do; for a task that is done or blocked, what was done or what is needed.
    #[arg(long, value_name = "TEXT")]
    next: String,
    /// Whether the task is to be done, is done, or cannot go on without a person.
    #[arg(long, value_enum, default_value_t = Status::Active)]
    status: Status,
    /// A shell command whose success proves the work.
    #[arg(long, value_name = "COMMAND")]
    verify: Option<VerifyCommand>,
    /// The fence of your lease, when the task is leased.
    #[arg(long, value_name = "NUMBER")]
    fence: Option<u64>,
    #[command(flatten)]
    key: KeyArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Status {
    Active,
    Done,
    Blocked,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if args.verify.is_some() && args.status != Status::Active {
        return Err(Failure::usage(
            "`--verify` goes with `--status active` only",
        ));
    }
    let mut desk = Desk::open(ctx)?;
    let named = TaskRef::Named {
        project: desk.project,
        name: args.task.clone(),
    };
    let fence = fence(ctx, args.fence);
    let bad = |error: handoff_core::task::TextError| Failure::usage(error.to_string());
    let (change, verb) = match args.status {
        Status::Active => {
            let brief = Brief::try_from(args.next).map_err(bad)?;
            let id = TaskId::from_uuid(handoff_process::mint());
            let spec = spec(args.task, brief, args.verify);
            (
                Change::Add {
                    id,
                    project: desk.project,
                    spec,
                },
                "dumped",
            )
        }
        Status::Done => {
            let summary = Some(Summary::try_from(args.next).map_err(bad)?);
            (
                Change::Tell {
                    task: named,
                    command: Command::Complete { fence, summary },
                },
                "completed",
            )
        }
        Status::Blocked => {
            let reason = Reason::try_from(args.next).map_err(bad)?;
            (
                Change::Tell {
                    task: named,
                    command: Command::Block { fence, reason },
                },
                "blocked",
            )
        }
    };
    change_task(&mut desk, change, args.key, verb, ctx)
}

fn spec(name: TaskName, brief: Brief, verify: Option<VerifyCommand>) -> TaskSpec {
    TaskSpec {
        verify,
        ..TaskSpec::new(name, brief)
    }
}
