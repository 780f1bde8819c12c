//! Parts of a briefing, and how they are cut to a budget.

use std::cmp::Reverse;

/// How much a part is worth when not all fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Low,
    Middle,
    High,
    Highest,
    /// Never cut.
    Vital,
}

/// A heading, what is said in any case, and items of which some may be left out.
#[derive(Debug)]
pub(super) struct Part {
    heading: &'static str,
    rank: Rank,
    intro: Vec<String>,
    items: Vec<String>,
    /// Where the items that are left out can be read.
    rest: String,
}

impl Part {
    pub(super) fn new(heading: &'static str, rank: Rank) -> Self {
        Self {
            heading,
            rank,
            intro: vec![],
            items: vec![],
            rest: String::new(),
        }
    }

    pub(super) fn intro(mut self, line: impl Into<String>) -> Self {
        self.intro.push(line.into());
        self
    }

    pub(super) fn items(mut self, items: impl IntoIterator<Item = String>) -> Self {
        self.items.extend(items);
        self
    }

    pub(super) fn rest(mut self, place: impl Into<String>) -> Self {
        self.rest = place.into();
        self
    }

    /// A part that is only an introduction to nothing says nothing, unless it is vital.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.rank != Rank::Vital
    }

    fn frame_cost(&self) -> usize {
        let intro: usize = self.intro.iter().map(|line| tokens(line)).sum();
        // The heading, and the line that says how much is left out.
        tokens(self.heading) + intro + 16
    }

    fn write(&self, shown: usize) -> String {
        let mut lines = vec![format!("## {}", self.heading), String::new()];
        lines.extend(self.intro.iter().cloned());
        lines.extend(self.items.iter().take(shown).cloned());
        let hidden = self.items.len() - shown;
        if hidden > 0 {
            let rest = &self.rest;
            lines.push(format!("- … and {hidden} more in `{rest}`"));
        }
        lines.join("\n")
    }
}

/// About how many tokens a text is: four ASCII characters make one, and each other character is one. No tokenizer is that
/// simple, but loading a real one takes longer than everything else here.
#[must_use]
pub fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text
        .chars()
        .filter(|character| !character.is_ascii())
        .count();
    ascii.div_ceil(4) + other
}

/// Writes the parts in their order, within the budget: first the vital ones whole, then by rank the beginning of each, then by
/// rank the rest of each.
pub(super) fn fit(parts: &[Part], budget: usize) -> String {
    let mut shown: Vec<Option<usize>> = vec![None; parts.len()];
    let mut left = budget;
    let mut by_rank: Vec<usize> = (0..parts.len()).collect();
    by_rank.sort_by_key(|&index| Reverse(parts[index].rank));
    for &index in &by_rank {
        let part = &parts[index];
        shown[index] = beginning(part, left);
        if let Some(count) = shown[index] {
            left = left.saturating_sub(part.frame_cost() + items_cost(part, 0, count));
        }
    }
    for &index in &by_rank {
        let Some(count) = &mut shown[index] else {
            continue;
        };
        let part = &parts[index];
        while *count < part.items.len() && items_cost(part, *count, *count + 1) <= left {
            left -= items_cost(part, *count, *count + 1);
            *count += 1;
        }
    }
    let written = parts.iter().zip(shown);
    let written = written.filter_map(|(part, shown)| shown.map(|shown| part.write(shown)));
    written.collect::<Vec<_>>().join("\n\n")
}

/// How many items a part begins with; none if not even its heading fits, or nothing below it that is worth one.
fn beginning(part: &Part, left: usize) -> Option<usize> {
    let wanted = match part.rank {
        Rank::Vital => return Some(part.items.len()),
        Rank::Highest => part.items.len().min(8),
        Rank::High | Rank::Middle | Rank::Low => part.items.len().min(2),
    };
    let fits = |count: &usize| part.frame_cost() + items_cost(part, 0, *count) <= left;
    let count = (0..=wanted).rev().find(fits)?;
    (count > 0 || part.rank == Rank::Highest).then_some(count)
}

fn items_cost(part: &Part, from: usize, to: usize) -> usize {
    part.items[from..to]
        .iter()
        .map(|item| tokens(item) + 1)
        .sum()
}
