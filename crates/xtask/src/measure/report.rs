//! The numbers beside their targets, and what breaks a gate.

use std::fmt;

use comfy_table::{CellAlignment, Table};
use serde::Serialize;

use super::comments::CommentCounts;
use super::distribution::{Distribution, percent};
use super::facts::{FileFacts, Function};
use super::gates::{self, MAX_FILE_LINES, MAX_FUNCTION_LINES};
use super::source::Purpose;

#[derive(Debug, Serialize)]
pub(super) struct Report {
    schema: &'static str,
    product: Numbers,
    support: Numbers,
    pub(super) violations: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Numbers {
    rows: Vec<Row>,
    largest_files: Vec<Ranked>,
    longest_functions: Vec<Ranked>,
}

#[derive(Debug, Serialize)]
struct Row {
    measure: &'static str,
    value: f64,
    target: Option<Bound>,
    gate: Option<Bound>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Ranked {
    pub(super) name: String,
    pub(super) lines: usize,
}

impl Report {
    pub(super) fn new(facts: &[FileFacts]) -> Self {
        Self {
            schema: "handoff.measure/1",
            product: Numbers {
                rows: product_rows(facts),
                ..Numbers::of(facts, Purpose::Product)
            },
            support: Numbers::of(facts, Purpose::Support),
            violations: gates::violations(facts),
        }
    }
}

impl Numbers {
    fn of(facts: &[FileFacts], purpose: Purpose) -> Self {
        let files = file_lengths(facts, purpose);
        let functions = functions(facts, purpose).map(|function| Ranked {
            name: format!("{} {}", function.place.0, function.name),
            lines: function.lines,
        });
        Self {
            rows: size_rows(facts, purpose),
            largest_files: largest(files),
            longest_functions: largest(functions.collect()),
        }
    }
}

fn size_rows(facts: &[FileFacts], purpose: Purpose) -> Vec<Row> {
    let files = Distribution::of(file_lengths(facts, purpose).iter().map(|file| file.lines));
    let lengths = Distribution::of(functions(facts, purpose).map(|function| function.lines));
    let overlong = functions(facts, purpose)
        .filter(|function| gates::is_overlong(function))
        .count();
    let crowded = functions(facts, purpose)
        .filter(|function| gates::is_crowded(function))
        .count();
    vec![
        Row::new("lines a file, p50", files.percentile(50)).target(Bound::AtMost(150.0)),
        Row::new("lines a file, p90", files.percentile(90)).target(Bound::AtMost(400.0)),
        Row::new("lines a file, most", files.max()).gate_at_most(MAX_FILE_LINES),
        Row::new("lines a function, p50", lengths.percentile(50)).target(Bound::AtMost(8.0)),
        Row::new("lines a function, p90", lengths.percentile(90)).target(Bound::AtMost(35.0)),
        Row::share(
            "functions over 100 lines, %",
            lengths.share_above(MAX_FUNCTION_LINES),
        )
        .target(Bound::AtMost(0.5)),
        Row::new("  of them without a dated reason", overlong).gate_at_most(0),
        Row::new("functions with over 6 parameters", crowded).gate_at_most(0),
    ]
}

fn product_rows(facts: &[FileFacts]) -> Vec<Row> {
    let product = || facts.iter().filter(|file| file.purpose == Purpose::Product);
    let lines: usize = product().map(|file| file.lines).sum();
    let newtypes: usize = product().map(|file| file.newtypes).sum();
    let mut comments = CommentCounts::default();
    product().for_each(|file| comments += file.comments);

    let mut rows = size_rows(facts, Purpose::Product);
    rows.extend([
        Row::share("newtypes in 10,000 lines", 100.0 * percent(newtypes, lines))
            .target(Bound::AtLeast(10.0)),
        Row::new(
            "states as text",
            count(facts, |file| file.text_states.len()),
        )
        .gate_at_most(0),
        Row::new(
            "`allow` attributes, tests too",
            count(facts, |file| file.allows.len()),
        )
        .gate_at_most(0),
        Row::share(
            "comments that narrate, % (rough)",
            percent(comments.narrating, comments.all),
        )
        .target(Bound::AtMost(8.0)),
        Row::share(
            "comments that give a reason, % (rough)",
            percent(comments.why, comments.all),
        )
        .target(Bound::AtLeast(40.0)),
        Row::new("lines of code", lines),
    ]);
    rows
}

fn count(facts: &[FileFacts], of: impl Fn(&FileFacts) -> usize) -> usize {
    facts.iter().map(of).sum()
}

/// A file's tests stand for a file of their own.
pub(super) fn file_lengths(facts: &[FileFacts], purpose: Purpose) -> Vec<Ranked> {
    let own = facts
        .iter()
        .filter(|file| file.purpose == purpose)
        .map(|file| Ranked {
            name: file.path.clone(),
            lines: file.lines,
        });
    let tests = facts
        .iter()
        .filter(|file| purpose == Purpose::Support && file.test_lines > 0)
        .map(|file| Ranked {
            name: format!("{} (tests)", file.path),
            lines: file.test_lines,
        });
    own.chain(tests).collect()
}

fn functions(facts: &[FileFacts], purpose: Purpose) -> impl Iterator<Item = &Function> {
    let all = facts.iter().flat_map(|file| &file.functions);
    all.filter(move |function| function.purpose == purpose)
}

fn largest(mut all: Vec<Ranked>) -> Vec<Ranked> {
    all.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.name.cmp(&b.name)));
    all.truncate(10);
    all
}

