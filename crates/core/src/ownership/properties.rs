//! Overlap and covering against a definition without cleverness, on small patterns.

use proptest::prelude::*;

use super::{CaseRule, Ownership, PathPattern, RepoPath, overlap};

fn ownership(text: &str) -> Ownership {
    let pattern = text
        .parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    Ownership::new(vec![pattern]).unwrap()
}

fn example(left: &str, right: &str) -> Option<String> {
    Some(overlap(&ownership(left), &ownership(right), CaseRule::Sensitive)?.example)
}

const NAMES: [&str; 14] = [
    "a", "b", "ab", "ba", "?", "a?", "?b", "[!a]", "[ab]b", "*", "a*", "*b", "*[!a]*", "[a-b]*",
];

fn segments() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(&NAMES[..]);
    prop_oneof![
        Just("**".to_owned()),
        name().prop_map(str::to_owned),
        (name(), name()).prop_map(|(a, b)| format!("{a}/{b}")),
        name().prop_map(|a| format!("**/{a}")),
        name().prop_map(|a| format!("{a}/**")),
        (name(), name()).prop_map(|(a, b)| format!("{a}/**/{b}")),
        (name(), name()).prop_map(|(a, b)| format!("**/{a}/{b}")),
    ]
}

/// A pattern as its text, and the same as globs without braces for the reference.
fn patterns() -> impl Strategy<Value = (String, Vec<String>)> {
    let literal = || prop::sample::select(vec!["a", "b", "ab", "ba"]);
    prop_oneof![
        4 => segments().prop_map(|a| (format!("glob:{a}"), vec![a])),
        2 => (segments(), segments()).prop_map(|(a, b)| (format!("{{{a},{b}}}"), vec![a, b])),
        1 => literal().prop_map(|a| (a.to_owned(), vec![a.to_owned()])),
        1 => (literal(), literal()).prop_map(|(a, b)| (format!("{a}/{b}"), vec![format!("{a}/{b}")])),
        1 => literal().prop_map(|a| (format!("{a}/"), vec![format!("{a}/**")])),
    ]
}

/// All paths of up to four names of up to two of the characters `a` and `b`.
///
/// The bound suffices for [`patterns`]: two of them never need more than the two names of each
/// side, nor a name more than one fixed character of each side (or the two of one without `*`);
/// and wherever two classes agree, they agree on `a` or `b`.
fn all_paths() -> Vec<Vec<&'static str>> {
    let names = ["a", "b", "aa", "ab", "ba", "bb"];
    let mut paths: Vec<Vec<&str>> = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..4 {
        let end = paths.len();
        for parent in start..end {
            paths.extend(names.map(|name| [&paths[parent][..], &[name]].concat()));
        }
        start = end;
    }
    paths.split_off(1)
}

/// By the definition, without any thought of speed, and without any code of this module.
fn reference_covers(glob: &str, path: &[&str]) -> bool {
    let segments: Vec<&str> = glob.split('/').collect();
    (1..=path.len()).any(|depth| reference_path(&segments, &path[..depth]))
}

fn reference_path(glob: &[&str], path: &[&str]) -> bool {
    match (glob, path) {
        ([], _) => path.is_empty(),
        (["**"], _) => !path.is_empty(),
        (["**", rest @ ..], _) => {
            (0..=path.len()).any(|taken| reference_path(rest, &path[taken..]))
        }
        ([name, rest @ ..], [first, below @ ..]) => {
            reference_name(name.as_bytes(), first.as_bytes()) && reference_path(rest, below)
        }
        (_, []) => false,
    }
}

fn reference_name(glob: &[u8], name: &[u8]) -> bool {
    match (glob, name) {
        ([], _) => name.is_empty(),
        ([b'*', rest @ ..], _) => {
            (0..=name.len()).any(|taken| reference_name(rest, &name[taken..]))
        }
        (_, []) => false,
        ([b'?', rest @ ..], [_, name @ ..]) => reference_name(rest, name),
        ([b'[', b'!', not, b']', rest @ ..], [first, name @ ..]) => {
            first != not && reference_name(rest, name)
        }
        ([b'[', from, b'-', to, b']', rest @ ..], [first, name @ ..]) => {
            (from..=to).contains(&first) && reference_name(rest, name)
        }
        ([b'[', one, other, b']', rest @ ..], [first, name @ ..]) => {
            (first == one || first == other) && reference_name(rest, name)
        }
        ([literal, rest @ ..], [first, name @ ..]) => {
            literal == first && reference_name(rest, name)
        }
    }
}

/// Names without `*` that are `.git`, or nearly.
fn fixed_names() -> impl Strategy<Value = String> {
    let part = |parts: &'static [&'static str]| prop::sample::select(parts);
    let parts = (
        part(&[".", "?", "[.g]"]),
        part(&["g", "?", "[.g]", ""]),
        part(&["i", "?", "[it]", ""]),
        part(&["t", "?", "[it]", "[!t]", ""]),
        part(&["", "", ".", "?", "[.g]"]),
    );
    parts.prop_map(|(a, b, c, d, e)| [a, b, c, d, e].concat())
}

