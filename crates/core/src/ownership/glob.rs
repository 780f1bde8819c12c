//! Patterns with wildcards.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::alternatives::write_out;
use super::char_set::CharSet;
use super::class::{ClassProblem, class_bytes, parse_class};
use super::repo_path::{check_name, normalise};
use super::walk::{Name, Step, Walk};
use super::{CaseRule, MAX_PATTERN_BYTES, PatternError};

/// Most globs without braces that one glob may stand for.
pub(super) const MAX_ALTERNATIVES: usize = 64;

/// Most characters and wildcards in a segment. No filesystem has longer names.
pub(super) const MAX_SEGMENT_STEPS: usize = 255;

/// A path with wildcards.
///
/// | text | matches |
/// |---|---|
/// | `*` | any characters of one segment, also none, also a leading dot |
/// | `?` | one character |
/// | `[a-z_]` `[!a]` | one character in, or not in, the class; `[*]` is a star |
/// | `{a,b/c}` | either; may nest and may contain `/` |
/// | `**` | any segments, also none; as a whole segment only; at the end at least one |
///
/// What tools read differently is refused: backslashes, `a**`, `[^a]`, `[[:alpha:]]`, `{a}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GlobPattern {
    text: String,
    /// One for each alternative.
    walks: Vec<Walk>,
    /// The same for [`CaseRule::Folded`], here because every covered path asks for them.
    folded_walks: Vec<Walk>,
    /// The length of all alternatives written out.
    written_bytes: usize,
}

impl GlobPattern {
    /// The glob as text, without a leading `./`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn walks(&self, case: CaseRule) -> &[Walk] {
        match case {
            CaseRule::Sensitive => &self.walks,
            CaseRule::Folded => &self.folded_walks,
        }
    }

    pub(super) fn written_bytes(&self) -> usize {
        self.written_bytes
    }
}

impl FromStr for GlobPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = text.len();
        if bytes > MAX_PATTERN_BYTES {
            return Err(PatternError::GlobTooLong { bytes });
        }
        let text = text.trim_start_matches("./").to_owned();
        if text.contains('\\') {
            return Err(PatternError::Backslash { glob: text });
        }
        let written = write_out(&text)?;
        let walks = written.iter().map(|glob| parse_walk(glob));
        let walks = walks.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            text,
            folded_walks: walks.iter().map(Walk::folded).collect(),
            walks,
            written_bytes: written.iter().map(String::len).sum(),
        })
    }
}

fn parse_walk(glob: &str) -> Result<Walk, PatternError> {
    let glob = normalise(glob)?;
    let steps = glob.split('/').map(|segment| parse_segment(segment, glob));
    Ok(Walk(steps.collect::<Result<_, _>>()?).with_everything_below())
}

fn parse_segment(segment: &str, glob: &str) -> Result<Step<Name>, PatternError> {
    if segment == "**" {
        return Ok(Step::Many);
    }
    let steps = parse_name(segment, glob)?;
    if steps
        .windows(2)
        .any(|pair| pair == [Step::Many, Step::Many])
    {
        return Err(PatternError::PartialDoubleStar {
            glob: glob.to_owned(),
        });
    }
    if steps.len() > MAX_SEGMENT_STEPS {
        return Err(PatternError::SegmentTooLong {
            glob: glob.to_owned(),
        });
    }
    literal(&steps).map_or_else(|| check_wild(steps, glob), |name| check_literal(name, glob))
}

fn check_literal(name: String, glob: &str) -> Result<Step<Name>, PatternError> {
    check_name(&name, glob)?;
    Ok(Step::One(Name::Literal(name)))
}

fn check_wild(steps: Vec<Step<CharSet>>, glob: &str) -> Result<Step<Name>, PatternError> {
    let name = Name::Wild(steps);
    match name.example() {
        Some(_) => Ok(Step::One(name)),
        None => Err(PatternError::MatchesNothing {
            glob: glob.to_owned(),
        }),
    }
}

