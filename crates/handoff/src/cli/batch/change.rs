//! `handoff batch retry` and `handoff batch cancel`.

use handoff_api::{BatchReceipt, ExitCode};
use handoff_core::batch::BatchCommand;
use handoff_core::task::Reason;
use handoff_core::{Action, PartName};
use handoff_operations::batch::view;
use handoff_operations::project::Recorded;
use handoff_operations::{Failure, Project};
use handoff_store::queue::{Answer, BatchRef, Change};
use handoff_store::{read, tasks};

use crate::cli::baton;
use crate::cli::queue::KeyArg;
use crate::confirmation::{Destruction, YesArg, confirm};
use crate::context::Context;
use crate::output::Tone;

#[derive(Debug, clap::Args)]
pub(crate) struct RetryArgs {
    /// Its name or id.
    batch: String,
    /// Only these parts, what they need, and what waits for them.
    parts: Vec<PartName>,
    #[command(flatten)]
    key: KeyArg,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CancelArgs {
    /// Its name or id.
    batch: String,
    /// Why.
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<Reason>,
    #[command(flatten)]
    yes: YesArg,
    #[command(flatten)]
    key: KeyArg,
}

pub(super) fn retry(args: RetryArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let command = BatchCommand::Retry { parts: args.parts };
    change(&args.batch, command, args.key, ctx)
}

pub(super) fn cancel(args: CancelArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    confirm_running(&args, ctx)?;
    let command = BatchCommand::Cancel {
        reason: args.reason,
    };
    change(&args.batch, command, args.key, ctx)
}

/// Nobody is asked about a batch of which nothing is worked on, nor about one that is not there.
fn confirm_running(args: &CancelArgs, ctx: &mut Context) -> Result<(), Failure> {
    let mut desk = Project::open(ctx)?;
    desk.caller.may(Action::Steer)?;
    let batch = match desk.batch(&args.batch) {
        Ok(batch) => batch,
        Err(missing) if missing.code == ExitCode::NotFound => return Ok(()),
        Err(failure) => return Err(failure),
    };
    let tasks = read(&mut *desk.store, |tx| tasks::of_batch(tx, batch.id))?;
    let running = tasks.iter().filter(|it| it.state.lease().is_some());
    match running.count() {
        0 => Ok(()),
        count => {
            let what = Destruction::RunningBatch(batch.spec.name, count);
            confirm(&what, args.yes, ctx)
        }
    }
}

fn change(
    batch: &str,
    command: BatchCommand,
    key: KeyArg,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    let batch = desk.batch_ref(batch)?;
    let recorded = desk.submit(Change::Batch { batch, command }, key.key)?;
    if let Answer::Batch(batch) = &recorded.receipt.answer {
        baton::write_batch(&mut desk, batch, ctx);
    }
    let shown = tell(&mut desk, &recorded, ctx);
    shown.map_err(|failure| recorded.untold(failure))
}

/// Says what became of a batch.
pub(super) fn tell(
    desk: &mut Project,
    recorded: &Recorded,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let Answer::Batch(batch) = &recorded.receipt.answer else {
        return Err(Failure::new(
            ExitCode::Internal,
            "the answer is not a batch",
        ));
    };
    let known = view::calibration(desk)?;
    let look = view::take(desk, &BatchRef::Id(batch.id), &known)?;
    let is_repeat = recorded.receipt.is_repeat;
    if ctx.out.is_json() {
        let receipt = BatchReceipt {
            batch: look.document,
            key: recorded.key.to_string(),
            is_repeat,
        };
        ctx.out.document(BatchReceipt::SCHEMA, receipt)?;
        return Ok(ExitCode::Done);
    }
    let again = if is_repeat {
        " (it was so already)"
    } else {
        ""
    };
    let document = look.document;
    let name = ctx.out.styled(Tone::Strong, &document.name);
    let parts = document.parts.len();
    ctx.out.line(format!(
        "{name} is {}: {} of {parts} parts done{again}",
        document.state, document.done
    ))?;
    Ok(ExitCode::Done)
}
