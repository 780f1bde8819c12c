//! What was checked, as a table.

use std::time::Duration;

use comfy_table::Table;

use super::Name;
use handoff_chores::tally::Tally;

/// One check.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) agent: Name,
    pub(super) case: &'static str,
    /// What had to be published, or to be true.
    pub(super) expected: String,
    pub(super) outcome: Outcome,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// This long after the proof.
    Right(Duration),
    Wrong(String),
    /// The agent has nothing of the kind, for this reason.
    NotThere(&'static str),
}

#[derive(Debug, Default)]
pub(super) struct Report {
    rows: Vec<Row>,
}

impl Report {
    pub(super) fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub(super) fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::ASCII_MARKDOWN);
        table.set_header(["agent", "case", "expected", "after", "outcome"]);
        for row in &self.rows {
            let (after, outcome) = match &row.outcome {
                Outcome::Right(lag) => (format!("{} ms", lag.as_millis()), "right".to_owned()),
                Outcome::Wrong(why) => (
                    String::new(),
                    format!("WRONG: {}", why.lines().next().unwrap_or_default()),
                ),
                Outcome::NotThere(why) => (String::new(), format!("not there: {why}")),
            };
            table.add_row([
                row.agent.word(),
                row.case.to_owned(),
                row.expected.clone(),
                after,
                outcome,
            ]);
        }
        table
    }

    /// Agents that may fail are shown; what they get wrong counts as skipped.
    pub(super) fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for row in &self.rows {
            match (&row.outcome, Name::GATING.contains(&row.agent)) {
                (Outcome::Right(_), _) => tally.passed += 1,
                (Outcome::Wrong(_), true) => tally.failed += 1,
                (Outcome::Wrong(_), false) | (Outcome::NotThere(_), _) => tally.skipped += 1,
            }
        }
        tally
    }
}