/// The only name that fits, unless there are several.
fn literal(steps: &[Step<CharSet>]) -> Option<String> {
    steps
        .iter()
        .map(|step| step.item().and_then(CharSet::as_single))
        .collect()
}

fn parse_name(segment: &str, glob: &str) -> Result<Vec<Step<CharSet>>, PatternError> {
    let mut steps = Vec::new();
    let mut rest = segment;
    while let Some(character) = rest.chars().next() {
        let mut bytes = character.len_utf8();
        steps.push(match character {
            '*' => Step::Many,
            '?' => Step::One(CharSet::any()),
            '[' => {
                let class = class_at(rest, glob)?;
                bytes = class.len();
                Step::One(parse_class(class).map_err(|problem| refused_class(problem, glob))?)
            }
            _ => Step::One(CharSet::single(character)),
        });
        rest = &rest[bytes..];
    }
    Ok(steps)
}

fn class_at<'a>(rest: &'a str, glob: &str) -> Result<&'a str, PatternError> {
    let bytes = class_bytes(rest);
    let bytes = bytes.ok_or_else(|| PatternError::UnclosedClass {
        glob: glob.to_owned(),
    })?;
    Ok(&rest[..bytes])
}

fn refused_class(problem: ClassProblem, glob: &str) -> PatternError {
    let glob = glob.to_owned();
    match problem {
        ClassProblem::Unknown => PatternError::UnknownClass { glob },
        ClassProblem::ReversedRange => PatternError::ReversedRange { glob },
    }
}

impl TryFrom<String> for GlobPattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<GlobPattern> for String {
    fn from(glob: GlobPattern) -> Self {
        glob.text
    }
}

