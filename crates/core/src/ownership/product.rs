//! What two patterns have in common.
//!
//! Two sequences of steps are walked side by side. A cell of the walk is a position in each, so
//! there are only as many cells as the product of their lengths and each is visited once: no
//! pattern makes this exponential. The same walk serves both levels; on the upper one, two steps
//! agree if the lower one finds a name for both.

use std::collections::VecDeque;
use std::iter;

use super::char_set::CharSet;
use super::segment_guard::SegmentGuard;
use super::walk::{Name, Step, Walk};

impl Walk {
    /// A path that both walks describe.
    pub(super) fn meet(&self, other: &Self) -> Option<String> {
        let sides = Sides {
            left: &self.0,
            right: &other.0,
            guards: 1,
        };
        let names = sides.search(SegmentGuard::Free, |left, right, guard| {
            meet_names(left, right)
                .map(|name| (name, guard))
                .into_iter()
                .collect()
        });
        Some(names?.join("/"))
    }
}

impl Name {
    /// A name that fits this one and may stand in a path.
    pub(super) fn example(&self) -> Option<String> {
        match self {
            Self::Literal(text) => Some(text.clone()),
            Self::Wild(steps) => meet_wild(steps, &[Step::Many]),
        }
    }
}

/// A name that fits both sides, where `None` is any number of any names. Two of those need no
/// name between them, so they get none.
fn meet_names(left: Option<&Name>, right: Option<&Name>) -> Option<String> {
    match (left, right) {
        (None, None) => None,
        (Some(name), None) | (None, Some(name)) => name.example(),
        (Some(Name::Literal(text)), Some(name)) | (Some(name), Some(Name::Literal(text))) => {
            name.fits(text).then(|| text.clone())
        }
        (Some(Name::Wild(left)), Some(Name::Wild(right))) => meet_wild(left, right),
    }
}

fn meet_wild(left: &[Step<CharSet>], right: &[Step<CharSet>]) -> Option<String> {
    if !ends_agree(left, right) {
        return None;
    }
    let any = CharSet::any();
    let sides = Sides {
        left,
        right,
        guards: SegmentGuard::COUNT,
    };
    let characters = sides.search(SegmentGuard::Empty, |left, right, guard| {
        guarded(left.unwrap_or(&any).common(right.unwrap_or(&any)), guard)
    });
    Some(characters?.into_iter().collect())
}

/// Whether nothing outside the first and last `*` of either side speaks against a common name.
///
/// Decides most pairs of real globs (`*.rs`, `*.py`) and the most expensive ones of hostile globs
/// without a search: two names that both contain `*` have nothing in common only if they disagree
/// at an end.
fn ends_agree(left: &[Step<CharSet>], right: &[Step<CharSet>]) -> bool {
    let starts = left.iter().zip(right);
    let ends = left.iter().rev().zip(right.iter().rev());
    fixed_parts_agree(starts) && fixed_parts_agree(ends)
}

fn fixed_parts_agree<'a>(
    pairs: impl Iterator<Item = (&'a Step<CharSet>, &'a Step<CharSet>)>,
) -> bool {
    let mut fixed = pairs.map_while(|(left, right)| left.item().zip(right.item()));
    fixed.all(|(left, right)| left.common(right).next().is_some())
}

/// The characters worth trying in a name: one that makes it free of every refused name stands for
/// all others; without such a one, the few that lead on towards a refused name.
fn guarded(
    characters: impl Iterator<Item = char>,
    guard: SegmentGuard,
) -> Vec<(char, SegmentGuard)> {
    let mut towards_refused = Vec::new();
    for character in characters {
        let next = guard.step(character);
        if next == SegmentGuard::Free {
            return vec![(character, next)];
        }
        towards_refused.push((character, next));
    }
    towards_refused
}

/// Two sequences to be walked side by side.
struct Sides<'a, T> {
    left: &'a [Step<T>],
    right: &'a [Step<T>],
    /// How many states the guard has.
    guards: usize,
}

/// How far each side has been walked, and what the guard knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    left: usize,
    right: usize,
    guard: SegmentGuard,
}

impl Cell {
    fn advanced(self, left: usize, right: usize) -> Self {
        Self {
            left: self.left + left,
            right: self.right + right,
            ..self
        }
    }
}

/// How a cell was reached first: from where, and with which item if it took one.
struct Arrival<L> {
    from: Cell,
    item: Option<L>,
}

