//! One pattern of an ownership, and how it is written.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::walk::Walk;
use super::{CaseRule, GlobPattern, PatternError, RepoPath};

/// Characters that make a text without a type a glob.
const GLOB_CHARACTERS: [char; 4] = ['*', '?', '[', '{'];

/// Paths that a task may change.
///
/// In JSON `{"type": "prefix", "path": "src/"}`. On the command line the text says what it is:
/// `src/` is a prefix, text with one of `*?[{` a glob, anything else exact; `exact:`, `prefix:` or
/// `glob:` before it decide otherwise. A file named `[id].tsx` is written `exact:[id].tsx`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "Typed", into = "Typed")]
pub enum PathPattern {
    /// This path, and everything below if it is a directory.
    Exact(RepoPath),
    /// Everything below this directory. Its text ends with `/`, the path in here does not.
    Prefix(RepoPath),
    /// Every path that fits, and everything below.
    Glob(GlobPattern),
}

/// The form in a manifest.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Typed {
    #[serde(rename = "type")]
    kind: Kind,
    path: String,
}

#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Exact,
    Prefix,
    Glob,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Exact, Self::Prefix, Self::Glob];

    /// What stands before a text to say what it is.
    fn mark(self) -> &'static str {
        match self {
            Self::Exact => "exact:",
            Self::Prefix => "prefix:",
            Self::Glob => "glob:",
        }
    }

    /// What a text without a mark is.
    fn of_unmarked(text: &str) -> Self {
        if text.contains(GLOB_CHARACTERS) {
            Self::Glob
        } else if text.ends_with('/') {
            Self::Prefix
        } else {
            Self::Exact
        }
    }

    /// What a text is, and the text without its mark.
    fn split(text: &str) -> (Self, &str) {
        let marked = |kind: &Self| Some((*kind, text.strip_prefix(kind.mark())?));
        let found = Self::ALL.iter().find_map(marked);
        found.unwrap_or_else(|| (Self::of_unmarked(text), text))
    }

    fn parse(self, text: &str) -> Result<PathPattern, PatternError> {
        match self {
            Self::Exact => Ok(PathPattern::Exact(text.parse()?)),
            Self::Prefix => parse_prefix(text),
            Self::Glob => Ok(PathPattern::Glob(text.parse()?)),
        }
    }
}

fn parse_prefix(text: &str) -> Result<PathPattern, PatternError> {
    let text = text.trim_start_matches("./");
    // A `/` alone is left to be refused as absolute.
    let directory = text
        .strip_suffix('/')
        .filter(|directory| !directory.is_empty());
    let path = directory.unwrap_or(text).parse()?;
    if directory.is_none() {
        return Err(PatternError::PrefixWithoutSlash {
            text: text.to_owned(),
        });
    }
    Ok(PathPattern::Prefix(path))
}

impl PathPattern {
    fn kind(&self) -> Kind {
        match self {
            Self::Exact(_) => Kind::Exact,
            Self::Prefix(_) => Kind::Prefix,
            Self::Glob(_) => Kind::Glob,
        }
    }

    /// The text without its type.
    fn text(&self) -> String {
        match self {
            Self::Exact(path) => path.to_string(),
            Self::Prefix(directory) => format!("{directory}/"),
            Self::Glob(glob) => glob.to_string(),
        }
    }

    pub(super) fn text_bytes(&self) -> usize {
        self.text().len()
    }

    /// How much this pattern adds to the size of all globs.
    pub(super) fn glob_bytes(&self) -> usize {
        match self {
            Self::Exact(_) | Self::Prefix(_) => 0,
            Self::Glob(glob) => glob.written_bytes(),
        }
    }

    /// What it covers; several walks if it has alternatives.
    pub(super) fn walks(&self, case: CaseRule) -> Cow<'_, [Walk]> {
        match self {
            Self::Exact(path) => Cow::Owned(vec![Walk::exact(path, case)]),
            Self::Prefix(directory) => Cow::Owned(vec![Walk::below(directory, case)]),
            Self::Glob(glob) => Cow::Borrowed(glob.walks(case)),
        }
    }
}

impl FromStr for PathPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, text) = Kind::split(text);
        kind.parse(text)
    }
}

impl fmt::Display for PathPattern {
    /// Writes the mark only where the text alone would be read as something else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, text) = (self.kind(), self.text());
        let (read_as, rest) = Kind::split(&text);
        let is_clear = read_as.mark() == kind.mark() && rest == text;
        write!(f, "{}{text}", if is_clear { "" } else { kind.mark() })
    }
}

impl TryFrom<Typed> for PathPattern {
    type Error = PatternError;

