//! Which paths a task may change, and whether two tasks may change the same one.
//!
//! An [`Ownership`] is a set of patterns. Verdicts are symbolic: they follow from the patterns
//! alone and never from the files that exist today, because the files that collide are usually the
//! ones that do not exist yet. Two rules carry everything:
//!
//! - A pattern covers what it matches **and everything below it**: an exact path may turn out to be
//!   a directory. So `src/*` covers `src/a/b.rs` too.
//! - A prefix `src/` (and the glob `src/**`) covers what lies below `src`, not the name `src`
//!   itself: replacing the directory by a file, a symlink or another submodule commit needs the
//!   exact path `src`.
//!
//! What cannot be decided is refused when the pattern is parsed, so [`overlap()`] and
//! [`Ownership::covers`] have no third answer.
//!
//! This module never touches a filesystem. Symlinks and submodules are resolved by the engine
//! before a path or pattern comes here, and the engine says by [`CaseRule`] whether the filesystem
//! folds case. Unicode normalisation (one `é` or two code points) is not folded: paths and patterns
//! must arrive in the spelling that Git stores.

mod alternatives;
mod case_rule;
mod char_set;
mod class;
mod glob;
mod overlap;
mod pattern;
mod pattern_error;
mod product;
#[cfg(test)]
mod properties;
mod repo_path;
mod segment_guard;
mod walk;

pub use case_rule::CaseRule;
pub use glob::GlobPattern;
pub use overlap::{Overlap, overlap};
pub use pattern::PathPattern;
pub use pattern_error::PatternError;
pub use repo_path::{RepoPath, RepoPathError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most patterns in one [`Ownership`].
pub const MAX_PATTERNS: usize = 256;

/// Longest text of one pattern, in bytes.
///
/// Below the limit of a path, so that an example made from two patterns is still a path.
pub const MAX_PATTERN_BYTES: usize = 1024;

/// Most bytes that all globs of one [`Ownership`] may have together, alternatives written out.
///
/// Deciding an overlap costs at most the product of both sides' sizes. This and [`MAX_BYTES`] keep
/// the worst that anyone can write at about a second; what people do write takes microseconds.
pub const MAX_GLOB_BYTES: usize = 8 * 1024;

/// Most bytes that all patterns of one [`Ownership`] may have together.
pub const MAX_BYTES: usize = 32 * 1024;

/// The paths that a task may change: at least one pattern, sorted, each once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<PathPattern>", into = "Vec<PathPattern>")]
pub struct Ownership(Vec<PathPattern>);

/// Why a set of patterns is not an [`Ownership`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OwnershipError {
    /// Owning nothing would pass every overlap check and every task would look harmless.
    #[error("an ownership needs at least one pattern")]
    Empty,
    /// More than [`MAX_PATTERNS`].
    #[error("{count} patterns are more than the {MAX_PATTERNS} that one ownership may have")]
    TooManyPatterns {
        /// How many there are.
        count: usize,
    },
    /// One pattern is longer than [`MAX_PATTERN_BYTES`].
    #[error("a pattern of {bytes} bytes is longer than the {MAX_PATTERN_BYTES} allowed")]
    PatternTooLong {
        /// How long it is.
        bytes: usize,
    },
    /// The globs are larger than [`MAX_GLOB_BYTES`].
    #[error("globs of {bytes} bytes with alternatives written out exceed {MAX_GLOB_BYTES}")]
    GlobsTooLarge {
        /// How large they are together.
        bytes: usize,
    },
    /// All patterns together are longer than [`MAX_BYTES`].
    #[error("patterns of {bytes} bytes together are longer than the {MAX_BYTES} allowed")]
    TooLarge {
        /// How long they are together.
        bytes: usize,
    },
}

impl Ownership {
    /// Sorts the patterns and drops repeated ones.
    pub fn new(mut patterns: Vec<PathPattern>) -> Result<Self, OwnershipError> {
        patterns.sort();
        patterns.dedup();
        check_limits(&patterns)?;
        Ok(Self(patterns))
    }

    /// The patterns, sorted.
    #[must_use]
    pub fn patterns(&self) -> &[PathPattern] {
        &self.0
    }

    /// Whether the owner may change this path.
    #[must_use]
    pub fn covers(&self, path: &RepoPath, case: CaseRule) -> bool {
        let names: Vec<String> = path.segments().map(|name| case.spell(name)).collect();
        let covers =
            |pattern: &PathPattern| pattern.walks(case).iter().any(|walk| walk.fits(&names));
        self.0.iter().any(covers)
    }
}

