//! Which tests may be skipped, and for what.

use std::fmt;

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// The checked-in list, `crates/xtask/skips.toml`.
#[derive(Debug, Deserialize)]
pub(super) struct AllowedSkips {
    #[serde(default)]
    skip: Vec<AllowedSkip>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedSkip {
    test: TestPattern,
    condition: String,
    /// Read by people; the list is refused without it.
    #[expect(dead_code, reason = "required so that every entry of the list has one")]
    reason: String,
}

/// `binary test`, or `binary module::*` for all tests of a module.
#[derive(Debug, Deserialize)]
struct TestPattern(String);

impl TestPattern {
    fn matches(&self, test: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(start) => test.starts_with(start),
            None => test == self.0,
        }
    }
}

/// A line of the log that skipped tests write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Skipped {
    test: String,
    condition: String,
}

impl Skipped {
    /// A test that is marked to be ignored.
    pub(super) fn ignored(test: &str) -> Self {
        Self {
            test: test.to_owned(),
            condition: "ignored".to_owned(),
        }
    }

    pub(super) fn test(&self) -> &str {
        &self.test
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.test, self.condition)
    }
}

/// The log of a run. A test that was retried, or asks twice, is skipped once.
pub(super) fn read_log(log: &str) -> Vec<Skipped> {
    let mut skipped: Vec<Skipped> = log
        .lines()
        .map(|line| {
            let (test, condition) = line.split_once('\t').unwrap_or((line, "unknown"));
            Skipped {
                test: test.to_owned(),
                condition: condition.to_owned(),
            }
        })
        .collect();
    skipped.sort();
    skipped.dedup();
    skipped
}

impl AllowedSkips {
    pub(super) fn parse(list: &str) -> Result<Self> {
        toml::from_str(list).context("`crates/xtask/skips.toml` is not a list of skips")
    }

    /// Those that no entry of the list allows.
    pub(super) fn refused<'a>(&self, skipped: &'a [Skipped]) -> Vec<&'a Skipped> {
        let is_allowed = |skipped: &Skipped| {
            let allows = |allowed: &AllowedSkip| {
                allowed.condition == skipped.condition && allowed.test.matches(&skipped.test)
            };
            self.skip.iter().any(allows)
        };
        skipped
            .iter()
            .filter(|skipped| !is_allowed(skipped))
            .collect()
    }

    /// The entries of the list that speak of no test in the run.
    pub(super) fn stale(&self, tests: &[String]) -> Vec<&str> {
        let is_stale =
            |allowed: &&AllowedSkip| !tests.iter().any(|test| allowed.test.matches(test));
        self.skip
            .iter()
            .filter(is_stale)
            .map(|allowed| allowed.test.0.as_str())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"
        [[skip]]
        test = "kit::it loop_image::*"
        condition = "no-root"
        reason = "mounts need root"
        [[skip]]
        test = "kit::it postgres::starts"
        condition = "no-postgres"
        reason = "not everyone has it"
    "#;

    fn refused(log: &str) -> Vec<String> {
        let list = AllowedSkips::parse(LIST).unwrap();
        list.refused(&read_log(log))
            .into_iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_listed_skip_is_allowed_by_name_or_by_module() {
        let log = "kit::it loop_image::xfs\tno-root\nkit::it postgres::starts\tno-postgres\n";
        assert_eq!(refused(log), [""; 0]);
    }

    #[test]
    fn another_test_or_another_condition_is_refused() {
        let log = "kit::it postgres::starts_twice\tno-postgres\nkit::it loop_image::xfs\tno-xfs\n";
        assert_eq!(
            refused(log),
            [
                "kit::it loop_image::xfs (no-xfs)",
                "kit::it postgres::starts_twice (no-postgres)"
            ]
        );
    }

    #[test]
    fn a_line_that_is_no_skip_is_refused() {
        assert_eq!(refused("half a li"), ["half a li (unknown)"]);
    }

    #[test]
    fn a_test_that_asks_twice_is_skipped_once() {
        assert_eq!(read_log("a\tno-root\na\tno-root\n").len(), 1);
    }

    #[test]
    fn an_entry_without_a_reason_is_no_entry() {
        let list = "[[skip]]\ntest = \"a b\"\ncondition = \"no-root\"\n";
        assert!(AllowedSkips::parse(list).is_err());
    }

    #[test]
    fn an_entry_for_a_test_that_is_gone_is_stale() {
        let list = AllowedSkips::parse(LIST).unwrap();
        assert_eq!(
            list.stale(&["kit::it loop_image::ext4".to_owned()]),
            ["kit::it postgres::starts"]
        );
    }

    #[test]
    fn the_checked_in_list_can_be_read() {
        AllowedSkips::parse(include_str!("../../skips.toml")).unwrap();
    }
}
