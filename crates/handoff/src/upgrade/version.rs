//! Versions of this program, ordered as semantic versioning says.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Longer than any version of ours; what comes from a server is shown to people.
const LONGEST: usize = 64;

/// A version of this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version(semver::Version);

/// A text that is no version.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VersionError {
    #[error("it has more than {LONGEST} characters")]
    TooLong,
    #[error("a version is written as in `1.2.3`")]
    Form(#[source] semver::Error),
}

impl Version {
    /// The version of the program that runs.
    pub(crate) fn installed() -> Self {
        let text = env!("CARGO_PKG_VERSION");
        text.parse().expect("cargo accepts no other versions")
    }

    /// Which of two comes first. What a build adds after `+` counts for nothing.
    pub(crate) fn precedence(&self, other: &Self) -> Ordering {
        self.0.cmp_precedence(&other.0)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    /// Tags of releases begin with a `v` or not.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        if text.len() > LONGEST {
            return Err(VersionError::TooLong);
        }
        let text = text.strip_prefix('v').unwrap_or(text);
        text.parse().map(Self).map_err(VersionError::Form)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(left: &str, right: &str) -> Ordering {
        let [left, right] = [left, right].map(|text| text.parse::<Version>().unwrap());
        left.precedence(&right)
    }

    #[test]
    fn versions_are_ordered_by_number_and_not_by_text() {
        assert_eq!(order("0.9.0", "0.10.0"), Ordering::Less);
        assert_eq!(order("v1.0.0", "1.0.0"), Ordering::Equal);
        assert_eq!(order("1.0.0-rc.1", "1.0.0"), Ordering::Less);
        assert_eq!(order("1.0.0+b1", "1.0.0+b2"), Ordering::Equal);
    }

    #[test]
    fn what_is_no_version_is_refused() {
        let long = format!("1.0.0-{}", "a".repeat(LONGEST));
        for text in [
            "",
            "latest",
            "1.0",
            "vv1.0.0",
            "1.0.0\u{1b}[2J",
            "../../1.0.0",
            &long,
        ] {
            assert!(text.parse::<Version>().is_err(), "{text:?}");
        }
    }
}
