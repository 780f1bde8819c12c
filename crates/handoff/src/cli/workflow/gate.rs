//! What a person sees at a gate: what changed, file by file, and how to see all of it.

use handoff_core::CommitId;
use handoff_core::run::{Run, RunState};
use handoff_operations::{Failure, Project};

use crate::context::Context;
use crate::output::{Tone, cut, one_line, plain};

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

/// So many lines of what changed are shown: more than anybody reads on a terminal, and less than what floods it.
const MOST_LINES: usize = 400;
/// So wide is a line at most. A file that was made smaller has all of it in one.
const WIDEST: usize = 240;

/// What the phase before the gate changed: between these two commits.
fn span(run: &Run) -> (&CommitId, &CommitId) {
    let before = run.steps.iter().rev().nth(1).map(|it| &it.verdict.commit);
    (before.unwrap_or(&run.spec.base), run.head())
}

/// Shows what the phase before the gate changed. Nothing where there is no gate, or nobody looks.
pub(super) fn show(run: &Run, ctx: &mut Context) -> Result<(), Failure> {
    if ctx.out.is_json() || !matches!(run.state, RunState::Gated { .. }) {
        return Ok(());
    }
    show_split(run, ctx)?;
    let (before, after) = span(run);
    if before == after {
        return Ok(ctx.out.line("  The phase before it changed no file.")?);
    }
    let mut desk = Project::open(ctx)?;
    let clock = ctx.clock()?;
    let workshop = desk.workshop(ctx, &*clock)?;
    let (git, repository) = (&workshop.git, workshop.repository);
    // The gate is what matters; without the changes the command below shows them.
    let changed = git.summary(repository, before, after).unwrap_or_default();
    let difference = git.difference(repository, before, after);
    let difference = difference.unwrap_or_default();
    drop(workshop);
    for line in changed.lines() {
        ctx.out.line(format!("  {}", shown(line)))?;
    }
    ctx.out.line("")?;
    for line in difference.lines().take(MOST_LINES) {
        let line = ctx.out.styled(tone(line), &shown(line));
        ctx.out.line(format!("  {line}"))?;
    }
    let (before, after) = (&before.as_str()[..10], &after.as_str()[..10]);
    let more = match difference.lines().count().saturating_sub(MOST_LINES) {
        0 => String::new(),
        more => format!("{more} lines more. "),
    };
    Ok(ctx
        .out
        .line(format!("\n  {more}All of it: `git diff {before} {after}`"))?)
}

/// Harmless, and not wider than what anybody reads.
fn shown(line: &str) -> String {
    cut(&plain(line), WIDEST)
}

fn tone(line: &str) -> Tone {
    match line.as_bytes().first() {
        Some(b'+') => Tone::Good,
        Some(b'-') => Tone::Attention,
        Some(b'@') => Tone::Faint,
        Some(_) | None => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_long_line_does_not_flood_the_terminal() {
        assert_eq!(shown("+let a = 1;"), "+let a = 1;");
        let long = shown(&"+x".repeat(100_000));
        assert_eq!(long.chars().count(), WIDEST);
        assert!(long.ends_with('…'), "{long}");
        assert!(shown(&"\u{1b}".repeat(100_000)).len() < 2 * WIDEST);
    }
}
