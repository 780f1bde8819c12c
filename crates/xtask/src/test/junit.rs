//! What nextest reports of a run. Its text is for people; the JUnit file has the same as data.

use anyhow::{Context as _, Result};

use handoff_chores::tally::Tally;

/// A test run, read from the XML that nextest writes: one element a line.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) tally: Tally,
    /// `binary test`, as [`handoff_testkit::skip`] names them.
    pub(super) tests: Vec<String>,
}

impl Run {
    pub(super) fn parse(xml: &str) -> Result<Self> {
        let root = elements(xml, "testsuites")
            .next()
            .context("no test run in the JUnit file")?;
        let count = |name| -> Result<usize> {
            let value =
                attribute(root, name).with_context(|| format!("no `{name}` in `{root}`"))?;
            Ok(value.parse()?)
        };
        let failed = count("failures")? + count("errors")?;
        let passed = count("tests")?.saturating_sub(failed + count("skipped")?);
        let tests = elements(xml, "testcase").filter_map(|test| {
            Some(format!(
                "{} {}",
                attribute(test, "classname")?,
                attribute(test, "name")?
            ))
        });
        Ok(Self {
            tally: Tally {
                passed,
                failed,
                skipped: 0,
            },
            tests: tests.collect(),
        })
    }
}

fn elements<'a>(xml: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let start = format!("<{name} ");
    xml.lines()
        .map(str::trim_start)
        .filter(move |line| line.starts_with(&start))
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = element.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_names_are_read() {
        let run = Run::parse(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="5" skipped="0" failures="1" errors="1" time="2.4">
    <testsuite name="kit::it" tests="2" skipped="0" errors="0" failures="0">
        <testcase name="repo::first" classname="kit::it" timestamp="x" time="0.007"/>
        <testcase name="repo::second" classname="kit::it" timestamp="x" time="0.007">"#,
        )
        .unwrap();
        assert_eq!(
            run.tally,
            Tally {
                passed: 3,
                failed: 2,
                skipped: 0
            }
        );
        assert_eq!(run.tests, ["kit::it repo::first", "kit::it repo::second"]);
    }

    #[test]
    fn a_file_without_a_run_is_an_error() {
        assert!(Run::parse("<?xml?>").is_err());
    }
}
