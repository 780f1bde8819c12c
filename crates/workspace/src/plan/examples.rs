//! Edits by example: the whole text before, and the whole text after.

use super::{Edit, EditError, FindError, Place, Plan, Sentence, StepNumber, Then, edit};

fn sentence(text: &str) -> Sentence {
    text.parse().unwrap()
}

const fn step(number: usize) -> StepNumber {
    StepNumber::at(number - 1)
}

fn done(number: usize) -> Edit {
    Edit::Done {
        step: step(number),
        then: Then::StartNext,
    }
}

fn add(title: &str, place: Place) -> Edit {
    Edit::Add {
        title: sentence(title),
        place,
    }
}

fn block(number: usize, reason: &str) -> Edit {
    Edit::Block {
        step: step(number),
        reason: sentence(reason),
    }
}

#[track_caller]
fn assert_edits(before: &str, change: &Edit, after: &str) {
    assert_eq!(edit(before, change).unwrap().text, after);
}

#[test]
fn finishing_a_step_starts_the_next_and_says_so_to_people() {
    assert_edits(
        "\u{feff}# Current Step\r\n- a\r\n\r\n## Execution Plan\r\n1. [>] a\r\n   note\r\n2. [ ] b",
        &done(1),
        "\u{feff}# Current Step\r\n- b\r\n\r\n## Execution Plan\r\n1. [x] a\r\n   note\r\n2. [>] b",
    );
}

#[test]
fn finishing_the_last_step_goes_back_to_one_that_was_left_out() {
    assert_edits(
        "# Execution Plan\n- [ ] a\n- [!] b\n- [>] c\n",
        &done(3),
        "# Execution Plan\n- [>] a\n- [!] b\n- [x] c\n",
    );
}

#[test]
fn finishing_another_step_leaves_the_current_one() {
    assert_edits(
        "# Execution Plan\n- [>] a\n- [ ] b\n- [ ] c\n",
        &done(2),
        "# Execution Plan\n- [>] a\n- [x] b\n- [ ] c\n",
    );
}

#[test]
fn starting_a_step_puts_several_current_ones_right() {
    assert_edits(
        "# Execution Plan\n- [>] a\n- [~] b\n- [>] c\n",
        &Edit::Start(step(2)),
        "# Execution Plan\n- [ ] a\n- [>] b\n- [ ] c\n",
    );
}

#[test]
fn blocking_and_starting_again_leaves_no_trace() {
    let before = "# Execution Plan\n 2) [>] a\n    note\n- [ ] b";
    let blocked = "# Execution Plan\n 2) [!] a\n    blocked: no key\n    note\n- [ ] b";
    assert_edits(before, &block(1, "no key"), blocked);
    assert_edits(blocked, &Edit::Start(step(1)), before);
    let again = blocked.replace("no key", "no time");
    assert_edits(blocked, &block(1, "no time"), &again);
}

#[test]
fn a_new_step_looks_like_its_neighbours() {
    for (before, place, after) in [
        (
            "# Execution Plan\n* [ ] a\n  - [ ] b\n    note\n\ntext\n",
            Place::End,
            "# Execution Plan\n* [ ] a\n  - [ ] b\n    note\n* [ ] new\n\ntext\n",
        ),
        (
            "# Execution Plan\n* [ ] a\n  - [ ] b\n* [ ] c\n",
            Place::After(step(2)),
            "# Execution Plan\n* [ ] a\n  - [ ] b\n  - [ ] new\n* [ ] c\n",
        ),
        (
            "# Execution Plan\n9. [ ] a",
            Place::End,
            "# Execution Plan\n9. [ ] a\n10. [ ] new",
        ),
        (
            "# Execution Plan\n\nNot yet generated.\n\n# Risks\n",
            Place::End,
            "# Execution Plan\n\n- [ ] new\n\n# Risks\n",
        ),
        (
            "# Execution Plan\n# Risks\n",
            Place::End,
            "# Execution Plan\n\n- [ ] new\n# Risks\n",
        ),
        (
            "Text.",
            Place::End,
            "Text.\n\n# Execution Plan\n\n- [ ] new",
        ),
        ("", Place::End, "# Execution Plan\n\n- [ ] new\n"),
    ] {
        assert_edits(before, &add("new", place), after);
    }
}

#[test]
fn a_title_that_markdown_would_take_for_something_else_is_introduced() {
    assert_edits(
        "# Current Step\nNone.\n# Execution Plan\n- [ ] # a\n",
        &Edit::Start(step(1)),
        "# Current Step\nStep 1: # a\n# Execution Plan\n- [>] # a\n",
    );
}

#[test]
fn what_somebody_wrote_about_the_current_step_stays_below_it() {
    let theirs = "- the parser is half rewritten\n  - do not touch it\n";
    let plan = "# Execution Plan\n- [x] a\n- [>] b\n- [ ] c\n";
    assert_edits(
        &format!("# Current Step\n\n{theirs}{plan}"),
        &done(2),
        &format!(
            "# Current Step\n\nc\n\n{theirs}{}",
            plan.replace("[>]", "[x]").replace("[ ]", "[>]")
        ),
    );
    let once = format!("# Current Step\n\nb\n\n{theirs}{plan}");
    let edited = edit(&once, &done(2)).unwrap().text;
    assert!(edited.starts_with(&format!("# Current Step\n\nc\n\n{theirs}#")));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let text = "# Execution Plan\n- [x] a\n- [ ] b\n";
    assert_eq!(
        edit(text, &block(1, "x")),
        Err(EditError::AlreadyDone(step(1)))
    );
    assert_eq!(
        edit(text, &add("b", Place::End)),
        Err(EditError::SameStep(step(2)))
    );
    let number = step(3);
    assert_eq!(
        edit(text, &done(3)),
        Err(EditError::NoSuchStep { number, count: 2 })
    );
    let conflict = format!("{text}<<<<<<< HEAD\n");
    assert!(matches!(
        edit(&conflict, &done(2)),
        Err(EditError::Structure(_))
    ));
}

#[test]
fn a_step_is_found_by_number_and_by_the_beginning_of_its_text() {
    let plan =
        Plan::parse("# Execution Plan\n- [x] Write it\n- [ ] Write it down\n- [ ] Émigrate\n");
    let find = |word: &str| {
        plan.find(&word.parse().unwrap())
            .map(|step| step.number.get())
    };
    assert_eq!(
        ["2", "write it", "WRITE IT D", "ém"].map(find),
        [Ok(2), Ok(1), Ok(2), Ok(3)]
    );
    let named = |numbers: &[usize]| -> Vec<_> {
        let titles = numbers
            .iter()
            .map(|it| (step(*it), plan.steps[it - 1].title.clone()));
        titles.collect()
    };
    let (word, all) = ("wr".to_owned(), named(&[1, 2]));
    assert_eq!(find("wr"), Err(FindError::Several { word, all }));
    for (word, could_be) in [
        ("down", named(&[2])),
        ("0", named(&[2, 3])),
        ("", named(&[1, 2, 3])),
    ] {
        let unknown = FindError::Unknown {
            word: word.to_owned(),
            could_be,
        };
        assert_eq!(find(word), Err(unknown));
    }
}
