//! A file of JUnit XML, as pytest and many others write it.

use handoff_core::trial::{Results, TestOutcome};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::kind;

/// Each test case. Nothing if it is no such file, or a file of tests could not be loaded.
pub(super) fn read(written: &str) -> Option<Results> {
    let mut reader = Reader::from_str(written);
    let mut results = Results::default();
    let (mut is_report, mut case) = (false, None::<Case>);
    let mut depth = 0_i32;
    loop {
        let event = reader.read_event().ok()?;
        if let Event::Start(_) = event {
            depth += 1;
        } else if let Event::End(_) = event {
            depth -= 1;
        }
        match event {
            // One that was not written to its end tells of some tests only.
            Event::Eof => return (is_report && depth == 0).then_some(results),
            Event::Start(tag) if tag.name().as_ref() == "testcase" => case = Some(Case::of(&tag)),
            Event::Empty(tag) if tag.name().as_ref() == "testcase" => {
                Case::of(&tag).settle(&mut results)?;
            }
            Event::End(tag) if tag.name().as_ref() == "testcase" => {
                case.take()?.settle(&mut results)?;
            }
            Event::Start(tag) | Event::Empty(tag) => {
                is_report |= tag.name().as_ref().starts_with("testsuite");
                if let Some(case) = &mut case {
                    case.hears(&tag);
                }
            }
            Event::Text(text) => {
                if let Some(case) = &mut case {
                    case.said.push_str(&text);
                }
            }
            Event::End(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
    }
}

struct Case {
    name: String,
    group: String,
    end: End,
    said: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    /// It did not come to its test.
    Broken,
    Skipped,
}

impl Case {
    fn of(tag: &BytesStart<'_>) -> Self {
        Self {
            name: attribute(tag, "name"),
            group: attribute(tag, "classname"),
            end: End::Passed,
            said: String::new(),
        }
    }

    fn hears(&mut self, tag: &BytesStart<'_>) {
        self.end = match tag.name().as_ref() {
            "failure" => End::Failed,
            "error" => End::Broken,
            "skipped" => End::Skipped,
            _ => return,
        };
        self.said = attribute(tag, "message");
    }

    /// None if a file of tests could not be loaded: then nobody knows which tests are missing.
    fn settle(self, results: &mut Results) -> Option<()> {
        if self.end == End::Broken && self.said.contains("collection failure") {
            return None;
        }
        let outcome = match self.end {
            End::Passed => TestOutcome::Passed,
            End::Skipped => TestOutcome::Skipped,
            End::Failed | End::Broken => TestOutcome::Failed {
                why: kind(&self.said),
            },
        };
        let name = match self.group.as_str() {
            "" => self.name,
            group => format!("{group}::{}", self.name),
        };
        if let Ok(name) = name.parse() {
            results.note(name, outcome);
        }
        Some(())
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> String {
    let found = tag
        .attributes()
        .flatten()
        .find(|it| it.key.as_ref() == name);
    let value = found.map(|it| it.value.into_owned());
    value.map_or_else(String::new, |it| {
        quick_xml::escape::unescape(&it).map_or_else(|_| it.clone(), std::borrow::Cow::into_owned)
    })
}

#[cfg(test)]
mod tests {
    use handoff_core::trial::FailureKind;

    use super::*;

    const WRITTEN: &str = r#"<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="0" failures="2" skipped="1" tests="4" time="0.02">
<testcase classname="tests.test_sums" name="test_adds[1-2]" time="0.001" />
<testcase classname="tests.test_sums" name="test_subtracts" time="0.001"><failure message="AssertionError: assert 3 == 1&#10; +  where 3 = sub(2, 1)">def test_subtracts():
&gt;       assert sub(2, 1) == 1
E       AssertionError</failure></testcase>
<testcase classname="tests.test_sums" name="test_later" time="0.000"><skipped type="pytest.skip" message="slow">tests/test_sums.py:9: slow</skipped></testcase>
<testcase classname="tests.test_sums" name="test_negates" time="0.000"><failure message="NotImplementedError">x</failure></testcase>
</testsuite></testsuites>"#;

    #[test]
    fn each_case_is_known_by_its_class_and_its_name() {
        let results = read(WRITTEN).unwrap();
        let told: Vec<_> = results
            .iter()
            .map(|(name, it)| (name.as_str(), it))
            .collect();
        let failed = |why| TestOutcome::Failed { why };
        assert_eq!(
            told,
            [
                ("tests.test_sums::test_adds[1-2]", TestOutcome::Passed),
                ("tests.test_sums::test_later", TestOutcome::Skipped),
                (
                    "tests.test_sums::test_negates",
                    failed(FailureKind::Unimplemented)
                ),
                (
                    "tests.test_sums::test_subtracts",
                    failed(FailureKind::Assertion)
                ),
            ]
        );
    }

    #[test]
    fn a_file_that_cannot_be_loaded_makes_the_rest_worthless() {
        let broken = r#"<testsuites><testsuite name="pytest"><testcase classname="" name="tests.test_sums"><error message="collection failure">ImportError</error></testcase></testsuite></testsuites>"#;
        assert_eq!(read(broken), None);
        assert_eq!(read(""), None);
        assert_eq!(read("<html></html>"), None);
        let (torn, _) = WRITTEN.rsplit_once("</testsuite>").unwrap();
        assert_eq!(read(torn), None);
    }
}