    fn try_from(typed: Typed) -> Result<Self, Self::Error> {
        typed.kind.parse(&typed.path)
    }
}

impl From<PathPattern> for Typed {
    fn from(pattern: PathPattern) -> Self {
        Self {
            kind: pattern.kind(),
            path: pattern.text(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::RepoPathError;
    use super::*;

    fn pattern(text: &str) -> PathPattern {
        text.parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn text_says_what_kind_of_pattern_it_is() {
        let path = |text: &str| text.parse::<RepoPath>().unwrap();
        for (text, expected) in [
            ("src/m.py", PathPattern::Exact(path("src/m.py"))),
            ("./new.py", PathPattern::Exact(path("new.py"))),
            ("src/", PathPattern::Prefix(path("src"))),
            ("./src/", PathPattern::Prefix(path("src"))),
            ("src/*.py", PathPattern::Glob("src/*.py".parse().unwrap())),
            ("a?", PathPattern::Glob("a?".parse().unwrap())),
            ("[ab]", PathPattern::Glob("[ab]".parse().unwrap())),
            ("{a,b}", PathPattern::Glob("{a,b}".parse().unwrap())),
            (
                "exact:app/[id].tsx",
                PathPattern::Exact(path("app/[id].tsx")),
            ),
            ("exact:exact:a", PathPattern::Exact(path("exact:a"))),
            ("prefix:a*/", PathPattern::Prefix(path("a*"))),
            (
                "glob:src/m.py",
                PathPattern::Glob("src/m.py".parse().unwrap()),
            ),
        ] {
            assert_eq!(pattern(text), expected, "{text}");
        }
    }

    #[test]
    fn shown_text_is_the_shortest_that_reads_back() {
        for text in [
            "src/m.py",
            "src/",
            "src/*.py",
            "exact:app/[id].tsx",
            "exact:glob:a",
            "prefix:a*/",
            "glob:src/m.py",
            "glob:prefix:*",
        ] {
            assert_eq!(pattern(text).to_string(), text);
        }
        assert_eq!(pattern("exact:./a").to_string(), "a");
        assert_eq!(pattern("glob:./a*").to_string(), "a*");
    }

    #[test]
    fn directories_and_files_are_told_apart_by_the_slash() {
        let text = "src".to_owned();
        let refusal = |text: &str| text.parse::<PathPattern>().expect_err(text);
        assert_eq!(
            refusal("prefix:src"),
            PatternError::PrefixWithoutSlash { text }
        );
        let path = "src/".to_owned();
        assert_eq!(
            refusal("exact:src/"),
            RepoPathError::TrailingSlash { path }.into()
        );
        let path = "src/*/".to_owned();
        assert_eq!(
            refusal("src/*/"),
            RepoPathError::TrailingSlash { path }.into()
        );
    }

    #[test]
    fn prefixes_of_the_repository_and_of_the_filesystem_are_refused() {
        let refusal = |text: &str| text.parse::<PathPattern>().expect_err(text);
        assert_eq!(refusal("./"), RepoPathError::Empty.into());
        assert_eq!(refusal("prefix:"), RepoPathError::Empty.into());
        assert_eq!(
            refusal("/"),
            RepoPathError::Absolute {
                path: "/".to_owned()
            }
            .into()
        );
    }

    #[test]
    fn manifest_form_has_type_and_path() {
        for (text, json) in [
            ("src/m.py", r#"{"type":"exact","path":"src/m.py"}"#),
            ("src/", r#"{"type":"prefix","path":"src/"}"#),
            ("src/*.py", r#"{"type":"glob","path":"src/*.py"}"#),
        ] {
            assert_eq!(serde_json::to_string(&pattern(text)).unwrap(), json);
            assert_eq!(
                serde_json::from_str::<PathPattern>(json).unwrap(),
                pattern(text)
            );
        }
    }

    #[test]
    fn manifest_form_is_checked_and_names_the_reason() {
        for (json, reason) in [
            (r#"{"type":"prefix","path":"src"}"#, "does not end with `/`"),
            (
                r#"{"type":"exact","path":".git/config"}"#,
                "inside a `.git` directory",
            ),
            (r#"{"type":"glob","path":"/etc/*"}"#, "is absolute"),
            (r#"{"type":"regex","path":"a"}"#, "unknown variant `regex`"),
            (
                r#"{"type":"exact","path":"a","mode":"rw"}"#,
                "unknown field `mode`",
            ),
        ] {
            let error = serde_json::from_str::<PathPattern>(json)
                .expect_err(json)
                .to_string();
            assert!(error.contains(reason), "{json}: {error}");
        }
    }
}
