//! What was checked, as a table.

use std::time::Duration;

use comfy_table::Table;

use super::Name;
use crate::Verdict;

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

    /// Agents that may fail are shown and do not count.
    pub(super) fn verdict(&self) -> Verdict {
        let mut gating = self
            .rows
            .iter()
            .filter(|row| Name::GATING.contains(&row.agent));
        let is_bad = gating.any(|row| matches!(row.outcome, Outcome::Wrong(_)));
        if is_bad || self.rows.is_empty() {
            Verdict::Bad
        } else {
            Verdict::Good
        }
    }
}