/// The same with one or two `*`.
fn starred_names() -> impl Strategy<Value = String> {
    let part = || prop::sample::select(vec!["", ".", "g", "i", "t", ".g", "it", "[!t]", "[.g]"]);
    let star = || prop::sample::select(vec!["*", "*i*", "*.*"]);
    (part(), star(), part()).prop_map(|(a, star, b)| format!("{a}{star}{b}"))
}

/// All words of up to five characters that are allowed as names.
fn all_names() -> Vec<String> {
    let mut words = vec![String::new()];
    for length in 1..=5 {
        let shorter: Vec<String> = words
            .iter()
            .filter(|word| word.len() + 1 == length)
            .cloned()
            .collect();
        for character in ['.', 'g', 'i', 't', 'a'] {
            words.extend(shorter.iter().map(|word| format!("{word}{character}")));
        }
    }
    words.retain(|word| !["", ".", "..", ".git", ".git."].contains(&word.as_str()));
    words
}

proptest! {
    #[test]
    fn overlap_agrees_with_trying_every_path((left, lefts) in patterns(), (right, rights) in patterns()) {
        let covered = |globs: &[String], path: &[&str]| globs.iter().any(|glob| reference_covers(glob, path));
        let common = all_paths().into_iter().find(|path| covered(&lefts, path) && covered(&rights, path));
        let found = example(&left, &right);
        prop_assert_eq!(found.is_some(), common.is_some(), "found {:?}, common {:?}", found, common);
    }

    #[test]
    fn covering_agrees_with_the_definition(
        (text, globs) in patterns(),
        paths in prop::sample::subsequence(all_paths(), 40),
    ) {
        let ownership = ownership(&text);
        for path in paths {
            let expected = globs.iter().any(|glob| reference_covers(glob, &path));
            let path: RepoPath = path.join("/").parse().unwrap();
            prop_assert_eq!(ownership.covers(&path, CaseRule::Sensitive), expected, "{}", path);
        }
    }

    #[test]
    fn overlap_is_symmetric_and_its_example_is_covered_by_both(
        (left, _) in patterns(),
        (right, _) in patterns(),
        case in prop::sample::select(vec![CaseRule::Sensitive, CaseRule::Folded]),
    ) {
        let right = right.to_uppercase().replacen("GLOB:", "glob:", 1);
        let (left, right) = (ownership(&left), ownership(&right));
        let found = overlap(&left, &right, case);
        prop_assert_eq!(found.is_some(), overlap(&right, &left, case).is_some());
        if let Some(found) = found {
            let path: RepoPath = found.example.parse().unwrap();
            prop_assert!(left.covers(&path, case) && right.covers(&path, case), "{}", path);
        }
    }

    #[test]
    fn patterns_survive_text_and_json((text, _) in patterns()) {
        let pattern: PathPattern = text.parse().unwrap();
        prop_assert_eq!(&pattern.to_string().parse::<PathPattern>().unwrap(), &pattern);
        let json = serde_json::to_string(&pattern).unwrap();
        prop_assert_eq!(serde_json::from_str::<PathPattern>(&json).unwrap(), pattern);
    }

    #[test]
    fn text_is_refused_or_reads_back_and_overlaps_itself(
        mark in prop::sample::select(vec!["", "exact:", "prefix:", "glob:"]),
        text in r"[abAÉé./*?{},!\[\]^\-]{1,9}/?",
        case in prop::sample::select(vec![CaseRule::Sensitive, CaseRule::Folded]),
    ) {
        let Ok(pattern) = format!("{mark}{text}").parse::<PathPattern>() else {
            return Ok(());
        };
        prop_assert_eq!(&pattern.to_string().parse::<PathPattern>().unwrap(), &pattern);
        let ownership = Ownership::new(vec![pattern]).unwrap();
        let path: RepoPath = overlap(&ownership, &ownership, case).unwrap().example.parse().unwrap();
        prop_assert!(ownership.covers(&path, case), "{}", path);
    }

    /// A name without `*` on one side fixes the length, so that five characters suffice.
    #[test]
    fn refused_names_never_make_an_overlap(
        left in fixed_names(),
        right in prop_oneof![fixed_names(), starred_names()],
    ) {
        let parsed = |text: &str| format!("glob:{text}").parse::<PathPattern>().is_ok();
        let fits = |glob: &str, name: &str| reference_name(glob.as_bytes(), name.as_bytes());
        let names = all_names();
        prop_assert_eq!(parsed(&left), names.iter().any(|name| fits(&left, name)));
        prop_assume!(parsed(&left) && parsed(&right));
        let common = names.iter().find(|name| fits(&left, name) && fits(&right, name));
        let found = example(&format!("glob:{left}"), &format!("glob:{right}"));
        prop_assert_eq!(found.is_some(), common.is_some(), "found {:?}, common {:?}", found, common);
    }
}
