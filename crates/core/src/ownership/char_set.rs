//! Sets of characters that may stand at one place of a name.

use std::{iter, slice};

use super::case_rule::fold;

/// First and last character, both included.
pub(super) type CharRange = (char, char);

/// Every character that a name may have (`/` and NUL are missing), the most readable first.
///
/// All sets are cut along these ranges and keep their order, so the first common character of two
/// sets makes a readable example.
const NAME_CHARACTERS: [CharRange; 10] = [
    ('a', 'z'),
    ('0', '9'),
    ('A', 'Z'),
    ('!', '.'),
    (':', '@'),
    ('[', '`'),
    ('{', '~'),
    ('\u{a1}', char::MAX),
    ('\u{1}', ' '),
    ('\u{7f}', '\u{a0}'),
];

/// Ranges with more characters are folded by taking in everything outside ASCII.
const MOST_FOLDED_ONE_BY_ONE: usize = 1024;

/// A set of characters, never containing `/` or NUL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum CharSet {
    /// One character, as first and last of a range; apart from the others because most steps of a
    /// pattern are one, and so need no allocation.
    Single(CharRange),
    Several(Vec<CharRange>),
}

impl CharSet {
    pub(super) fn any() -> Self {
        Self::Several(NAME_CHARACTERS.to_vec())
    }

    pub(super) fn single(character: char) -> Self {
        Self::Single((character, character))
    }

    pub(super) fn of(ranges: &[CharRange]) -> Self {
        let ranges = merged(ranges);
        let cut: Vec<CharRange> = common_ranges(&NAME_CHARACTERS, &ranges).collect();
        match cut[..] {
            [(first, last)] if first == last => Self::single(first),
            _ => Self::Several(cut),
        }
    }

    pub(super) fn all_but(excluded: &[CharRange]) -> Self {
        let excluded = merged(excluded);
        let starts = excluded.iter().map(|range| after(range.1));
        let ends = excluded.iter().map(|range| before(range.0));
        let gaps = iter::once(Some('\0'))
            .chain(starts)
            .zip(ends.chain([Some(char::MAX)]));
        let kept: Vec<CharRange> = gaps.filter_map(|(start, end)| start.zip(end)).collect();
        Self::of(&kept)
    }

    pub(super) fn as_single(&self) -> Option<char> {
        match self {
            Self::Single((character, _)) => Some(*character),
            Self::Several(_) => None,
        }
    }

    fn ranges(&self) -> &[CharRange] {
        match self {
            Self::Single(range) => slice::from_ref(range),
            Self::Several(ranges) => ranges,
        }
    }

    pub(super) fn contains(&self, character: char) -> bool {
        let is_in = |(first, last): &CharRange| (*first..=*last).contains(&character);
        self.ranges().iter().any(is_in)
    }

    /// What is in both sets, readable characters first. Lazy: the sets may be huge.
    pub(super) fn common(&self, other: &Self) -> impl Iterator<Item = char> {
        let ranges = common_ranges(self.ranges(), other.ranges());
        ranges.flat_map(|(first, last)| first..=last)
    }

    /// At least the folded forms of all members.
    pub(super) fn folded(&self) -> Self {
        let folded = self.ranges().iter().flat_map(|range| folded_range(*range));
        Self::of(&folded.collect::<Vec<_>>())
    }
}

/// Folding a wide range one by one would cost a million steps for each `[!a]`. Only ranges beyond
/// ASCII are wide, and there all of Unicode counts as one: too much is owned rather than too little.
fn folded_range((first, last): CharRange) -> Vec<CharRange> {
    if (first..=last).nth(MOST_FOLDED_ONE_BY_ONE).is_none() {
        return (first..=last)
            .map(fold)
            .map(|folded| (folded, folded))
            .collect();
    }
    let folded_into_ascii = ['k', 's'].map(|folded| (folded, folded));
    [('\u{80}', char::MAX)]
        .into_iter()
        .chain(folded_into_ascii)
        .collect()
}

