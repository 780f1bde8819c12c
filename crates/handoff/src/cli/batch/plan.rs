//! `handoff batch plan`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use handoff_api::{BatchPlanDocument, ExitCode};
use handoff_core::batch::{Calibration, Manifest, Plan, Room};
use handoff_operations::batch::view;
use handoff_operations::{Failure, Project};

use super::bar::span_text;
use super::manifest_file;
use super::timeline::{self, Piece, Row};
use crate::cli::worker::slots;
use crate::context::Context;
use crate::output::{Table, Tone};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The manifest, TOML or JSON; `-` reads it from stdin.
    file: PathBuf,
    #[command(flatten)]
    slots: SlotsArg,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct SlotsArg {
    /// How many parts run at the same time; as many as a worker here takes on, unless said otherwise.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    slots: Option<u16>,
}

impl SlotsArg {
    pub(in crate::cli) const fn is_given(&self) -> bool {
        self.slots.is_some()
    }

    /// What a worker with this configuration takes on.
    fn room(&self, ctx: &Context) -> Result<Room, Failure> {
        let slots = self.slots.map_or_else(|| slots(ctx), |it| Ok(it.into()))?;
        let config = ctx.config()?.worker;
        let limits = config.limits.into_iter();
        Ok(Room {
            slots: NonZeroUsize::new(slots).unwrap_or(NonZeroUsize::MIN),
            usual: config.agent,
            limits: limits.map(|(agent, most)| (agent, most.into())).collect(),
        })
    }
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let manifest = manifest_file::read(&args.file, ctx)?;
    show(&manifest, &args.slots, ctx)
}

/// Shows how it would run, with what is known of earlier guesses here.
pub(in crate::cli) fn show(
    manifest: &Manifest,
    slots: &SlotsArg,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let known = match Project::peek(ctx)? {
        Some(mut desk) => view::calibration(&mut desk)?,
        None => Calibration::default(),
    };
    let plan = Plan::of(manifest, slots.room(ctx)?, &known);
    let document = BatchPlanDocument::of(manifest.name.to_string(), &plan);
    if ctx.out.is_json() {
        ctx.out.document(BatchPlanDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    tell(&document, manifest, ctx)?;
    Ok(ExitCode::Done)
}

fn tell(plan: &BatchPlanDocument, manifest: &Manifest, ctx: &mut Context) -> Result<(), Failure> {
    let name = ctx.out.styled(Tone::Strong, &plan.name);
    let count = |number: usize, one: &str| match number {
        1 => format!("one {one}"),
        _ => format!("{number} {one}s"),
    };
    let (parts, slots) = (count(plan.parts.len(), "part"), count(plan.slots, "slot"));
    ctx.out.line(format!("{name}: {parts} on {slots}\n"))?;
    let mut table = Table::new(&["WAVE", "PART", "TAKES", "OWNS"]);
    for (number, wave) in plan.waves.iter().enumerate() {
        for part in wave {
            table.row(cells(number, part, plan, manifest));
        }
    }
    ctx.out.table(&table)?;
    ctx.out.line("")?;
    let rows = rows(plan);
    for line in timeline::draw(&rows, ctx.out.width(), &ctx.out) {
        ctx.out.line(line)?;
    }
    ctx.out.line("")?;
    let seconds = |it: f64| span_text(Duration::from_secs_f64(it));
    ctx.out.line(format!(
        "One after the other {}, like this {}: {:.1} times faster; {:.1} is the most on {slots}.",
        seconds(plan.serial_seconds),
        seconds(plan.wall_seconds),
        plan.speed_up,
        plan.bound
    ))?;
    Ok(())
}

fn cells(
    wave: usize,
    part: &str,
    plan: &BatchPlanDocument,
    manifest: &Manifest,
) -> [(Tone, String); 4] {
    let planned = plan.parts.iter().find(|it| it.part == part);
    let spec = manifest.parts.iter().find(|it| it.name.as_str() == part);
    let patterns = spec.iter().flat_map(|it| it.owns.patterns());
    let owns: Vec<_> = patterns.map(ToString::to_string).collect();
    let takes = planned.map_or_else(String::new, |it| {
        let guess = if it.is_assumed { "?" } else { "" };
        let span = span_text(Duration::from_secs_f64(it.takes_seconds));
        format!("{span}{guess}")
    });
    [
        (Tone::Faint, (wave + 1).to_string()),
        (Tone::Strong, part.to_owned()),
        (Tone::Plain, takes),
        (Tone::Faint, owns.join(" ")),
    ]
}

fn rows(plan: &BatchPlanDocument) -> Vec<Row> {
    let part = |it: &handoff_api::PlannedPart| Row {
        name: it.part.clone(),
        pieces: vec![Piece {
            from: it.starts_seconds,
            to: it.starts_seconds + it.takes_seconds,
            tone: Tone::Active,
        }],
    };
    let together = Row {
        name: "fan-in".to_owned(),
        pieces: vec![Piece {
            from: plan.wall_seconds - plan.fan_in_seconds,
            to: plan.wall_seconds,
            tone: Tone::Good,
        }],
    };
    plan.parts.iter().map(part).chain([together]).collect()
}
