//! Whether two ownerships claim a common path.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::walk::Walk;
use super::{CaseRule, Ownership, PathPattern};

/// Two patterns that cover a common path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlap {
    /// The pattern of the first ownership.
    pub left: PathPattern,
    /// The pattern of the second.
    pub right: PathPattern,
    /// A path that both cover, whether it exists or not; in folded spelling under
    /// [`CaseRule::Folded`].
    pub example: String,
}

/// The first two patterns, one of each ownership, that cover a common path.
///
/// Exact under [`CaseRule::Sensitive`]: `None` is given if and only if there is no common path,
/// existing or not. Under [`CaseRule::Folded`] classes of characters beyond ASCII may count as
/// wider than they are, so an overlap is never missed but may be seen where none is.
#[must_use]
pub fn overlap(left: &Ownership, right: &Ownership, case: CaseRule) -> Option<Overlap> {
    let rights: Vec<_> = right
        .patterns()
        .iter()
        .map(|right| (right, right.walks(case)))
        .collect();
    left.patterns().iter().find_map(|left| {
        let walks = left.walks(case);
        let meet = |(right, others): &(&PathPattern, Cow<[Walk]>)| {
            let example = first_meeting(&walks, others)?;
            Some(Overlap {
                left: left.clone(),
                right: (*right).clone(),
                example,
            })
        };
        rights.iter().find_map(meet)
    })
}

fn first_meeting(walks: &[Walk], others: &[Walk]) -> Option<String> {
    walks
        .iter()
        .find_map(|walk| others.iter().find_map(|other| walk.meet(other)))
}

#[cfg(test)]
mod tests {
    use super::super::{OwnershipError, PatternError, RepoPathError};
    use super::*;

    fn ownership(texts: &[&str]) -> Ownership {
        let parse = |text: &&str| {
            text.parse()
                .unwrap_or_else(|error| panic!("{text}: {error}"))
        };
        Ownership::new(texts.iter().map(parse).collect()).unwrap()
    }

    fn example(left: &str, right: &str, case: CaseRule) -> Option<String> {
        Some(overlap(&ownership(&[left]), &ownership(&[right]), case)?.example)
    }

    #[track_caller]
    fn assert_example(left: &str, right: &str, expected: Option<&str>) {
        let found = example(left, right, CaseRule::Sensitive);
        assert_eq!(found.as_deref(), expected, "{left} with {right}");
    }

    /// The verdicts that the first handoff got wrong or right by asking which files exist.
    #[test]
    fn verdicts_of_the_seed_are_corrected() {
        for (left, right, expected) in [
            ("new.py", "new.py", "new.py"),
            ("./new.py", "new.py", "new.py"),
            ("src/", "src/m.py", "src/m.py"),
            ("src/", "src/new.py", "src/new.py"),
            ("newdir/", "newdir/", "newdir/a"),
            ("src/", "src/sub/", "src/sub/a"),
            ("src/*.py", "src/new.py", "src/new.py"),
            ("**/*.rs", "src/*.rs", "src/a.rs"),
            ("src", "src/m.py", "src/m.py"),
            ("**", "anything/new", "anything/new"),
        ] {
            assert_example(left, right, Some(expected));
            assert_example(right, left, Some(expected));
        }
    }

    #[test]
    fn claims_that_the_seed_should_have_refused_are_no_ownerships() {
        let refusal = |text: &str| text.parse::<PathPattern>().expect_err(text);
        let path = |text: &str| text.to_owned();
        assert_eq!(Ownership::new(Vec::new()), Err(OwnershipError::Empty));
        assert_eq!(refusal("./"), RepoPathError::Empty.into());
        let git_directory = RepoPathError::GitDirectory {
            path: path(".git/config"),
        };
        assert_eq!(refusal(".git/config"), PatternError::Path(git_directory));
        let absolute = RepoPathError::Absolute {
            path: path("/src/*.py"),
        };
        assert_eq!(refusal("/src/*.py"), PatternError::Path(absolute));
    }

    #[test]
    fn symlinks_are_names_like_others_here() {
        assert_example("srclink/*.py", "src/m.py", None);
    }

    #[test]
    fn case_decides_only_where_the_filesystem_folds_it() {
        let folded = |left, right| example(left, right, CaseRule::Folded);
        assert_example("README.md", "readme.md", None);
        assert_eq!(
            folded("README.md", "readme.md").as_deref(),
            Some("readme.md")
        );
        assert_eq!(folded("SRC/", "src/É").as_deref(), Some("src/é"));
        assert_eq!(folded("[A-C]*", "b[!X]").as_deref(), Some("ba"));
        assert_eq!(folded("[!aA]", "a"), None);
        assert_eq!(folded("README.md", "READYOU.md"), None);
    }

    #[test]
    fn patterns_that_share_no_path_do_not_overlap() {
        for (left, right) in [
            ("src/a.rs", "src/b.rs"),
            ("src", "srcs"),
            ("src/", "src2/"),
            ("*.rs", "*.py"),
            ("?", "??"),
            ("[a-c]", "[d-f]"),
            ("{a,b}/x", "{c,d}/x"),
            ("a*b", "a*c"),
            ("a/*/c", "a/b/d"),
            ("*ab", "?b?"),
            ("x/**/y", "z/**/y"),
            (".?it", ".gi?"),
            ("[.x]git", "?gi[t][!x]"),
        ] {
            assert_example(left, right, None);
        }
    }

    #[test]
    fn examples_are_short_readable_paths_of_both() {
        for (left, right, expected) in [
            ("*.rs", "*/a.py", "a.rs/a.py"),
            ("a*", "*b", "ab"),
            ("src_*_a*", "src_*_b*", "src__a_b"),
            ("**/a/b", "b/b", "b/b/a/b"),
            ("{docs,src}/**/*.md", "src/[!.]*/?.md", "src/a.md/a.md"),
            ("*", "*", "a"),
            ("?it", "[.g]*", "git"),
            (".g*", "*it", ".gait"),
            (".g?t*", ".?it*", ".gita"),
            ("[.x]git[.]", "*.*", "xgit."),
            ("?", "[!a-zA-Z0-9]", "!"),
        ] {
            assert_example(left, right, Some(expected));
        }
    }

    #[test]
    fn overlap_names_the_patterns_that_meet() {
        let left = ownership(&["docs/", "src/*.rs", "build.rs"]);
        let right = ownership(&["Cargo.toml", "{examples,src}/m*", "tests/"]);
        let expected = Overlap {
            left: "src/*.rs".parse().unwrap(),
            right: "{examples,src}/m*".parse().unwrap(),
            example: "src/m.rs".to_owned(),
        };
        assert_eq!(overlap(&left, &right, CaseRule::Sensitive), Some(expected));
    }

    /// Each of these takes a backtracking matcher longer than the age of the universe.
    #[test]
    fn hostile_globs_are_decided_at_once() {
        let stars = "*a".repeat(120);
        assert_example(&format!("{stars}*b"), &format!("{stars}*c"), None);
        assert_example(&format!("{stars}*"), &"[ab]".repeat(119), None);
        assert_example(
            &format!("{stars}*"),
            &"[ab]".repeat(120),
            Some(&"a".repeat(120)),
        );
        let deep = "**/a/".repeat(100);
        assert_example(
            &format!("{deep}b"),
            &format!("{deep}c/x"),
            Some(&hostile_path()),
        );
        assert_example(&format!("x/{deep}b"), &format!("y/{deep}b"), None);
    }

    fn hostile_path() -> String {
        format!("{}b/a/c/x", "a/".repeat(100))
    }
}
