//! What a benchmark found: figures beside their targets, and the samples behind them.

use std::fs;

use anyhow::{Context as _, Result};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::race::Times;
use super::samples::{Samples, milliseconds};
use handoff_chores::{Verdict, output, program};

/// A number that is judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) measured: f64,
    pub(crate) unit: &'static str,
    pub(crate) target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Figure {
    fn verdict(&self) -> Verdict {
        let is_met = match self.target {
            Target::AtMost(limit) => self.measured <= limit,
            Target::AtLeast(limit) => self.measured >= limit,
        };
        if is_met { Verdict::Good } else { Verdict::Bad }
    }

    fn row(&self) -> [String; 4] {
        let unit = self.unit;
        let target = match self.target {
            Target::AtMost(limit) => format!("at most {limit} {unit}"),
            Target::AtLeast(limit) => format!("at least {limit} {unit}"),
        };
        let verdict = match self.verdict() {
            Verdict::Good => "met",
            Verdict::Bad => "NOT MET",
        };
        let measured = format!("{:.2} {unit}", self.measured);
        [self.what.clone(), measured, target, verdict.to_owned()]
    }
}

/// Everything one benchmark leaves behind.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    schema: &'static str,
    bench: &'static str,
    seed: u64,
    pub(crate) figures: Vec<Figure>,
    /// In microseconds, ascending.
    samples: Vec<(String, Samples)>,
    /// What explains the figures and is not judged.
    pub(crate) remarks: Vec<String>,
}

impl Report {
    pub(crate) fn new(bench: &'static str, seed: u64) -> Self {
        Self {
            schema: "handoff.bench/1",
            bench,
            seed,
            figures: Vec::new(),
            samples: Vec::new(),
            remarks: Vec::new(),
        }
    }

    pub(crate) fn figure(
        &mut self,
        what: impl Into<String>,
        (measured, unit): (f64, &'static str),
        target: Target,
    ) {
        self.figures.push(Figure {
            what: what.into(),
            measured,
            unit,
            target,
        });
    }

    pub(crate) fn keep(&mut self, name: impl Into<String>, samples: Samples) {
        self.samples.push((name.into(), samples));
    }

    pub(crate) fn keep_all(&mut self, times: Times) {
        for (name, samples) in times {
            self.keep(name, samples);
        }
    }

    pub(crate) fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }

    /// Writes the raw samples to `target/bench/<name>.json` and shows what they say.
    pub(crate) fn publish(&self) -> Result<()> {
        let directory = program::workspace_root().join("target/bench");
        fs::create_dir_all(&directory)?;
        let path = directory.join(format!("{}.json", self.bench));
        fs::write(&path, serde_json::to_string(self)? + "\n")
            .with_context(|| format!("cannot write `{}`", path.display()))?;
        output::say(&self.sample_table());
        for remark in &self.remarks {
            output::say(remark);
        }
        Ok(())
    }

    fn sample_table(&self) -> String {
        let rows = self.samples.iter().map(|(name, samples)| {
            let spans = [
                samples.median(),
                samples.spread(),
                samples.percentile(95),
                samples.percentile(99),
                samples.longest(),
            ];
            let mut row = vec![name.clone(), samples.count().to_string()];
            row.extend(spans.map(|span| format!("{:.2}", milliseconds(span))));
            row
        });
        let header = ["ms", "samples", "median", "spread", "p95", "p99", "longest"];
        table(header, rows)
    }
}

/// All figures with their verdicts, as the last thing a run says.
pub(crate) fn verdicts(reports: &[Report]) -> (String, Verdict) {
    let figures = || reports.iter().flat_map(|report| &report.figures);
    let is_good = figures().all(|figure| figure.verdict() == Verdict::Good);
    let header = ["figure", "measured", "target", "verdict"];
    let shown = table(header, figures().map(|figure| figure.row().to_vec()));
    (shown, if is_good { Verdict::Good } else { Verdict::Bad })
}

/// Text in the first column, numbers in the others.
pub(crate) fn table<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header);
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(measured: f64, target: Target) -> Figure {
        Figure {
            what: "start-up".to_owned(),
            measured,
            unit: "ms",
            target,
        }
    }

    #[test]
    fn a_target_includes_its_limit() {
        let verdicts = [
            figure(1.0, Target::AtMost(1.0)),
            figure(1.1, Target::AtMost(1.0)),
            figure(70.0, Target::AtLeast(70.0)),
            figure(69.9, Target::AtLeast(70.0)),
        ]
        .map(|figure| figure.verdict());
        let (good, bad) = (Verdict::Good, Verdict::Bad);
        assert_eq!(verdicts, [good, bad, good, bad]);
    }

    #[test]
    fn one_missed_target_spoils_the_run() {
        let mut report = Report::new("x", 1);
        report.figure("a", (0.5, "ms"), Target::AtMost(1.0));
        assert_eq!(verdicts(std::slice::from_ref(&report)).1, Verdict::Good);
        report.figure("b", (1.5, "ms"), Target::AtMost(1.0));
        assert_eq!(verdicts(&[report]).1, Verdict::Bad);
    }
}