fn check_limits(patterns: &[PathPattern]) -> Result<(), OwnershipError> {
    let count = patterns.len();
    let lengths = || patterns.iter().map(PathPattern::text_bytes);
    let longest = lengths().max().ok_or(OwnershipError::Empty)?;
    let total = lengths().sum();
    let globs = patterns.iter().map(PathPattern::glob_bytes).sum();
    if count > MAX_PATTERNS {
        Err(OwnershipError::TooManyPatterns { count })
    } else if longest > MAX_PATTERN_BYTES {
        Err(OwnershipError::PatternTooLong { bytes: longest })
    } else if globs > MAX_GLOB_BYTES {
        Err(OwnershipError::GlobsTooLarge { bytes: globs })
    } else if total > MAX_BYTES {
        Err(OwnershipError::TooLarge { bytes: total })
    } else {
        Ok(())
    }
}

impl TryFrom<Vec<PathPattern>> for Ownership {
    type Error = OwnershipError;

    fn try_from(patterns: Vec<PathPattern>) -> Result<Self, Self::Error> {
        Self::new(patterns)
    }
}

impl From<Ownership> for Vec<PathPattern> {
    fn from(ownership: Ownership) -> Self {
        ownership.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(texts: &[&str]) -> Vec<PathPattern> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn numbered(count: usize) -> Vec<PathPattern> {
        (0..count)
            .map(|number| number.to_string().parse().unwrap())
            .collect()
    }

    #[test]
    fn patterns_are_sorted_and_kept_once() {
        let ownership = Ownership::new(patterns(&["src/", "b*", "./b", "a", "b"])).unwrap();
        assert_eq!(ownership.patterns(), patterns(&["a", "b", "src/", "b*"]));
    }

    #[test]
    fn json_form_is_a_list_that_is_checked() {
        let ownership = Ownership::new(patterns(&["src/", "a"])).unwrap();
        let json = r#"[{"type":"exact","path":"a"},{"type":"prefix","path":"src/"}]"#;
        assert_eq!(serde_json::to_string(&ownership).unwrap(), json);
        assert_eq!(serde_json::from_str::<Ownership>(json).unwrap(), ownership);
        assert!(serde_json::from_str::<Ownership>("[]").is_err());
    }

    #[test]
    fn number_of_patterns_is_limited() {
        assert!(Ownership::new(numbered(MAX_PATTERNS)).is_ok());
        let count = MAX_PATTERNS + 1;
        let refused = Err(OwnershipError::TooManyPatterns { count });
        assert_eq!(Ownership::new(numbered(count)), refused);
    }

    #[test]
    fn length_of_a_pattern_is_limited() {
        let longest = "a".repeat(MAX_PATTERN_BYTES);
        assert!(Ownership::new(patterns(&[&longest])).is_ok());
        let bytes = MAX_PATTERN_BYTES + 1;
        let refused = Err(OwnershipError::PatternTooLong { bytes });
        assert_eq!(Ownership::new(patterns(&[&format!("{longest}/")])), refused);
    }

    #[test]
    fn size_of_all_globs_is_limited() {
        // 64 alternatives of 128 bytes fill the limit to the last byte.
        let full = format!("{}{}", "{a,b}".repeat(6), "?".repeat(122));
        assert!(Ownership::new(patterns(&[&full])).is_ok());
        let bytes = MAX_GLOB_BYTES + 1;
        let refused = Err(OwnershipError::GlobsTooLarge { bytes });
        assert_eq!(Ownership::new(patterns(&[&full, "*"])), refused);
    }

    #[test]
    fn size_of_all_patterns_is_limited() {
        let long = |number: usize| format!("{number:0>MAX_PATTERN_BYTES$}").parse().unwrap();
        let full: Vec<PathPattern> = (0..32).map(long).collect();
        assert!(Ownership::new(full.clone()).is_ok());
        let bytes = MAX_BYTES + 1;
        let refused = Err(OwnershipError::TooLarge { bytes });
        assert_eq!(Ownership::new([full, patterns(&["a"])].concat()), refused);
    }

    #[test]
    fn owner_may_change_what_some_pattern_covers() {
        let ownership = Ownership::new(patterns(&["src/", "docs/*.md", "Makefile"])).unwrap();
        let covers = |path: &str, case| ownership.covers(&path.parse().unwrap(), case);
        for path in [
            "src/a",
            "src/a/b",
            "docs/a.md",
            "Makefile",
            "Makefile/below",
        ] {
            assert!(covers(path, CaseRule::Sensitive), "{path}");
        }
        for path in ["src", "srcs/a", "docs/a.txt", "docs", "makefile", "SRC/a"] {
            assert!(!covers(path, CaseRule::Sensitive), "{path}");
        }
        for path in ["makefile", "SRC/a", "DOCS/A.MD"] {
            assert!(covers(path, CaseRule::Folded), "{path}");
        }
    }
}
