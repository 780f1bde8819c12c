//! Why a text is not a pattern.

use super::glob::{MAX_ALTERNATIVES, MAX_SEGMENT_STEPS};
use super::{MAX_PATTERN_BYTES, RepoPathError};

/// Why a text is not a pattern that can be decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The path in it is refused; a glob is one with its alternatives written out.
    #[error(transparent)]
    Path(#[from] RepoPathError),
    /// A prefix names a directory and says so.
    #[error("prefix `{text}` does not end with `/`")]
    PrefixWithoutSlash {
        /// The refused text.
        text: String,
    },
    /// Longer than [`MAX_PATTERN_BYTES`].
    #[error("a glob of {bytes} bytes is longer than the {MAX_PATTERN_BYTES} allowed")]
    GlobTooLong {
        /// How long it is.
        bytes: usize,
    },
    /// The braces multiply to too many globs.
    #[error("glob `{glob}` has more than {MAX_ALTERNATIVES} alternatives")]
    TooManyAlternatives {
        /// The refused glob.
        glob: String,
    },
    /// One segment has too many characters; no filesystem has such a name.
    #[error("glob `{glob}` has a segment of more than {MAX_SEGMENT_STEPS} characters")]
    SegmentTooLong {
        /// The refused glob.
        glob: String,
    },
    /// `{` without `}` or the other way round.
    #[error("glob `{glob}` has unbalanced braces")]
    UnbalancedBraces {
        /// The refused glob.
        glob: String,
    },
    /// `{a}`: shells take it literally, others as an alternative.
    #[error("glob `{glob}` has braces around a single alternative")]
    SingleAlternative {
        /// The refused glob.
        glob: String,
    },
    /// `a**`: tools disagree whether it crosses `/`.
    #[error("glob `{glob}` has `**` beside other characters of a segment")]
    PartialDoubleStar {
        /// The refused glob.
        glob: String,
    },
    /// A backslash escapes for some tools and is a character for others.
    #[error("glob `{glob}` has a backslash; a special character is written as a class, like `[*]`")]
    Backslash {
        /// The refused glob.
        glob: String,
    },
    /// `[` without its `]` in the same segment.
    #[error("glob `{glob}` has a `[` without `]` in the same segment")]
    UnclosedClass {
        /// The refused glob.
        glob: String,
    },
    /// `[^a]` or `[[:alpha:]]`: tools disagree about their meaning.
    #[error("glob `{glob}` has a class other than characters, ranges and a leading `!`")]
    UnknownClass {
        /// The refused glob.
        glob: String,
    },
    /// `[z-a]`.
    #[error("glob `{glob}` has a range that ends before it starts")]
    ReversedRange {
        /// The refused glob.
        glob: String,
    },
    /// `.gi[t]`: matches no name that a path may have.
    #[error("glob `{glob}` has a segment that no allowed name can match")]
    MatchesNothing {
        /// The refused glob.
        glob: String,
    },
}
