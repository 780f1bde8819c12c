//! The Test Anything Protocol, with the subtests and the YAML of node's runner.

use std::collections::BTreeMap;

use handoff_core::trial::{Results, TestOutcome};

use super::kind;

/// Each test that has no subtests. Nothing if it is no TAP, the runner gave up, or it did not come to its end: as many tests must be
/// told as its plan says, of all files together where it tells several.
pub(super) fn read(said: &str) -> Option<Results> {
    let mut results = Results::default();
    let mut reader = Reader::default();
    let mut planned = None::<u32>;
    for line in said.lines() {
        if let Some(more) = plan(line) {
            planned = Some(planned.unwrap_or(0).saturating_add(more));
        }
        if line.starts_with("Bail out!") {
            return None;
        }
        reader.line(line, &mut results);
    }
    reader.settle(&mut results);
    (planned == Some(reader.told)).then_some(results)
}

#[derive(Default)]
struct Reader {
    /// The names of the tests around the line, with their depth.
    around: Vec<(usize, String)>,
    /// A test whose words follow.
    open: Option<Open>,
    /// How many tests were told that are in no other.
    told: u32,
    /// How often each name came: files of tests do not know of each other's names.
    came: BTreeMap<String, u32>,
}

struct Open {
    name: String,
    said: String,
    has_inner: bool,
}

impl Reader {
    fn line(&mut self, line: &str, results: &mut Results) {
        let depth = line.len() - line.trim_start().len();
        let text = line.trim_start();
        if let Some(name) = text.strip_prefix("# Subtest: ") {
            self.settle(results);
            self.leave(depth);
            self.around.push((depth, name.to_owned()));
        } else if let Some(point) = Point::of(text) {
            self.settle(results);
            self.point(depth, &point, results);
        } else if let Some(open) = &mut self.open {
            open.said.push_str(line);
            open.said.push('\n');
        }
    }

    fn point(&mut self, depth: usize, point: &Point<'_>, results: &mut Results) {
        let has_inner = self.around.last().is_some_and(|(it, _)| *it > depth);
        self.told += u32::from(depth == 0);
        self.leave(depth);
        // Whoever has subtests is told by them, unless it failed by itself.
        if has_inner && point.outcome.is_some() {
            return;
        }
        let outer = self.around.iter().map(|(_, name)| name.as_str());
        let name = outer.chain([point.name]).collect::<Vec<_>>().join(" > ");
        let name = self.numbered(name);
        match point.outcome {
            Some(outcome) => note(results, &name, outcome),
            None => {
                let said = String::new();
                self.open = Some(Open {
                    name,
                    said,
                    has_inner,
                });
            }
        }
        // It stays, so that a test around it knows that it had one inside.
        self.around.push((depth, point.name.to_owned()));
    }

    /// Tests of one name are told apart by their order.
    fn numbered(&mut self, name: String) -> String {
        let came = self.came.entry(name.clone()).or_default();
        *came += 1;
        match *came {
            1 => name,
            number => format!("{name} ({number})"),
        }
    }

    fn leave(&mut self, depth: usize) {
        self.around.retain(|(it, _)| *it < depth);
    }

    fn settle(&mut self, results: &mut Results) {
        let open = self.open.take();
        let is_own = |it: &Open| !it.has_inner || !it.said.contains("subtestsFailed");
        if let Some(Open { name, said, .. }) = open.filter(is_own) {
            note(results, &name, TestOutcome::Failed { why: kind(&said) });
        }
    }
}

/// `ok 1 - name`, `not ok 2 - name # SKIP why`.
struct Point<'a> {
    name: &'a str,
    /// None if it failed: why, comes later.
    outcome: Option<TestOutcome>,
}