impl Row {
    fn new(measure: &'static str, value: usize) -> Self {
        Self::share(measure, number(value))
    }

    /// To one decimal, as more would only be noise between two runs.
    fn share(measure: &'static str, value: f64) -> Self {
        Self {
            measure,
            value: (value * 10.0).round() / 10.0,
            target: None,
            gate: None,
        }
    }

    fn target(self, target: Bound) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }

    fn gate_at_most(self, gate: usize) -> Self {
        Self {
            gate: Some(Bound::AtMost(number(gate))),
            ..self
        }
    }

    fn verdict(&self) -> &'static str {
        let misses = |bound: Option<Bound>| bound.is_some_and(|bound| !bound.holds(self.value));
        if misses(self.gate) {
            "FAILS"
        } else if misses(self.target) {
            "missed"
        } else {
            ""
        }
    }
}

fn number(count: usize) -> f64 {
    count as f64
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(bound) => value <= bound,
            Self::AtLeast(bound) => value >= bound,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(bound) => write!(f, "≤ {bound}"),
            Self::AtLeast(bound) => write!(f, "≥ {bound}"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "product\n{}", self.product)?;
        writeln!(f, "tests and tools\n{}", self.support)?;
        if self.violations.is_empty() {
            return write!(f, "All gates hold.");
        }
        write!(f, "{} gate violations:", self.violations.len())?;
        self.violations
            .iter()
            .try_for_each(|violation| write!(f, "\n  {violation}"))
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", table(&self.rows))?;
        for (title, list) in [
            ("largest files", &self.largest_files),
            ("longest functions", &self.longest_functions),
        ] {
            writeln!(f, "{title}:")?;
            list.iter()
                .try_for_each(|ranked| writeln!(f, "{:>6}  {}", ranked.lines, ranked.name))?;
        }
        Ok(())
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(["measure", "value", "target", "gate", "verdict"]);
    let shown = |bound: Option<Bound>| bound.map(|bound| bound.to_string()).unwrap_or_default();
    for row in rows {
        let value = row.value.to_string();
        let (target, gate) = (shown(row.target), shown(row.gate));
        table.add_row([row.measure, &value, &target, &gate, row.verdict()]);
    }
    if let Some(values) = table.column_mut(1) {
        values.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_is_no_violation() {
        let row = Row::new("x", 9).target(Bound::AtMost(8.0)).gate_at_most(10);
        assert_eq!(row.verdict(), "missed");
        assert_eq!(Row::new("x", 11).gate_at_most(10).verdict(), "FAILS");
    }
}
