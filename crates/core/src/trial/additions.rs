//! What a session that adds a test may do to a file of tests that is there: what is in it stays as it is.
//!
//! A result says nothing about how much a test asks for. Whoever may write tests could make an old one ask for less, or leave it early,
//! and it would still pass; so a new test comes at the end of a file, or in one of its own. Only imports may grow.

use std::collections::BTreeSet;

/// Whether `after` is `before` with lines added at its end, where nothing but closing brackets follows them. Statements that import
/// something may be others, as long as they name all that they named.
pub fn only_adds(before: &str, after: &str) -> bool {
    let (before, after) = (Parts::of(before), Parts::of(after));
    if !before.imported.is_subset(&after.imported) {
        return false;
    }
    let is_same = |(old, new): &(&&str, &&str)| old == new;
    let kept = { before.lines.iter().zip(&after.lines) }
        .take_while(is_same)
        .count();
    let (closing, added) = (&before.lines[kept..], &after.lines[kept..]);
    closing.iter().all(|it| is_closing(it)) && added.ends_with(closing)
}

/// A file without what it imports, and the words of that.
#[derive(Default)]
struct Parts<'a> {
    lines: Vec<&'a str>,
    imported: BTreeSet<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let lines: Vec<_> = text.lines().map(shown).collect();
        let mut parts = Self::default();
        let mut rest = lines.as_slice();
        while let Some(line) = rest.first() {
            let statement = &rest[..length(rest)];
            if is_import(statement) {
                parts.imported.extend(statement.iter().flat_map(words));
                rest = &rest[statement.len()..];
            } else {
                parts.lines.push(line);
                rest = &rest[1..];
            }
        }
        // Empty lines at the end are nobody's work.
        while parts.lines.last().is_some_and(|it| it.is_empty()) {
            parts.lines.pop();
        }
        parts
    }
}

/// The last case of a list gets a comma when another one follows.
fn shown(line: &str) -> &str {
    line.trim_end().trim_end_matches(',')
}

/// How many lines the first statement has: until its brackets are closed.
fn length(lines: &[&str]) -> usize {
    let mut depth = 0_i64;
    let is_over = |line: &&str| {
        let count = |brackets: [char; 3]| line.matches(brackets).count();
        let (open, closed) = (count(['(', '[', '{']), count([')', ']', '}']));
        depth += i64::try_from(open).unwrap_or(0) - i64::try_from(closed).unwrap_or(0);
        depth <= 0
    };
    lines
        .iter()
        .position(is_over)
        .map_or(lines.len(), |it| it + 1)
}

fn is_import(statement: &[&str]) -> bool {
    const WORDS: [&str; 6] = ["use ", "pub use ", "import ", "from ", "mod ", "#include "];
    const BINDINGS: [&str; 3] = ["const ", "let ", "var "];
    let begins = |words: &[&str]| words.iter().any(|it| statement[0].starts_with(it));
    let is_required = || begins(&BINDINGS) && statement.iter().any(|it| it.contains("= require("));
    // More than one statement on a line could do anything.
    let is_one = { statement.iter() }.all(|it| !it.trim_end_matches(';').contains(';'));
    is_one && (begins(&WORDS) || is_required())
}

fn words<'a>(line: &&'a str) -> impl Iterator<Item = &'a str> {
    line.split(|it: char| !it.is_alphanumeric() && it != '_')
        .filter(|it| !it.is_empty())
}

fn is_closing(line: &str) -> bool {
    let line = line.trim();
    line == "end" || line.chars().all(|it| matches!(it, ')' | ']' | '}' | ';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUST: &str = "use calc::add;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n";

    #[test]
    fn a_test_at_the_end_is_an_addition() {
        let more = "\n#[test]\nfn subtracts() {\n    assert_eq!(sub(2, 1), 1);\n}\n";
        assert!(only_adds(RUST, RUST));
        assert!(only_adds(RUST, &format!("{RUST}{more}")));
        let inner = "describe('sums', () => {\n  it('adds', () => {\n    ok();\n  });\n});\n";
        let two = inner.replace(
            "  });\n",
            "  });\n\n  it('more', () => {\n    ok();\n  });\n",
        );
        assert!(only_adds(inner, &two));
    }

    #[test]
    fn imports_may_name_more_and_not_less() {
        let more = RUST.replace("use calc::add", "use calc::{add, sub}");
        assert!(only_adds(RUST, &more));
        let long = RUST.replace("calc::add", "calc::{\n    add,\n    sub,\n}");
        assert!(only_adds(RUST, &long));
        assert!(only_adds(
            &long,
            &long.replace("    sub,\n", "    sub,\n    neg,\n")
        ));
        assert!(!only_adds(&more, RUST));
        let required = "const { add } = require('../calc');\n";
        assert!(only_adds(required, &required.replace("add", "add, sub")));
        let sly = required.replace(";\n", "; globalThis.add = 1;\n");
        assert!(!only_adds(required, &sly));
    }

    #[test]
    fn a_case_at_the_end_of_a_list_is_an_addition() {
        let cases = "CASES = [\n    (1, 2)\n]\n";
        assert!(only_adds(
            cases,
            &cases.replace("2)\n", "2),\n    (2, 3)\n")
        ));
        assert!(!only_adds(cases, &cases.replace("(1, 2)", "(2, 2)")));
    }

    #[test]
    fn what_is_there_cannot_ask_for_less() {
        for (old, new) in [
            ("    assert_eq!(add(1, 2), 3);\n", "    assert!(true);\n"),
            ("    assert_eq!", "    return;\n    assert_eq!"),
            ("fn adds", "#[ignore]\nfn adds"),
            ("#[test]\nfn adds", "fn helps() {}\n\n#[test]\nfn adds"),
            (RUST, ""),
        ] {
            assert!(!only_adds(RUST, &RUST.replace(old, new)), "{new}");
        }
    }
}
