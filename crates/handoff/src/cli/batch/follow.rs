//! `handoff batch show --follow`: told when the ledger or a session changes, and once a second on a screen.

use std::time::Duration;

use handoff_api::{BatchDocument, ExitCode};
use handoff_operations::batch::view;
use handoff_operations::changes::ChangeWaiter;
use handoff_operations::{Failure, Project};
use handoff_store::queue::BatchRef;

use super::show;
use crate::context::Context;
use crate::output::{end_with_reader, one_line};

/// A person wants to see time pass.
const TICK: Duration = Duration::from_secs(1);
/// A program is told of changes; this is only for the case that the telling fails.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Shows a batch until it has ended.
pub(super) fn run(
    desk: &mut Project,
    batch: &BatchRef,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    end_with_reader();
    let mut changes = ChangeWaiter::at(ctx)?;
    let patience = if ctx.out.is_screen() {
        TICK
    } else {
        LOOK_AGAIN
    };
    let detail = if ctx.out.is_json() {
        Detail::Steps
    } else {
        Detail::States
    };
    let mut shown: Option<Vec<String>> = None;
    // Looking through all earlier batches again every second would tell nothing new.
    let known = view::calibration(desk)?;
    loop {
        // Before the look: what changes after it wakes us.
        changes.arm(&[], ctx);
        let document = view::take(desk, batch, &known)?.document;
        let is_over = !is_live(&document);
        let states = states(&document, detail);
        if ctx.out.is_screen() || shown.as_ref() != Some(&states) {
            tell(document, shown.as_deref(), ctx)?;
            shown = Some(states);
        }
        if is_over {
            return Ok(ExitCode::Done);
        }
        changes.wait(Some(patience))?;
    }
}

fn is_live(batch: &BatchDocument) -> bool {
    matches!(batch.state, "open" | "fan-in")
}

/// How much of a batch has to change before it is told again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// The states of its parts.
    States,
    /// Also what their sessions do.
    Steps,
}

/// What counts as a change for whoever reads lines or documents.
fn states(batch: &BatchDocument, detail: Detail) -> Vec<String> {
    let parts = batch.parts.iter().chain([&batch.fan_in]);
    let line = |it: &handoff_api::BatchPartDocument| match (detail, it.step) {
        (Detail::Steps, Some(step)) => format!("{}: {}, {step}", it.part, it.state),
        (Detail::Steps | Detail::States, _) => format!("{}: {}", it.part, it.state),
    };
    let whole = format!("{}: {}", batch.name, batch.state);
    parts.map(line).chain([whole]).collect()
}

/// A screen is drawn anew; lines tell what is different; a program gets the whole document.
fn tell(
    document: BatchDocument,
    before: Option<&[String]>,
    ctx: &mut Context,
) -> Result<(), Failure> {
    if ctx.out.is_json() {
        ctx.out.document(BatchDocument::SCHEMA, document)?;
        return Ok(());
    }
    if ctx.out.is_screen() {
        ctx.out.next_screen()?;
        let is_over = !is_live(&document);
        return match ctx.out.height().filter(|_| !is_over) {
            Some(height) => show::tell_within(&document, height, ctx),
            // It stays on the screen, and can be scrolled.
            None => show::tell(&document, ctx),
        };
    }
    let Some(before) = before else {
        return show::tell(&document, ctx);
    };
    for line in states(&document, Detail::States) {
        if !before.contains(&line) {
            ctx.out.line(one_line(&line))?;
        }
    }
    Ok(())
}
