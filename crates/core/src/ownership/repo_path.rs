//! A path inside a repository.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::segment_guard::SegmentGuard;

const MAX_BYTES: usize = 4096;

/// A relative path of at least one segment that stays inside the repository and outside `.git`.
///
/// Always in its shortest spelling: a leading `./` is dropped, every other detour is refused. Git
/// paths that are not UTF-8 have no `RepoPath`; nobody can own them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoPath(String);

/// Why a text is not a [`RepoPath`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RepoPathError {
    /// Nothing, or only `./`.
    #[error("the path is empty; the whole repository is written `**`")]
    Empty,
    /// Longer than 4096 bytes.
    #[error("a path of {bytes} bytes is longer than the {MAX_BYTES} allowed")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// Contains the NUL character.
    #[error("the path contains a NUL character")]
    Nul,
    /// Starts with `/`.
    #[error("`{path}` is absolute; paths are relative to the repository")]
    Absolute {
        /// The refused path.
        path: String,
    },
    /// Ends with `/`.
    #[error("`{path}` ends with `/`; only a prefix does, and a glob says `/**`")]
    TrailingSlash {
        /// The refused path.
        path: String,
    },
    /// Has two slashes in a row.
    #[error("`{path}` has an empty segment")]
    EmptySegment {
        /// The refused path.
        path: String,
    },
    /// Has a segment `.` or `..`.
    #[error("`{path}` has a `.` or `..` segment")]
    DotSegment {
        /// The refused path.
        path: String,
    },
    /// Enters Git's own directory.
    #[error("`{path}` is inside a `.git` directory, which no task may own")]
    GitDirectory {
        /// The refused path.
        path: String,
    },
}

impl RepoPath {
    /// The path as text, segments separated by `/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names that the path consists of; at least one.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

/// Checks everything about `text` but the names in it, and drops a leading `./`.
///
/// Shared with globs, whose segments are patterns and not yet names.
pub(super) fn normalise(text: &str) -> Result<&str, RepoPathError> {
    let bytes = text.len();
    if bytes > MAX_BYTES {
        return Err(RepoPathError::TooLong { bytes });
    }
    if text.contains('\0') {
        return Err(RepoPathError::Nul);
    }
    check_slashes(text.trim_start_matches("./"))
}

fn check_slashes(text: &str) -> Result<&str, RepoPathError> {
    let path = || text.to_owned();
    if text.is_empty() {
        Err(RepoPathError::Empty)
    } else if text.starts_with('/') {
        Err(RepoPathError::Absolute { path: path() })
    } else if text.ends_with('/') {
        Err(RepoPathError::TrailingSlash { path: path() })
    } else if text.contains("//") {
        Err(RepoPathError::EmptySegment { path: path() })
    } else {
        Ok(text)
    }
}

/// Checks one name of `path`.
pub(super) fn check_name(name: &str, path: &str) -> Result<(), RepoPathError> {
    let path = || path.to_owned();
    let guard = SegmentGuard::read(name);
    if guard.is_allowed() {
        Ok(())
    } else if guard == SegmentGuard::GitDirectory {
        Err(RepoPathError::GitDirectory { path: path() })
    } else {
        Err(RepoPathError::DotSegment { path: path() })
    }
}

impl FromStr for RepoPath {
    type Err = RepoPathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = normalise(text)?;
        path.split('/')
            .try_for_each(|name| check_name(name, path))?;
        Ok(Self(path.to_owned()))
    }
}

impl TryFrom<String> for RepoPath {
    type Error = RepoPathError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<RepoPath> for String {
    fn from(path: RepoPath) -> Self {
        path.0
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> RepoPathError {
        text.parse::<RepoPath>().expect_err(text)
    }

    #[test]
    fn leading_dot_slash_is_dropped() {
        let path: RepoPath = "././src/m.py".parse().unwrap();
        assert_eq!(path.as_str(), "src/m.py");
        assert_eq!(path.segments().collect::<Vec<_>>(), ["src", "m.py"]);
    }

    #[test]
    fn each_malformed_path_is_refused_with_its_reason() {
        let path = str::to_owned;
        assert_eq!(refusal(""), RepoPathError::Empty);
        assert_eq!(refusal("./"), RepoPathError::Empty);
        assert_eq!(refusal("a\0b"), RepoPathError::Nul);
        assert_eq!(
            refusal("/etc"),
            RepoPathError::Absolute { path: path("/etc") }
        );
        assert_eq!(
            refusal(".//etc"),
            RepoPathError::Absolute { path: path("/etc") }
        );
        assert_eq!(
            refusal("src/"),
            RepoPathError::TrailingSlash { path: path("src/") }
        );
        assert_eq!(
            refusal("a//b"),
            RepoPathError::EmptySegment { path: path("a//b") }
        );
    }

    #[test]
    fn dot_segments_are_refused_wherever_they_stand() {
        for text in [
            ".", "..", "a/.", "a/..", "../a", "a/../b", "a/./b", "./../a",
        ] {
            let path = text.trim_start_matches("./").to_owned();
            assert_eq!(refusal(text), RepoPathError::DotSegment { path }, "{text}");
        }
    }

    #[test]
    fn git_directories_are_refused_at_any_depth() {
        for text in [
            ".git",
            ".git/config",
            "sub/.GIT/hooks/x",
            "a/git~1",
            ".git ./config",
        ] {
            let path = text.to_owned();
            assert_eq!(
                refusal(text),
                RepoPathError::GitDirectory { path },
                "{text}"
            );
        }
    }

    #[test]
    fn length_ends_at_4096_bytes() {
        let longest = "a".repeat(4096);
        assert_eq!(longest.parse::<RepoPath>().unwrap().as_str(), longest);
        assert_eq!(
            refusal(&"a".repeat(4097)),
            RepoPathError::TooLong { bytes: 4097 }
        );
    }

    #[test]
    fn json_form_is_the_text_and_is_checked() {
        let path: RepoPath = serde_json::from_str(r#""./a/b""#).unwrap();
        assert_eq!(serde_json::to_string(&path).unwrap(), r#""a/b""#);
        assert!(serde_json::from_str::<RepoPath>(r#""a/../b""#).is_err());
    }
}
