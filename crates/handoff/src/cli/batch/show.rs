//! `handoff batch show`.

use std::time::Duration;

use handoff_api::{BatchDocument, BatchPartDocument, ExitCode};
use handoff_core::task::Phase;
use handoff_operations::batch::{SeeBatch, find};
use handoff_operations::{Failure, call};

use super::bar::{bar, span_text, time_text};
use super::excerpt::Excerpt;
use super::{follow, list};
use crate::cli::queue::tone;
use crate::context::Context;
use crate::output::{Table, Tone, cut, one_line, plain};

/// So much is shown of what somebody said; `queue show` has all of it.
const SAID: usize = 200;
/// Lines around the parts: the heading, that of the table, the fan-in, what is not shown, and what is to be done.
const AROUND: usize = 9;
/// So much of what is in trouble is told on a screen.
const TROUBLES: usize = 3;
/// So many parts are shown on a screen that has no room for anything.
const LEAST: usize = 3;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name or id.
    batch: String,
    /// Show it again whenever something changes, until it ends.
    #[arg(long, short)]
    follow: bool,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if args.follow {
        ctx.stay();
    }
    if args.follow {
        let (mut project, batch) = find(&args.batch, ctx)?;
        return follow::run(&mut project, &batch, ctx);
    }
    let see = SeeBatch {
        batch: args.batch.clone(),
    };
    let document = call(see, ctx)?;
    if ctx.out.is_json() {
        ctx.out.document(BatchDocument::SCHEMA, document)?;
    } else {
        tell(&document, ctx)?;
    }
    Ok(ExitCode::Done)
}

/// The batch as text: a heading, a line a part, and what needs a person.
pub(super) fn tell(batch: &BatchDocument, ctx: &mut Context) -> Result<(), Failure> {
    tell_parts(batch, None, ctx)?;
    tell_trouble(batch, usize::MAX, ctx)?;
    tell_result(batch, ctx)
}

/// The same within a screen.
pub(super) fn tell_within(
    batch: &BatchDocument,
    height: usize,
    ctx: &mut Context,
) -> Result<(), Failure> {
    let room = height.saturating_sub(AROUND + TROUBLES).max(LEAST);
    tell_parts(batch, Some(room), ctx)?;
    tell_trouble(batch, TROUBLES, ctx)?;
    tell_result(batch, ctx)
}

fn tell_parts(
    batch: &BatchDocument,
    room: Option<usize>,
    ctx: &mut Context,
) -> Result<(), Failure> {
    let name = ctx.out.styled(Tone::Strong, &batch.name);
    let state = ctx.out.styled(list::tone(batch.state), batch.state);
    let held = match (&batch.paused_with, batch.is_held) {
        (Some(_), _) => ", paused",
        (None, true) => ", held",
        (None, false) => "",
    };
    let (done, all) = (batch.done, batch.parts.len());
    let left = { batch.left_seconds }.map_or_else(String::new, |it| {
        format!(", about {} left", span_text(Duration::from_secs_f64(it)))
    });
    ctx.out.line(format!(
        "{name}  {state}{held}  {done} of {all} parts done{left}\n"
    ))?;
    let excerpt = Excerpt::of(&batch.parts, room);
    ctx.out.table(&table(&excerpt, batch))?;
    if let Some(rest) = &excerpt.rest {
        let rest = ctx.out.styled(Tone::Faint, rest);
        ctx.out.line(rest)?;
    }
    tell_whereabouts(batch, ctx)
}

/// Why nothing goes on here, and how it can.
fn tell_whereabouts(batch: &BatchDocument, ctx: &mut Context) -> Result<(), Failure> {
    let name = &batch.name;
    let text = match (&batch.paused_with, &batch.handed_to, &batch.reason) {
        (Some(package), _, _) => format!("It is paused: `handoff resume {package}` lets it go on."),
        (None, Some(to), _) => format!(
            "It was handed to {}, where it goes on. Only if it never arrived there: `handoff batch retry {name}`.",
            one_line(to)
        ),
        (None, None, Some(reason)) => format!("It was called off: {}", one_line(reason)),
        (None, None, None) => return Ok(()),
    };
    Ok(ctx.out.note(format!("\n{}", plain(&text)))?)
}

