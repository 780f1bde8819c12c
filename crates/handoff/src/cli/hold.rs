//! `handoff hold` and `handoff unhold`.

use handoff_api::{ExitCode, HoldDocument, HoldReceipt};
use handoff_core::HoldScope;
use handoff_core::task::{Command, Reason};
use handoff_operations::{Failure, Project};
use handoff_store::queue::{Answer, Change};

use super::queue::{KeyArg, change_task};
use crate::context::Context;

/// What to hold: this project, unless something else is named.
#[derive(Debug, clap::Args)]
struct Scope {
    /// Only this task, by name or id.
    task: Option<String>,
    /// Only this batch, by name or id.
    #[arg(long, value_name = "BATCH", conflicts_with = "task")]
    batch: Option<String>,
    /// All projects of the store.
    #[arg(long, conflicts_with_all = ["task", "batch"])]
    everything: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct HoldArgs {
    #[command(flatten)]
    scope: Scope,
    /// Why.
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<Reason>,
    #[command(flatten)]
    key: KeyArg,
}

#[derive(Debug, clap::Args)]
pub(super) struct UnholdArgs {
    #[command(flatten)]
    scope: Scope,
    #[command(flatten)]
    key: KeyArg,
}

pub(super) fn hold(args: HoldArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    if let Some(task) = &args.scope.task {
        let command = Command::Hold {
            reason: args.reason,
        };
        let change = Change::Tell {
            task: desk.task_ref(task)?,
            command,
        };
        return change_task(&mut desk, change, args.key, "held", ctx);
    }
    let scope = args.scope.above(&mut desk)?;
    change_hold(
        &mut desk,
        Change::Hold {
            scope,
            reason: args.reason,
        },
        args.key,
        ctx,
    )
}

pub(super) fn unhold(args: UnholdArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    if let Some(task) = &args.scope.task {
        let change = Change::Tell {
            task: desk.task_ref(task)?,
            command: Command::Unhold,
        };
        return change_task(&mut desk, change, args.key, "unheld", ctx);
    }
    let scope = args.scope.above(&mut desk)?;
    change_hold(&mut desk, Change::Unhold { scope }, args.key, ctx)
}

impl Scope {
    fn above(&self, desk: &mut Project) -> Result<HoldScope, Failure> {
        match &self.batch {
            Some(batch) => desk.batch(batch).map(|it| HoldScope::Batch(it.id)),
            None if self.everything => Ok(HoldScope::Everything),
            None => Ok(HoldScope::Project(desk.id)),
        }
    }
}

fn change_hold(
    desk: &mut Project,
    change: Change,
    key: KeyArg,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let recorded = desk.submit(change, key.key)?;
    let receipt = &recorded.receipt;
    let Answer::Hold { scope, hold } = &receipt.answer else {
        return Err(Failure::new(ExitCode::Internal, "the answer is not a hold"));
    };
    if ctx.out.is_json() {
        let hold = HoldDocument::on(*scope, hold.as_ref());
        let (key, is_repeat) = (recorded.key.to_string(), receipt.is_repeat);
        let receipt = HoldReceipt {
            hold,
            key,
            is_repeat,
        };
        ctx.out.document(HoldDocument::SCHEMA, receipt)?;
        return Ok(ExitCode::Done);
    }
    let what = capitalised(scope.in_words());
    ctx.out.line(match hold {
        Some(_) => format!("{what} is held: no work is handed out, what runs goes on."),
        None if *scope == HoldScope::Everything => {
            "The hold on everything is gone: work is handed out.".to_owned()
        }
        None => format!("{what} is not held: work is handed out."),
    })?;
    Ok(ExitCode::Done)
}

fn capitalised(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}
