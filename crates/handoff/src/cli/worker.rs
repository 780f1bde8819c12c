//! `handoff worker`: takes ready tasks down the road. For now one at a time, and only with the built-in agent.

use std::path::PathBuf;

use handoff_agents::Agent;
use handoff_api::{ExitCode, WalkedDocument};
use handoff_core::Action;
use handoff_engine::{Ending, Launch, Walked, reconcile, walk_next};
use handoff_store::StoreError;

use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;
use crate::output::{Tone, one_line, plain};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Take one task, then stop. (A worker that stays comes with sessions.)
    #[arg(long, required = true)]
    once: bool,
    /// The script that the built-in agent plays.
    #[arg(long, value_name = "PATH")]
    script: PathBuf,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let program = ctx
        .ambient
        .program
        .clone()
        .ok_or_else(|| Failure::failed("cannot find this program"))?;
    let script = std::path::absolute(&args.script).map_err(|error| {
        Failure::failed(format!("cannot find `{}`", args.script.display())).because(&error)
    })?;
    // A script that cannot be played would cost the task an attempt.
    handoff_scripted::load(&script).map_err(|error| {
        Failure::usage("`--script` names nothing that can be played").because(&error)
    })?;
    let scripted = Agent::built_in(Agent::SCRIPTED).expect("it is built in");
    let launch = Launch {
        argv: scripted.argv(&program, &[script.into_os_string()]),
    };
    let mut desk = Desk::open(ctx)?;
    desk.caller.may(Action::Claim).map_err(StoreError::from)?;
    let clock = ctx.clock()?;
    let mut workshop = desk.workshop(ctx, &*clock);
    let repaired = reconcile::all(&mut workshop)?;
    for (path, error) in &repaired.stuck {
        let why = one_line(&error.to_string());
        ctx.out.note(format!(
            "The worktree `{}` stays as it is: {why}.",
            path.display()
        ))?;
    }
    let walked = walk_next(&mut workshop, &launch).map_err(|error| {
        Failure::from(error).hint("the task was given back; look at it with `handoff queue list`")
    })?;
    show(walked.as_ref(), ctx)
}

fn show(walked: Option<&Walked>, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let (code, ending, reason) = match walked.map(|walked| &walked.ending) {
        None => (ExitCode::NothingReady, "nothing_ready", None),
        Some(Ending::Done) => (ExitCode::Done, "done", None),
        Some(Ending::Failed(reason)) => (ExitCode::CheckFailed, "failed", Some(reason.as_str())),
        Some(Ending::Blocked(reason)) => (ExitCode::CheckFailed, "blocked", Some(reason.as_str())),
    };
    let task = walked.map(|walked| walked.name.as_str());
    if ctx.out.is_json() {
        ctx.out.document(
            WalkedDocument::SCHEMA,
            WalkedDocument {
                task,
                ending,
                reason,
            },
        )?;
        return Ok(code);
    }
    let Some(task) = task else {
        ctx.out.note("Nothing is ready to be claimed.")?;
        return Ok(code);
    };
    let tone = if code == ExitCode::Done {
        Tone::Good
    } else {
        Tone::Bad
    };
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", plain(reason)));
    let line = format!("{task} is {}{reason}", ctx.out.styled(tone, ending));
    ctx.out.line(line)?;
    Ok(code)
}
