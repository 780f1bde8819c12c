//! `handoff batch report`: what a batch took, from the times of its events.

use std::time::Duration;

use handoff_api::{BatchPartDocument, BatchReportDocument, CalibrationRow, ExitCode};
use handoff_core::Timestamp;
use handoff_core::batch::StintEnd;
use handoff_operations::batch::ReportBatch;
use handoff_operations::{Failure, call};

use super::bar::span_text;
use super::timeline::{self, Piece, Row};
use crate::context::Context;
use crate::output::{Table, Tone};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name or id.
    batch: String,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let report = ReportBatch {
        batch: args.batch.clone(),
    };
    let report = call(report, ctx)?;
    if ctx.out.is_json() {
        ctx.out.document(BatchReportDocument::SCHEMA, report)?;
    } else {
        tell(&report, ctx)?;
    }
    Ok(ExitCode::Done)
}

fn tell(report: &BatchReportDocument, ctx: &mut Context) -> Result<(), Failure> {
    let name = ctx.out.styled(Tone::Strong, &report.batch.name);
    ctx.out.line(format!("{name}  {}\n", report.batch.state))?;
    let rows = rows(report);
    if rows.iter().all(|row| row.pieces.is_empty()) {
        ctx.out.note("Nobody has worked on it yet.")?;
        return Ok(());
    }
    for line in timeline::draw(&rows, ctx.out.width(), &ctx.out) {
        ctx.out.line(line)?;
    }
    ctx.out.line("")?;
    for (label, text) in facts(report) {
        let label = ctx.out.styled(Tone::Faint, &format!("{label:<12}"));
        ctx.out.line(format!("{label} {text}"))?;
    }
    tell_calibration(&report.calibration, ctx)
}

fn seconds(it: f64) -> String {
    span_text(Duration::from_secs_f64(it.max(0.0)))
}

fn facts(report: &BatchReportDocument) -> Vec<(&'static str, String)> {
    let measured = report.parts_seconds + report.fan_in_seconds;
    let share = report.serial_share * 100.0;
    vec![
        ("took", seconds(report.wall_seconds)),
        (
            "work",
            format!(
                "{} ({} parts, {} fan-in)",
                seconds(measured),
                seconds(report.parts_seconds),
                seconds(report.fan_in_seconds)
            ),
        ),
        ("repeated", seconds(report.repeated_seconds)),
        (
            "side by side",
            format!(
                "{}, alone {}, nobody {}",
                seconds(report.parallel_seconds),
                seconds(report.serial_seconds),
                seconds(report.idle_seconds)
            ),
        ),
        (
            "speed-up",
            format!(
                "{:.2} times, on {} at once; with {share:.0} % of the work done alone at most {:.2} (Amdahl)",
                report.speed_up, report.width, report.bound
            ),
        ),
    ]
}

fn tell_calibration(rows: &[CalibrationRow], ctx: &mut Context) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        "AGENT",
        "KIND",
        "SAMPLES",
        "TOOK, AS A MULTIPLE OF THE GUESS",
    ]);
    for row in rows {
        let factor = row.factor;
        table.row([
            (
                Tone::Strong,
                row.agent.clone().unwrap_or_else(|| "any".to_owned()),
            ),
            (Tone::Plain, row.kind.word().to_owned()),
            (Tone::Faint, factor.samples.to_string()),
            (
                Tone::Plain,
                format!(
                    "{:.2} (half of them {:.2} to {:.2})",
                    factor.median, factor.low, factor.high
                ),
            ),
        ]);
    }
    ctx.out.line("")?;
    ctx.out.table(&table)?;
    Ok(())
}

/// A row for each part and the fan-in, from the first claim on.
fn rows(report: &BatchReportDocument) -> Vec<Row> {
    let parts = || report.batch.parts.iter().chain([&report.batch.fan_in]);
    let began = parts().flat_map(|it| &it.stints).map(|it| it.from).min();
    let since = |at: Timestamp| {
        let span = began.map(|began| at.duration_since(began));
        span.map_or(0.0, |span| span.as_secs_f64())
    };
    let row = |part: &BatchPartDocument| Row {
        name: part.part.clone(),
        pieces: part
            .stints
            .iter()
            .map(|stint| Piece {
                from: since(stint.from),
                to: since(stint.to),
                tone: tone(stint.end),
            })
            .collect(),
    };
    parts().map(row).collect()
}

const fn tone(end: StintEnd) -> Tone {
    match end {
        StintEnd::Done => Tone::Good,
        StintEnd::Running => Tone::Active,
        StintEnd::Failed | StintEnd::Blocked => Tone::Bad,
        StintEnd::Cancelled | StintEnd::Released | StintEnd::Lost => Tone::Faint,
    }
}
