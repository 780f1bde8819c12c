//! What a session that adds a test may do to a file of tests that is there: what is in it stays as it is.
//!
//! A result says nothing about how much a test asks for. Whoever may write tests could make an old one ask for less, or leave it early,
//! and it would still pass; so a new test comes at the end of a file, or in one of its own. Only imports may grow.

use std::collections::{BTreeMap, BTreeSet};

/// Whether `after` is `before` with lines added at its end, where nothing but closing brackets follows them. Statements that import
/// something may name more, as long as all names still come from where they came.
pub fn only_adds(before: &str, after: &str) -> bool {
    let (before, after) = (Parts::of(before), Parts::of(after));
    if !before.is_imported_in(&after) {
        return false;
    }
    let is_same = |(old, new): &(&&str, &&str)| old == new;
    let kept = { before.lines.iter().zip(&after.lines) }
        .take_while(is_same)
        .count();
    let (closing, added) = (&before.lines[kept..], &after.lines[kept..]);
    closing.iter().all(|it| is_closing(it)) && added.ends_with(closing)
}

/// A file without what it imports, and that: names by what they come from.
#[derive(Default)]
struct Parts<'a> {
    lines: Vec<&'a str>,
    imported: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let lines: Vec<_> = text.lines().map(shown).collect();
        let mut parts = Self::default();
        let mut rest = lines.as_slice();
        while let Some(line) = rest.first() {
            let statement = &rest[..length(rest)];
            if let Some((source, names)) = import(&statement.join(" ")) {
                parts.imported.entry(source).or_default().extend(names);
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

    /// Whether every name comes from where it came, and from nowhere else.
    fn is_imported_in(&self, later: &Self) -> bool {
        let mut old = self.imported.iter();
        let is_there = old.all(|(source, names)| {
            let now = later.imported.get(source);
            now.is_some_and(|now| names.is_subset(now))
        });
        let known: BTreeSet<_> = self.imported.values().flatten().collect();
        let mut new = { later.imported.iter() }.filter(|it| !self.imported.contains_key(it.0));
        is_there && new.all(|(_, names)| names.iter().all(|it| !known.contains(it)))
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

/// What a statement imports from, and which names. None if it is no import or might do more than that: it gives a name another
/// meaning, takes whatever there is, or has a comment or a second statement in it.
fn import(statement: &str) -> Option<(String, BTreeSet<String>)> {
    let text = statement.trim().trim_end_matches(';');
    let is_plain = [";", "//", "/*", "*", " as ", "`"]
        .iter()
        .all(|it| !text.contains(it));
    if !is_plain || (text.contains('#') && !text.starts_with("#include ")) {
        return None;
    }
    if let Some(rest) = text.strip_prefix("from ") {
        return rest.split_once(" import ").map(named);
    }
    if let Some(rest) = text.strip_prefix("import ") {
        let from = rest.rsplit_once(" from ");
        let (names, source) = from.unwrap_or(("", rest));
        return Some(named((source, names)));
    }
    if let Some(path) = ["use ", "pub use "]
        .iter()
        .find_map(|it| text.strip_prefix(it))
    {
        let place = path.find('{').or_else(|| path.rfind("::"));
        return place.map(|place| named(path.split_at(place)));
    }
    if ["mod ", "#include "].iter().any(|it| text.starts_with(it)) {
        return Some((text.to_owned(), BTreeSet::new()));
    }
    required(text)
}

/// `const { a, b } = require('x')`
fn required(text: &str) -> Option<(String, BTreeSet<String>)> {
    let mut bindings = ["const ", "let ", "var "].iter();
    let rest = bindings.find_map(|it| text.strip_prefix(it))?;
    let (names, source) = rest.split_once(" = require(")?;
    let source = source.strip_suffix(')')?;
    let is_plain = !names.contains([':', '=']) && !source.contains([')', ',']);
    is_plain.then(|| named((source, names)))
}

fn named((source, names): (&str, &str)) -> (String, BTreeSet<String>) {
    let words = names.split(|it: char| !it.is_alphanumeric() && it != '_');
    let words = words.filter(|it| !it.is_empty()).map(str::to_owned);
    let source = source.trim().trim_end_matches("::");
    (source.to_owned(), words.collect())
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
        let sly = "const { add } = { add: () => 3 }, calc = require('../calc');\n";
        assert!(!only_adds(required, sly));
    }

    #[test]
    fn a_name_comes_from_where_it_came() {
        let python = "from calc import add\n\ndef test_adds():\n    assert add(1, 2) == 3\n";
        let with =
            |import: &str| only_adds(python, &python.replace("from calc import add", import));
        assert!(with("from calc import add, sub"));
        assert!(with("import os\nfrom calc import add"));
        for sly in [
            "from fake import add  # calc",
            "from calc import sub as add",
            "from calc import add\nfrom fake import add",
            "from calc import add\nfrom fake import *",
        ] {
            assert!(!with(sly), "{sly}");
        }
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