/// Where the result is, and what is left to do with it.
fn tell_result(batch: &BatchDocument, ctx: &mut Context) -> Result<(), Failure> {
    if batch.state != "done" {
        return Ok(());
    }
    let name = &batch.name;
    if batch.result.is_none() {
        return Ok(ctx
            .out
            .note("\nIt has no result: none of its parts is in it.")?);
    }
    ctx.out.note(format!(
        "\nIts result is on `handoff/{name}`. Bring it into your branch: `handoff land {name}`."
    ))?;
    let told = { batch.left_out.iter() }.map(|it| format!("{} ({})", it.part, it.why.text()));
    let told: Vec<_> = told.collect();
    let Some(first) = batch.left_out.first() else {
        return Ok(());
    };
    let judged = if batch.has_more {
        " The session of the fan-in changed something besides; what it brought over is in it."
    } else {
        ""
    };
    Ok(ctx.out.note(format!(
        "Not in it: {}.{judged} See what such a part left: `handoff rescue {name}.{}`.",
        told.join(", "),
        first.part
    ))?)
}

fn table(excerpt: &Excerpt<'_>, batch: &BatchDocument) -> Table {
    let mut table = Table::new(&["PART", "STATE", "", "TIME", "TRY", "STEP", "SESSION"]);
    for part in excerpt.shown.iter().copied().chain([&batch.fan_in]) {
        table.row(cells(part));
    }
    table
}

fn cells(part: &BatchPartDocument) -> [(Tone, String); 7] {
    // Of what is over, the guess is of interest, and not what was expected since.
    let expected = match part.state {
        Phase::Done | Phase::Failed | Phase::Blocked | Phase::Cancelled => part.estimate_seconds,
        Phase::Waiting
        | Phase::Held
        | Phase::Resting
        | Phase::Queued
        | Phase::Leased
        | Phase::Running => part.expected_seconds,
    };
    let time = time_text(part.took_seconds, expected, part.left_seconds);
    let step = part.step.unwrap_or("-").to_owned();
    let session = part.session.clone().unwrap_or_else(|| "-".to_owned());
    [
        (Tone::Strong, part.part.clone()),
        (tone(part.state), part.state.to_string()),
        (
            tone(part.state),
            bar(part.state, part.took_seconds, expected),
        ),
        (Tone::Plain, time),
        (Tone::Faint, part.attempts.to_string()),
        (Tone::Plain, step),
        (Tone::Faint, session),
    ]
}

/// What is in trouble, so much of it.
fn tell_trouble(batch: &BatchDocument, most: usize, ctx: &mut Context) -> Result<(), Failure> {
    let needs = |part: &&BatchPartDocument| matches!(part.state, Phase::Failed | Phase::Blocked);
    let parts = batch.parts.iter().chain([&batch.fan_in]);
    let trouble: Vec<_> = parts.filter(needs).collect();
    if trouble.is_empty() {
        return Ok(());
    }
    ctx.out.line("")?;
    for part in trouble.iter().take(most) {
        let name = ctx.out.styled(tone(part.state), &part.part);
        let said = part.said.as_deref().unwrap_or("it did not say why");
        let said = cut(&plain(&one_line(said)), SAID);
        ctx.out.line(format!("{name}: {said}"))?;
    }
    if let Some(more) = trouble.len().checked_sub(most).filter(|more| *more > 0) {
        ctx.out.line(format!("and {more} more"))?;
    }
    if batch.state != "done" && batch.handed_to.is_none() {
        let advice = format!(
            "\nWhen that is put right: `handoff batch retry {}`.",
            batch.name
        );
        ctx.out.note(advice)?;
    }
    Ok(())
}
