//! The scene of the fan-out: four agents at once, of which one takes what is not its own and one crashes.

use handoff_api::ExitCode;
use handoff_operations::Failure;

use super::stage::{Stage, finish};
use super::{heading, tell};
use crate::context::Context;
use crate::output::plain;

/// Work spreads and comes together again, and what went wrong stays outside.
pub(super) fn spread(stage: &mut Stage, ctx: &mut Context) -> Result<(), Failure> {
    heading(
        ctx,
        "4. Four agents at once: one takes what is not its own, one crashes",
    )?;
    stage.handoff(&["dump", "--open-batch", "../greetings.batch.toml"])?;
    let crew = stage.start_crew("greetings.toml")?;
    // Not everything is well, and the worker says so.
    finish(crew, ExitCode::CheckFailed)?;
    // A batch has a view of its own; its events would fill a page.
    let mut desk = stage.desk()?;
    let recorded = stage.news(&mut *desk.store)?.len();
    let shown = stage.handoff(&["batch", "show", "greetings"])?;
    for line in shown.lines() {
        tell(ctx, "  ", &plain(line))?;
    }
    let refused = stage.handoff(&["logs", "--id", "greetings.dutch-1"])?;
    tell(
        ctx,
        "\n  ",
        "dutch also wanted to commit that, and was told:\n",
    )?;
    for line in refused.lines() {
        tell(ctx, "    | ", &plain(line))?;
    }
    tell(
        ctx,
        "          ",
        &format!(
            "\n{recorded} events later the tool has brought together what was good, on a branch of its own:\n"
        ),
    )?;
    let log = [
        "log",
        "--format=%h %s",
        "handoff/greetings",
        "--not",
        "main",
    ];
    for line in stage.git(&log)?.lines() {
        tell(ctx, "  ", line)?;
    }
    let files = stage.git(&["diff", "--name-only", "main", "handoff/greetings"])?;
    let files: Vec<_> = files.lines().collect();
    tell(
        ctx,
        "\n  ",
        &format!("It differs from main in {}.", files.join(" and ")),
    )
}