impl<T> Sides<'_, T> {
    /// A sequence of items that fits both sides and ends where the guard allows it; a short one,
    /// since cells are visited in the order of their distance.
    fn search<L>(
        &self,
        entry: SegmentGuard,
        agree: impl Fn(Option<&T>, Option<&T>, SegmentGuard) -> Vec<(L, SegmentGuard)>,
    ) -> Option<Vec<L>> {
        let start = Cell {
            left: 0,
            right: 0,
            guard: entry,
        };
        let mut arrivals = self.no_arrivals();
        let mut queue = VecDeque::from([start]);
        while let Some(cell) = queue.pop_front() {
            if self.is_end(cell) {
                return Some(self.items(arrivals, cell));
            }
            for (next, item) in self.moves(cell, &agree) {
                let arrival = &mut arrivals[self.index(next)];
                if arrival.is_none() && next != start {
                    *arrival = Some(Arrival { from: cell, item });
                    queue.push_back(next);
                }
            }
        }
        None
    }

    fn no_arrivals<L>(&self) -> Vec<Option<Arrival<L>>> {
        let cells = (self.left.len() + 1) * (self.right.len() + 1) * self.guards;
        iter::repeat_with(|| None).take(cells).collect()
    }

    fn index(&self, cell: Cell) -> usize {
        let row = cell.left * (self.right.len() + 1) + cell.right;
        row * self.guards + cell.guard as usize
    }

    fn is_end(&self, cell: Cell) -> bool {
        cell.left == self.left.len() && cell.right == self.right.len() && cell.guard.is_allowed()
    }

    /// Whether both sides take anything while the name could still become a refused one. Then one
    /// letter frees it at no cost, so nothing else need be tried; and `a.rs` reads better than
    /// `.rs`.
    fn is_open(&self, cell: Cell) -> bool {
        let takes_anything = |step: Option<&Step<T>>| step.is_some_and(Step::is_many);
        cell.guard != SegmentGuard::Free
            && takes_anything(self.left.get(cell.left))
            && takes_anything(self.right.get(cell.right))
    }

    /// Everywhere one can go from a cell: past a `Many` that takes nothing more, or past one item
    /// on which both sides agree. A `Many` stays where it is when it takes one.
    fn moves<L>(
        &self,
        cell: Cell,
        agree: impl Fn(Option<&T>, Option<&T>, SegmentGuard) -> Vec<(L, SegmentGuard)>,
    ) -> Vec<(Cell, Option<L>)> {
        let (left, right) = (self.left.get(cell.left), self.right.get(cell.right));
        let mut moves = Vec::new();
        if !self.is_open(cell) {
            let (left, right) = (left.filter(|s| s.is_many()), right.filter(|s| s.is_many()));
            moves.extend(left.map(|_| (cell.advanced(1, 0), None)));
            moves.extend(right.map(|_| (cell.advanced(0, 1), None)));
        }
        let Some((left, right)) = left.zip(right) else {
            return moves;
        };
        let next = cell.advanced(left.width(), right.width());
        let agreed = agree(left.item(), right.item(), cell.guard).into_iter();
        moves.extend(agreed.map(|(item, guard)| (Cell { guard, ..next }, Some(item))));
        moves
    }

    /// The items taken on the way to `end`.
    fn items<L>(&self, mut arrivals: Vec<Option<Arrival<L>>>, end: Cell) -> Vec<L> {
        let mut items = Vec::new();
        let mut cell = end;
        while let Some(arrival) = arrivals[self.index(cell)].take() {
            items.extend(arrival.item);
            cell = arrival.from;
        }
        items.reverse();
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<Step<CharSet>> {
        let step = |character| match character {
            '*' => Step::Many,
            _ => Step::One(CharSet::single(character)),
        };
        text.chars().map(step).collect()
    }

    #[test]
    fn ends_agree_up_to_the_nearest_star() {
        let agree = |left: &str, right: &str| ends_agree(&steps(left), &steps(right));
        assert!(agree("ab*c*d", "ab*e*d"));
        assert!(agree("a*", "abc"));
        assert!(agree("*c", "abc"));
        assert!(agree("*x*", "y"));
        assert!(!agree("ab*", "ac*"));
        assert!(!agree("*ab", "*cb"));
        assert!(!agree("a*b", "a*c"));
    }

    #[test]
    fn names_meet_in_a_shortest_allowed_word() {
        let meet = |left: &str, right: &str| meet_wild(&steps(left), &steps(right));
        assert_eq!(meet("a*", "*b").as_deref(), Some("ab"));
        assert_eq!(meet("*", "*").as_deref(), Some("a"));
        assert_eq!(meet(".git", "*"), None);
        assert_eq!(meet(".git*", "*").as_deref(), Some(".gita"));
        assert_eq!(meet("a*b", "a*c"), None);
    }
}
