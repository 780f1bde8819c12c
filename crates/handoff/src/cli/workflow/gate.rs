//! What a person sees at a gate: what changed, file by file, and how to see all of it.

use handoff_core::run::{Run, RunState};

use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;
use crate::output::{cut, one_line, plain};

/// The parts into which the work is split when a person agrees.
fn show_split(run: &Run, ctx: &mut Context) -> Result<(), Failure> {
    let Some(Ok(manifest)) = run.batch_manifest() else {
        return Ok(());
    };
    ctx.out.line(format!(
        "  The work is to be split into batch {}:",
        manifest.name
    ))?;
    for part in &manifest.parts {
        let owns: Vec<_> = part
            .owns
            .patterns()
            .iter()
            .map(ToString::to_string)
            .collect();
        let brief = cut(&one_line(part.brief.as_str()), 60);
        ctx.out.line(format!(
            "    {:<16} {}  {brief}",
            part.name,
            plain(&owns.join(", "))
        ))?;
    }
    Ok(())
}

/// Shows what the phase before the gate changed. Nothing where there is no gate, or nobody looks.
pub(super) fn show(run: &Run, ctx: &mut Context) -> Result<(), Failure> {
    if ctx.out.is_json() || !matches!(run.state, RunState::Gated { .. }) {
        return Ok(());
    }
    show_split(run, ctx)?;
    let before = run.steps.iter().rev().nth(1).map(|it| &it.verdict.commit);
    let (before, after) = (before.unwrap_or(&run.spec.base), run.head());
    if before == after {
        return Ok(ctx.out.line("  The phase before it changed no file.")?);
    }
    let mut desk = Desk::open(ctx)?;
    let clock = ctx.clock()?;
    let workshop = desk.workshop(ctx, &*clock)?;
    // The gate is what matters; without the files the command below shows them.
    let changed = workshop.git.summary(workshop.repository, before, after);
    let changed = changed.unwrap_or_default();
    drop(workshop);
    for line in changed.lines() {
        ctx.out.line(format!("  {}", plain(line)))?;
    }
    let (before, after) = (&before.as_str()[..10], &after.as_str()[..10]);
    Ok(ctx
        .out
        .line(format!("  All of it: `git diff {before} {after}`"))?)
}
