//! Notes as people and tools leave them, and what becomes of them.

use proptest::prelude::*;

use super::read::is_scaffold;
use super::{AppendError, Notebook, Passage, Topic, append};

const OLDER: &str = "# Session Summary\n\n## What Was Implemented\nNone yet.\n\n## What Is Currently In Progress\nThe parser,\nhalf of it.\n\nAnd the tests.\n\n## Next Micro-Step\n- Mend it.\n  Then go on.\n- Commit.\n\n## Open Questions\nNone.\n";

fn passage(text: &str) -> Passage {
    text.parse().unwrap()
}

fn written(text: &str) -> Vec<(Topic, usize, String)> {
    let notes = Notebook::parse(text).notes.into_iter();
    notes
        .map(|note| (note.topic, note.line.get(), note.text))
        .collect()
}

#[test]
fn entries_are_items_and_paragraphs_and_scaffold_is_none() {
    let expected = [
        (Topic::InFlight, 7, "The parser, half of it.".to_owned()),
        (Topic::InFlight, 10, "And the tests.".to_owned()),
        (Topic::Next, 13, "Mend it. Then go on.".to_owned()),
        (Topic::Next, 15, "Commit.".to_owned()),
    ];
    assert_eq!(written(OLDER), expected);
}

#[test]
fn nested_items_and_code_belong_to_their_entry_and_a_section_of_ones_own_is_a_note() {
    let text = "# Session\nIntro.\n## Decisions\n1. Use it.\n   - because: small\n   ```\n   # x\n   ```\n# Mine\n<!-- no -->\nHello.\n";
    let expected = [
        (
            Topic::Decisions,
            4,
            "Use it. - because: small ``` # x ```".to_owned(),
        ),
        (Topic::Notes, 11, "Hello.".to_owned()),
    ];
    assert_eq!(written(text), expected);
}

#[test]
fn an_entry_goes_where_it_belongs() {
    for (text, topic, expected) in [
        ("", Topic::Notes, "# Notes\n\n- New.\n"),
        ("# Notes\n", Topic::Notes, "# Notes\n\n- New.\n"),
        (
            "# Notes\n\n# Dead Ends\n",
            Topic::Notes,
            "# Notes\n\n- New.\n\n# Dead Ends\n",
        ),
        (
            "# Notes\n# Dead Ends\n",
            Topic::Notes,
            "# Notes\n\n- New.\n\n# Dead Ends\n",
        ),
        (
            "## Notes\r\n- Old.\r\n\r\n## X\r\n",
            Topic::Notes,
            "## Notes\r\n- Old.\r\n- New.\r\n\r\n## X\r\n",
        ),
        (
            "# Notes\nA paragraph.\n",
            Topic::Notes,
            "# Notes\nA paragraph.\n\n- New.\n",
        ),
        (
            "# Notes\n- Old.\n  More.",
            Topic::Notes,
            "# Notes\n- Old.\n  More.\n- New.",
        ),
        (
            "# S\n\n## Notes\nx",
            Topic::DeadEnds,
            "# S\n\n## Notes\nx\n\n## Dead Ends\n\n- New.",
        ),
        (
            "## Open Questions\nNone.\n",
            Topic::Questions,
            "## Open Questions\n- New.\n",
        ),
        (
            "# Files\n- a\n### Deeper\n- b\n",
            Topic::Files,
            "# Files\n- a\n- New.\n### Deeper\n- b\n",
        ),
    ] {
        let appended = append(text, topic, &passage("New.")).unwrap();
        assert_eq!(appended.text, expected, "{text:?}");
    }
}

#[test]
fn an_entry_of_several_lines_is_one_item() {
    let entry = passage("One.\r\n\r\n# Not a heading\n```\ncode\n```");
    let appended = append("# Notes\n", Topic::Notes, &entry).unwrap();
    let expected = "# Notes\n\n- One.\n\n  # Not a heading\n  ```\n  code\n  ```\n";
    assert_eq!(appended.text, expected);
    assert!(
        append(&appended.text, Topic::Notes, &entry)
            .unwrap()
            .is_repeat
    );
}

#[test]
fn what_would_swallow_the_rest_is_refused() {
    for text in ["", "  \n", "a\u{1b}[2J", "```\nx", "x\n<!-- y"] {
        assert!(text.parse::<Passage>().is_err(), "{text:?}");
    }
    let damaged = "# Notes\n```\n";
    let refused = append(damaged, Topic::Notes, &passage("x"));
    assert!(matches!(refused, Err(AppendError::Structure(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn an_entry_is_found_again_and_everything_else_stays(
        lines in prop::collection::vec(prop::sample::select(vec![
            "# Notes", "## Notes", "# Session", "# Decisions", "### Part", "- a", "  b", "c", "None.", "", "1. d",
            "  - e", "```", "~~~", "<!-- f -->", "- ", "漢",
        ]), 0..12),
        ending in prop::sample::select(vec!["\n", "\r\n"]),
        entry in prop::sample::select(vec!["New.", "# x", "- y", "two\nlines", "[x] é"]),
    ) {
        let text = lines.join(ending);
        let entry = passage(entry);
        let Ok(once) = append(&text, Topic::Notes, &entry) else { return Ok(()) };
        prop_assert_eq!(&append(&once.text, Topic::Notes, &entry).unwrap().text, &once.text);
        let said = entry.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
        let is_there = |note: &(Topic, usize, String)| note.0 == Topic::Notes && note.2.contains(&said);
        prop_assert!(written(&once.text).iter().any(is_there), "{:?}", once.text);
        let mut rest = once.text.lines();
        for line in text.lines().filter(|line| !is_scaffold(line)) {
            prop_assert!(rest.any(|it| it == line), "{:?} {:?}", line, once.text);
        }
    }
}