impl fmt::Display for GlobPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::RepoPathError;
    use super::*;

    fn glob(text: &str) -> GlobPattern {
        text.parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn refusal(text: &str) -> PatternError {
        text.parse::<GlobPattern>().expect_err(text)
    }

    fn matches(text: &str, path: &str, case: CaseRule) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        glob(text).walks(case).iter().any(|walk| walk.fits(&names))
    }

    #[test]
    fn globs_cover_what_they_match_and_what_lies_below() {
        for (text, path) in [
            ("src/*.py", "src/m.py"),
            ("./src/*.py", "src/.py"),
            ("*", ".hidden"),
            ("src/*", "src/a/b"),
            ("?.rs", "é.rs"),
            ("[a-c]x", "bx"),
            ("[!a]x", "bx"),
            ("[*]", "*"),
            ("a]b", "a]b"),
            ("{src,tests/it}/*.rs", "tests/it/a.rs"),
            ("**/*.rs", "a.rs"),
            ("**/*.rs", "a/b/c.rs"),
            ("a/**/z", "a/z"),
            ("a/**/z", "a/b/c/z/below"),
            ("src/**", "src/a/b"),
            ("**", "a"),
            ("a*b*c", "abbxbcxc"),
            ("[a]/plain", "a/plain"),
        ] {
            assert!(
                matches(text, path, CaseRule::Sensitive),
                "{text} should cover {path}"
            );
        }
    }

    #[test]
    fn globs_do_not_cover_what_they_do_not_match() {
        for (text, path) in [
            ("src/*.py", "src/sub/m.py"),
            ("src/*.py", "src/m.pyc"),
            ("?.rs", ".rs"),
            ("?.rs", "ab.rs"),
            ("[!a]x", "ax"),
            ("{src,tests}/a", "srctests/a"),
            ("**/b/c", "b/x/c"),
            ("a/**/z", "b/z"),
            ("src/**", "src"),
            ("a*b*c", "acb"),
            ("src", "source"),
            ("a/*/b", "a/b"),
        ] {
            assert!(
                !matches(text, path, CaseRule::Sensitive),
                "{text} should not cover {path}"
            );
        }
    }

    #[test]
    fn ambiguous_globs_are_refused_with_their_reason() {
        let glob = |text: &str| text.to_owned();
        for text in ["a**", "**a", "a/***", "a**/b"] {
            assert_eq!(
                refusal(text),
                PatternError::PartialDoubleStar { glob: glob(text) }
            );
        }
        assert_eq!(
            refusal(r"a\*"),
            PatternError::Backslash { glob: glob(r"a\*") }
        );
        assert_eq!(
            refusal("[a/b]"),
            PatternError::UnclosedClass {
                glob: glob("[a/b]")
            }
        );
        assert_eq!(
            refusal("[a"),
            PatternError::UnclosedClass { glob: glob("[a") }
        );
        assert_eq!(
            refusal("[^a]"),
            PatternError::UnknownClass { glob: glob("[^a]") }
        );
        assert_eq!(
            refusal("[b-a]"),
            PatternError::ReversedRange {
                glob: glob("[b-a]")
            }
        );
        assert_eq!(
            refusal("*{a"),
            PatternError::UnbalancedBraces { glob: glob("*{a") }
        );
        assert_eq!(
            refusal("*{a}"),
            PatternError::SingleAlternative { glob: glob("*{a}") }
        );
    }

    #[test]
    fn globs_obey_the_rules_of_paths_in_each_alternative() {
        let path = |text: &str| text.to_owned();
        for (text, expected) in [
            (
                "/etc/*",
                RepoPathError::Absolute {
                    path: path("/etc/*"),
                },
            ),
            ("*/", RepoPathError::TrailingSlash { path: path("*/") }),
            ("*//a", RepoPathError::EmptySegment { path: path("*//a") }),
            (
                "*/../a",
                RepoPathError::DotSegment {
                    path: path("*/../a"),
                },
            ),
            (
                "*/.git/a",
                RepoPathError::GitDirectory {
                    path: path("*/.git/a"),
                },
            ),
            (
                "{a,.}[.]/x",
                RepoPathError::DotSegment {
                    path: path(".[.]/x"),
                },
            ),
            ("a{/b,/}", RepoPathError::TrailingSlash { path: path("a/") }),
            ("{a,}", RepoPathError::Empty),
            ("*\0", RepoPathError::Nul),
        ] {
            assert_eq!(refusal(text), PatternError::Path(expected), "{text}");
        }
    }

    #[test]
    fn segments_that_fit_only_refused_names_are_refused() {
        for text in [".gi[tT]", "[gG]it~1", ".git[. ]", "[!\u{1}-\u{10ffff}]"] {
            let glob = text.to_owned();
            assert_eq!(
                refusal(text),
                PatternError::MatchesNothing { glob },
                "{text}"
            );
        }
    }

    #[test]
    fn sizes_are_limited() {
        let longest_segment = "?".repeat(MAX_SEGMENT_STEPS);
        assert_eq!(glob(&longest_segment).as_str(), longest_segment);
        let longer = "?".repeat(MAX_SEGMENT_STEPS + 1);
        assert_eq!(
            refusal(&longer),
            PatternError::SegmentTooLong { glob: longer }
        );
        let longest = format!("**{}", "/a".repeat(511));
        assert_eq!(glob(&longest).written_bytes(), MAX_PATTERN_BYTES);
        let bytes = MAX_PATTERN_BYTES + 1;
        assert_eq!(
            refusal(&"*/".repeat(513)[..bytes]),
            PatternError::GlobTooLong { bytes }
        );
    }

    #[test]
    fn json_form_is_the_text_and_is_checked() {
        let glob: GlobPattern = serde_json::from_str(r#""./a*""#).unwrap();
        assert_eq!(serde_json::to_string(&glob).unwrap(), r#""a*""#);
        assert!(serde_json::from_str::<GlobPattern>(r#""a**""#).is_err());
    }

    #[test]
    fn folded_globs_are_in_lower_case() {
        for text in [
            "src/a?[x]",
            "Src/[A-B]B*",
            "sRc/[!c]b[X]",
            "{SRC,TESTS}/a?X",
        ] {
            assert!(matches(text, "src/abx", CaseRule::Folded), "{text}");
        }
    }
}
