//! A workflow as a picture made of text.

use std::fmt::Write as _;

use super::definition::{Gate, Workflow};

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
            for (outcome, next) in &phase.next {
                let to = next.phase().map_or("[*]".to_owned(), |it| id(it.as_str()));
                line(&id(phase.name.as_str()), &to, &format!(": {outcome}"));
            }
        }
        text
    }
}
