//! A workflow as a picture made of text.

use std::fmt::Write as _;

use super::definition::{Gate, Workflow};
use super::next::{Goal, Next};

/// How a workflow is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphStyle {
    /// For a terminal: a line for each way.
    Text,
    /// For whatever draws Mermaid.
    Mermaid,
}

impl Workflow {
    /// Draws it.
    pub fn graph(&self, style: GraphStyle) -> String {
        match style {
            GraphStyle::Text => self.as_text(),
            GraphStyle::Mermaid => self.as_mermaid(),
        }
    }

    fn as_text(&self) -> String {
        let width = self.phases.iter().map(|it| it.name.as_str().len()).max();
        let width = width.unwrap_or_default();
        let mut lines = vec![];
        for phase in &self.phases {
            let gate = match phase.gate {
                Some(Gate::Human) => "  (a person agrees first)",
                None => "",
            };
            for (place, (outcome, next)) in phase.next.iter().enumerate() {
                let name = if place == 0 { phase.name.as_str() } else { "" };
                lines.push(format!("{name:width$}  ── {outcome} ──► {next}{gate}\n"));
            }
        }
        lines.concat()
    }

    fn as_mermaid(&self) -> String {
        let mut text = String::from("stateDiagram-v2\n");
        let id = |name: &str| name.replace(['-', '.'], "_");
        let mut line = |from: &str, to: &str, label: &str| {
            writeln!(text, "    {from} --> {to}{label}").expect("a text takes everything");
        };
        line("[*]", &id(self.first().name.as_str()), "");
        for phase in &self.phases {
            let from = id(phase.name.as_str());
            for (outcome, next) in &phase.next {
                let to = |goal: &Goal| goal.phase().map_or("[*]".to_owned(), |it| id(it.as_str()));
                match next {
                    Next::Goal(goal) => line(&from, &to(goal), &format!(": {outcome}")),
                    Next::FanOut(fan_out) => {
                        let batch = format!("{from}_{}", id(outcome.as_str()));
                        line(&from, &batch, &format!(": {outcome}"));
                        line(&batch, &to(&fan_out.join), ": joined");
                        // Where nobody says otherwise, a person sends it on or back.
                        let degraded = fan_out.degraded.as_ref().unwrap_or(&fan_out.join);
                        line(&batch, &to(degraded), ": degraded");
                    }
                }
            }
        }
        text
    }
}