/// The same characters in ascending ranges that neither overlap nor touch.
fn merged(ranges: &[CharRange]) -> Vec<CharRange> {
    let mut ranges = ranges.to_vec();
    ranges.sort_unstable();
    ranges.dedup_by(|next, kept| {
        let touches = after(kept.1).is_none_or(|after| next.0 <= after);
        if touches {
            kept.1 = kept.1.max(next.1);
        }
        touches
    });
    ranges
}

/// What is in both, in the order of the left one.
fn common_ranges(left: &[CharRange], right: &[CharRange]) -> impl Iterator<Item = CharRange> {
    let common = |left: CharRange, right: CharRange| (left.0.max(right.0), left.1.min(right.1));
    let pairs = left
        .iter()
        .flat_map(move |left| right.iter().map(move |right| common(*left, *right)));
    pairs.filter(|(first, last)| first <= last)
}

fn before(character: char) -> Option<char> {
    ('\0'..character).next_back()
}

fn after(character: char) -> Option<char> {
    (character..=char::MAX).nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascii(set: &CharSet) -> String {
        ('\0'..'\u{80}')
            .filter(|character| set.contains(*character))
            .collect()
    }

    #[test]
    fn any_name_character_is_all_but_slash_and_nul() {
        let edges = ['\u{d7ff}', '\u{e000}', char::MAX];
        let all = ('\0'..='\u{ff}').chain(edges);
        let missing = all.filter(|character| !CharSet::any().contains(*character));
        assert_eq!(missing.collect::<String>(), "\0/");
    }

    #[test]
    fn exclusion_is_the_complement_even_of_overlapping_ranges() {
        let excluded = [
            ('c', 'e'),
            ('\0', 'a'),
            ('a', 'a'),
            ('d', 'd'),
            ('g', 'x'),
            ('h', 'i'),
        ];
        let set = CharSet::all_but(&excluded);
        assert_eq!(ascii(&set), "bfyz{|}~\u{7f}");
        assert!(set.contains(char::MAX) && set.contains('é'));
        assert_eq!(CharSet::all_but(&[('\0', char::MAX)]), CharSet::of(&[]));
    }

    #[test]
    fn common_characters_come_readable_first() {
        let any = CharSet::any();
        assert_eq!(any.common(&any).next(), Some('a'));
        assert_eq!(
            any.common(&CharSet::of(&[('\u{1}', '5')])).next(),
            Some('0')
        );
        let (left, right) = (
            CharSet::of(&[('X', 'Z'), ('a', 'c')]),
            CharSet::of(&[('Z', 'b')]),
        );
        assert_eq!(left.common(&right).collect::<String>(), "abZ");
        assert_eq!(
            CharSet::single('a').common(&CharSet::single('b')).next(),
            None
        );
    }

    #[test]
    fn folded_set_has_the_folded_form_of_each_member() {
        assert_eq!(
            ascii(&CharSet::of(&[('A', 'C'), ('x', 'x'), ('_', '_')]).folded()),
            "_abcx"
        );
        assert!(CharSet::of(&[('É', 'É')]).folded().contains('é'));
        assert!(!CharSet::of(&[('É', 'É')]).folded().contains('ü'));
        for character in ['a', 'é', '\u{7f}', '\u{80}', 'k'] {
            assert!(CharSet::any().folded().contains(character), "{character}");
        }
    }

    #[test]
    fn exclusion_of_one_case_excludes_nothing_when_folded() {
        assert!(CharSet::all_but(&[('a', 'a')]).folded().contains('a'));
        assert!(
            !CharSet::all_but(&[('a', 'a'), ('A', 'A')])
                .folded()
                .contains('a')
        );
        let without_k = CharSet::all_but(&[('k', 'k'), ('K', 'K')]);
        assert!(
            without_k.folded().contains('k'),
            "the Kelvin sign folds to k"
        );
    }
}
