//! `handoff demo`: the whole road once, in a scratch repository, with the built-in agent and the real ledger.
//!
//! It is a story in seven scenes. What is told is read back from the ledger and from git, never made up: each line of a
//! scene is an event that was recorded.

mod fan_out;
mod feature;
mod scene;
mod stage;
mod workflow;

use handoff_api::ExitCode;
use handoff_operations::Failure;

use crate::context::Context;
use crate::output::Tone;
use stage::Stage;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Keep the scratch directory, to look around in it.
    #[arg(long)]
    keep: bool,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        return Err(Failure::usage("the demo is a story for people and has no JSON form")
            .hint("keep its ledger with `handoff demo --keep`, and read it there with `handoff events --json`"));
    }
    let mut stage = Stage::set(ctx)?;
    tell(
        ctx,
        "",
        "A scratch repository, a scratch ledger, and an agent that plays a script.",
    )?;
    scene::first_task(&mut stage, ctx)?;
    scene::killed_in_the_middle(&mut stage, ctx)?;
    scene::repaired_and_finished(&mut stage, ctx)?;
    fan_out::spread(&mut stage, ctx)?;
    feature::carried_on(&mut stage, ctx)?;
    workflow::test_by_test(&mut stage, ctx)?;
    scene::what_is_left(&mut stage, ctx)?;
    if args.keep {
        let place = stage.keep();
        tell(
            ctx,
            "",
            &format!(
                "Look around: cd {0}/repo && HANDOFF_HOME={0}/state handoff queue list --all",
                place.display()
            ),
        )?;
    }
    Ok(ExitCode::Done)
}

/// A line of the story.
fn tell(ctx: &mut Context, mark: &str, text: &str) -> Result<(), Failure> {
    let mark = ctx.out.styled(Tone::Faint, mark);
    Ok(ctx.out.line(format!("{mark}{text}"))?)
}

/// The beginning of a scene.
fn heading(ctx: &mut Context, text: &str) -> Result<(), Failure> {
    let text = ctx.out.styled(Tone::Strong, text);
    Ok(ctx.out.line(format!("\n{text}"))?)
}