impl<'a> Point<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (rest, is_ok) = match text.strip_prefix("not ok") {
            Some(rest) => (rest, false),
            None => (text.strip_prefix("ok")?, true),
        };
        let rest = rest
            .strip_prefix(' ')?
            .trim_start_matches(|it: char| it.is_ascii_digit());
        let name = rest
            .trim_start()
            .strip_prefix("- ")
            .unwrap_or(rest.trim_start());
        let (name, directive) = match name.rsplit_once(" # ") {
            Some((name, directive)) => (name, directive.to_ascii_uppercase()),
            None => (name, String::new()),
        };
        let is_idle = directive.starts_with("SKIP") || directive.starts_with("TODO");
        let outcome = match (is_idle, is_ok) {
            (true, _) => Some(TestOutcome::Skipped),
            (false, true) => Some(TestOutcome::Passed),
            (false, false) => None,
        };
        Some(Self { name, outcome })
    }
}

fn plan(line: &str) -> Option<u32> {
    let number = line.strip_prefix("1..")?;
    let number = number.split('#').next()?;
    number.trim().parse().ok()
}

fn note(results: &mut Results, name: &str, outcome: TestOutcome) {
    if let Ok(name) = name.parse() {
        results.note(name, outcome);
    }
}

#[cfg(test)]
mod tests {
    use handoff_core::trial::FailureKind;

    use super::*;

    const SAID: &str = "TAP version 13
# Subtest: adds
ok 1 - adds
  ---
  duration_ms: 0.5
  ...
# Subtest: sums
    # Subtest: inner
    not ok 1 - inner
      ---
      failureType: 'testCodeFailure'
      error: 'Expected values to be strictly equal'
      code: 'ERR_ASSERTION'
      ...
    # Subtest: later
    ok 2 - later # SKIP
    1..2
not ok 2 - sums
  ---
  failureType: 'subtestsFailed'
  ...
# Subtest: crashes
not ok 3 - crashes
  ---
  error: 'x is not defined'
  code: 'ERR_TEST_FAILURE'
  ...
1..3
# tests 4
";

    #[test]
    fn each_innermost_test_is_known_by_the_names_around_it() {
        let results = read(SAID).unwrap();
        let told: Vec<_> = results
            .iter()
            .map(|(name, it)| (name.as_str(), it))
            .collect();
        let failed = |why| TestOutcome::Failed { why };
        assert_eq!(
            told,
            [
                ("adds", TestOutcome::Passed),
                ("crashes", failed(FailureKind::Error)),
                ("sums > inner", failed(FailureKind::Assertion)),
                ("sums > later", TestOutcome::Skipped),
            ]
        );
    }

    #[test]
    fn tests_of_one_name_are_told_apart() {
        let said =
            "TAP version 13\nok 1 - adds\nnot ok 2 - adds\n  ---\n  error: assert\n  ...\n1..2\n";
        let results = read(said).unwrap();
        let told: Vec<_> = results
            .iter()
            .map(|(name, it)| (name.as_str(), it))
            .collect();
        let why = FailureKind::Assertion;
        assert_eq!(
            told,
            [
                ("adds", TestOutcome::Passed),
                ("adds (2)", TestOutcome::Failed { why })
            ]
        );
    }

    #[test]
    fn one_that_tells_fewer_or_more_than_it_planned_did_not_come_to_its_end() {
        assert_eq!(read("TAP version 13\nok 1 - adds\n"), None);
        assert_eq!(read("1..2\nok 1 - adds\n"), None);
        assert_eq!(read("1..1\nok 1 - adds\nok 2 - more\n"), None);
        let both = "1..1\nok 1 - adds\nTAP version 13\nok 1 - more\n1..1\n";
        assert_eq!(read(both).unwrap().counts(), (2, 0, 0));
        assert_eq!(read("1..0 # skipped").unwrap().counts(), (0, 0, 0));
    }

    #[test]
    fn what_is_no_tap_has_no_results() {
        assert_eq!(read("node: bad option"), None);
        assert_eq!(read("TAP version 13\nBail out! no"), None);
    }
}
