//! The text of a character class: `[a-z_]`, `[!a]`.

use super::char_set::{CharRange, CharSet};

/// Why the members of a class are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClassProblem {
    /// `[^a]` negates for some tools, `[[:alpha:]]` is a set for some.
    Unknown,
    /// `[z-a]`.
    ReversedRange,
}

/// How long the class at the start of `text` is, brackets included.
///
/// As in every shell, a `]` right after the opening is a member.
pub(super) fn class_bytes(text: &str) -> Option<usize> {
    let members = text.strip_prefix('[')?;
    let members = members.strip_prefix('!').unwrap_or(members);
    let first = members.chars().next()?;
    let (_, rest) = members[first.len_utf8()..].split_once(']')?;
    Some(text.len() - rest.len())
}

/// The set that a class stands for, brackets included.
pub(super) fn parse_class(class: &str) -> Result<CharSet, ClassProblem> {
    let members = &class[1..class.len() - 1];
    if members.starts_with('^') || ["[:", "[.", "[="].iter().any(|sign| members.contains(sign)) {
        return Err(ClassProblem::Unknown);
    }
    match members.strip_prefix('!') {
        Some(excluded) => Ok(CharSet::all_but(&parse_ranges(excluded)?)),
        None => Ok(CharSet::of(&parse_ranges(members)?)),
    }
}

fn parse_ranges(members: &str) -> Result<Vec<CharRange>, ClassProblem> {
    let characters: Vec<char> = members.chars().collect();
    let mut rest = &characters[..];
    let mut ranges = Vec::new();
    while let [first, tail @ ..] = rest {
        let (last, tail) = match tail {
            ['-', last, tail @ ..] => (last, tail),
            _ => (first, tail),
        };
        if last < first {
            return Err(ClassProblem::ReversedRange);
        }
        ranges.push((*first, *last));
        rest = tail;
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(class: &str) -> String {
        assert_eq!(class_bytes(class), Some(class.len()), "{class}");
        let set = parse_class(class).unwrap_or_else(|problem| panic!("{class}: {problem:?}"));
        (' '..='~')
            .filter(|character| set.contains(*character))
            .collect()
    }

    #[test]
    fn members_are_characters_and_ranges() {
        assert_eq!(members("[a-cx]"), "abcx");
        assert_eq!(members("[]a]"), "]a");
        assert_eq!(members("[-a]"), "-a");
        assert_eq!(members("[a-]"), "-a");
        assert_eq!(members("[a!]"), "!a");
        assert_eq!(members("[*?{,]"), "*,?{");
    }

    #[test]
    fn exclamation_mark_excludes_and_slash_is_never_a_member() {
        assert_eq!(members("[!0-~]"), " !\"#$%&'()*+,-.");
        assert_eq!(members("[!]!-.0-Z^-~]"), " [\\");
        assert_eq!(members("[.-0]"), ".0");
    }

    #[test]
    fn class_ends_at_the_first_bracket_that_is_no_member() {
        assert_eq!(class_bytes("[a]b]"), Some(3));
        assert_eq!(class_bytes("[]]]"), Some(3));
        assert_eq!(class_bytes("[é]x"), Some(4));
        assert_eq!(class_bytes("[!!]x"), Some(4));
        for open in ["[", "[]", "[!", "[!]", "[a"] {
            assert_eq!(class_bytes(open), None, "{open}");
        }
    }

    #[test]
    fn classes_that_tools_read_differently_are_refused() {
        for class in ["[^a]", "[[:alpha:]", "[[.a.]", "[a[=b=]"] {
            assert_eq!(parse_class(class), Err(ClassProblem::Unknown), "{class}");
        }
        assert_eq!(parse_class("[z-a]"), Err(ClassProblem::ReversedRange));
    }
}
