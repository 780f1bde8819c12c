//! The plan's parser and editor, and the notes', on whatever bytes come.
//!
//! Without cargo-fuzz, on stable, from the directory `fuzz`:
//!
//! ```sh
//! export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
//!   -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
//!   -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
//! cargo build --release --target x86_64-unknown-linux-gnu
//! mkdir -p corpus/plan
//! target/x86_64-unknown-linux-gnu/release/plan -dict=plan.dict -max_len=512 -max_total_time=60 corpus/plan
//! ```

#![no_main]

use handoff_workspace::notebook::{Notebook, Passage, Topic, append};
use handoff_workspace::plan::{Edit, Edited, Marker, Place, Plan, Sentence, Then, edit};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [what, which, rest @ ..] = input else {
        return;
    };
    let Ok(text) = str::from_utf8(rest) else {
        return;
    };
    let plan = Plan::parse(text);
    if let Some(change) = chosen(*what, *which, &plan)
        && let Ok(edited) = edit(text, &change)
    {
        check(&plan, &change, &edited);
    }
    note(text);
});

/// The edit that two bytes stand for.
fn chosen(what: u8, which: u8, plan: &Plan) -> Option<Edit> {
    let step = || Some(plan.steps.get(usize::from(which))?.number);
    let sentences = ["Do it.", "# x", "[x] y", "```", "- [ ] z", "<!--"];
    let sentence: Sentence = sentences[usize::from(which) % sentences.len()]
        .parse()
        .ok()?;
    Some(match what % 6 {
        0 => Edit::Start(step()?),
        1 => Edit::Done {
            step: step()?,
            then: Then::StartNext,
        },
        2 => Edit::Done {
            step: step()?,
            then: Then::Rest,
        },
        3 => Edit::Block {
            step: step()?,
            reason: sentence,
        },
        4 => Edit::Add {
            title: sentence,
            place: Place::End,
        },
        _ => Edit::Add {
            title: sentence,
            place: Place::After(step()?),
        },
    })
}

/// The plan says what was meant, all other steps stay, and doing it again changes nothing.
fn check(before: &Plan, change: &Edit, edited: &Edited) {
    assert_eq!(edited.plan, Plan::parse(&edited.text));
    let mut titles: Vec<_> = before
        .steps
        .iter()
        .map(|step| step.title.as_str())
        .collect();
    let step = edited.plan.step(edited.step).expect("the step is there");
    match change {
        Edit::Start(_) => {
            let current = edited
                .plan
                .steps
                .iter()
                .filter(|it| it.marker == Marker::Current);
            assert_eq!(current.count(), 1);
            assert_eq!(step.marker, Marker::Current);
        }
        Edit::Done { .. } => assert!(step.is_done()),
        Edit::Block { reason, .. } => {
            let reason = Some(reason.to_string());
            assert_eq!(step.marker, Marker::Blocked { reason });
        }
        Edit::Add { title, .. } => {
            assert_eq!(step.marker, Marker::Pending);
            titles.insert(edited.step.get() - 1, title.as_str());
        }
    }
    let now: Vec<_> = edited
        .plan
        .steps
        .iter()
        .map(|step| step.title.as_str())
        .collect();
    assert_eq!(now, titles);
    match edit(&edited.text, change) {
        Ok(again) => assert_eq!(again.text, edited.text),
        Err(_) => assert!(matches!(change, Edit::Add { .. })),
    }
}

/// An entry is written once, and found again.
fn note(text: &str) {
    let before = Notebook::parse(text).notes.len();
    let entry: Passage = "A thing.\nIts second line."
        .parse()
        .expect("it is a passage");
    let Ok(appended) = append(text, Topic::DeadEnds, &entry) else {
        return;
    };
    let notes = Notebook::parse(&appended.text).notes;
    let is_it = |note: &&_| is_entry(note);
    assert!(appended.is_repeat || notes.iter().filter(is_it).count() > 0);
    assert!(notes.len() >= before);
    let again = append(&appended.text, Topic::DeadEnds, &entry).expect("it is as sound as before");
    assert_eq!(again.text, appended.text);
}

fn is_entry(note: &handoff_workspace::notebook::Note) -> bool {
    note.topic == Topic::DeadEnds && note.text.contains("A thing. Its second line.")
}
