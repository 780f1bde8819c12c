//! What a person decides about a run: `approve`, `reject`, and `workflow retry`, `cancel`.

use handoff_api::ExitCode;
use handoff_core::PhaseName;
use handoff_core::caller::Action;
use handoff_core::run::{RunCommand, RunState};
use handoff_core::task::{Part, Reason};
use handoff_operations::{Failure, Project, project};
use handoff_store::queue::{Change, RunRef};
use handoff_store::{read, tasks};

use super::ending::AtWork;
use super::status;
use crate::cli::queue::KeyArg;
use crate::confirmation::{Destruction, YesArg, confirm};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// Its name or id.
    pub(super) run: String,
    #[command(flatten)]
    pub(super) key: KeyArg,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ApproveArgs {
    /// The name or id of the run.
    run: String,
    #[command(flatten)]
    key: KeyArg,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RejectArgs {
    /// The name or id of the run.
    run: String,
    /// Why: the next attempt reads it.
    #[arg(long, short, value_name = "TEXT")]
    reason: Reason,
    #[command(flatten)]
    key: KeyArg,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RetryArgs {
    /// Its name or id.
    run: String,
    /// Begin again with this phase; what was proved from there on is undone.
    #[arg(long, value_name = "PHASE")]
    from: Option<PhaseName>,
    #[command(flatten)]
    key: KeyArg,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CancelArgs {
    /// Its name or id.
    run: String,
    /// Why.
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<Reason>,
    #[command(flatten)]
    yes: YesArg,
    #[command(flatten)]
    key: KeyArg,
}

pub(crate) fn approve(args: ApproveArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    project::require_person(Action::Approve, &ctx.ambient)?;
    change(&args.run, RunCommand::Approve, args.key, ctx)
}

pub(crate) fn reject(args: RejectArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    project::require_person(Action::Approve, &ctx.ambient)?;
    let reason = args.reason;
    change(&args.run, RunCommand::Reject { reason }, args.key, ctx)
}

pub(super) fn retry(args: RetryArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let from = args.from;
    change(&args.run, RunCommand::Retry { from }, args.key, ctx)
}

pub(super) fn cancel(args: CancelArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    confirm_running(&args, ctx)?;
    let reason = args.reason;
    change(&args.run, RunCommand::Cancel { reason }, args.key, ctx)
}

/// Nobody is asked about a run that nobody works on, nor about one that is not there.
fn confirm_running(args: &CancelArgs, ctx: &mut Context) -> Result<(), Failure> {
    let mut desk = Project::open(ctx)?;
    desk.caller.may(Action::Steer)?;
    let run = match desk.run(&args.run) {
        Ok(run) => run,
        Err(missing) if missing.code == ExitCode::NotFound => return Ok(()),
        Err(failure) => return Err(failure),
    };
    let project = desk.id;
    let running = read(&mut *desk.store, |tx| tasks::handed_out(tx, project))?;
    if running
        .iter()
        .any(|it| it.spec.part.and_then(Part::run) == Some(run.id))
    {
        return confirm(&Destruction::Run(run.spec.name), args.yes, ctx);
    }
    Ok(())
}

fn change(
    run: &str,
    command: RunCommand,
    key: KeyArg,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    let known = desk.run(run)?;
    let at_work = AtWork::of(&known, &mut desk)?;
    let run = RunRef::Id(known.id);
    let recorded = desk.submit(Change::Run { run, command }, key.key)?;
    let run = recorded.receipt.answer.clone().into_run();
    let run = run.ok_or_else(|| Failure::new(ExitCode::Internal, "the answer is not a run"))?;
    at_work.end(&mut desk, ctx)?;
    drop(desk);
    let shown = status::document(&run, ctx).and_then(|it| status::tell(&it, ctx));
    let shown = shown.and_then(|code| {
        if matches!(
            run.state,
            RunState::Working { .. } | RunState::FannedOut { .. }
        ) {
            let name = &run.spec.name;
            ctx.out.note(format!(
                "A worker takes it from here, or `handoff workflow resume {name}`."
            ))?;
        }
        Ok(code)
    });
    shown.map_err(|failure| recorded.untold(failure))
}
