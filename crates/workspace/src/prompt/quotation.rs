//! Documents in a prompt: quoted with their source, and cut where all together would be too long.

use super::{Artifact, Material};
use crate::briefing::tokens;
use crate::config::Budget;
use crate::quote;

/// How much longer than the prompt of `continue` one may be that planning starts from: whole documents are read in it.
const FACTOR: usize = 4;
/// No budget asks for more: two million bytes, which is far from what the engine refuses, so that a long document can never
/// look like a fault of the template.
const MOST: usize = 500_000;

/// A document, line by line.
pub(super) struct Quotation {
    heading: &'static str,
    path: String,
    lines: Vec<String>,
}

impl Quotation {
    /// None of a document in which nobody has written.
    pub(super) fn of(material: &Material, artifact: &Artifact) -> Option<Self> {
        Some(Self {
            heading: artifact.heading(),
            path: material.path_of(artifact.document),
            lines: quote::verbatim(artifact.content()?),
        })
    }

    fn cost(&self) -> usize {
        self.lines.iter().map(|line| cost(line)).sum()
    }

    /// At least a line of it.
    fn within(self, budget: usize) -> String {
        let Self {
            heading,
            path,
            lines,
        } = self;
        let mut left = budget;
        let fits = |line: &&String| {
            let is_fitting = cost(line) <= left;
            left = left.saturating_sub(cost(line));
            is_fitting
        };
        let shown = lines.iter().take_while(fits).count().max(1);
        let quoted = lines[..shown].join("\n");
        let rest = match lines.len() - shown {
            0 => String::new(),
            1 => format!("\n… 1 more line in `{path}`"),
            hidden => format!("\n… {hidden} more lines in `{path}`"),
        };
        format!("## {heading}\n\nFrom `{path}`:\n\n{quoted}{rest}")
    }
}

fn cost(line: &str) -> usize {
    tokens(line) + 1
}

/// Writes them in their order. Short ones are written whole, and what they leave is shared by the long ones.
pub(super) fn fit(quotations: Vec<Quotation>, budget: Budget) -> Vec<String> {
    let costs: Vec<_> = quotations.iter().map(Quotation::cost).collect();
    let shares = shares(&costs, (budget.tokens() * FACTOR).min(MOST));
    let pairs = quotations.into_iter().zip(shares);
    pairs.map(|(it, share)| it.within(share)).collect()
}

fn shares(costs: &[usize], budget: usize) -> Vec<usize> {
    let mut shares = vec![0; costs.len()];
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|&index| costs[index]);
    let mut left = budget;
    for (place, &index) in order.iter().enumerate() {
        shares[index] = costs[index].min(left / (order.len() - place));
        left -= shares[index];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_documents_leave_their_share_to_long_ones() {
        assert_eq!(shares(&[10, 500, 20], 100), [10, 70, 20]);
        assert_eq!(shares(&[500, 10, 500], 100), [45, 10, 45]);
        assert_eq!(shares(&[1, 2], 100), [1, 2]);
        assert_eq!(shares(&[], 100), [0; 0]);
    }

    #[test]
    fn what_is_cut_is_counted_and_named() {
        let quotation = |count: usize| Quotation {
            heading: "Goal",
            path: "F.md".to_owned(),
            lines: vec!["> 34567".to_owned(); count],
        };
        let whole = "## Goal\n\nFrom `F.md`:\n\n> 34567";
        assert_eq!(quotation(1).within(0), whole);
        assert_eq!(
            quotation(4).within(8),
            format!("{whole}\n> 34567\n… 2 more lines in `F.md`")
        );
    }
}
