//! Reading and editing against any text, the nastier the better.

use proptest::prelude::*;

use super::insert::is_no_plan_yet;
use super::{
    CURRENT_STEP, Edit, EditError, Marker, PLAN, Place, Plan, Sentence, StepNumber, Then, edit,
};
use crate::markdown::{Kind, Line, Markdown};

const BYTE_ORDER_MARK: &str = "\u{feff}";

const FRAGMENTS: [&str; 53] = [
    "# Execution Plan",
    "## Execution Plan",
    "# Current Step",
    "## Current Step",
    "# State",
    "### Part",
    "  # Execution Plan",
    "- [ ] a",
    "- [x] b",
    "- [X] c",
    "- [>] d",
    "- [!] e",
    "  - [ ] f",
    "    * [x] g",
    "1. [ ] h",
    "9) [>] i",
    "999999999. [ ] j",
    "-   [!] k",
    "+\t[ ] l",
    "\t- [!] m",
    "- [~] n",
    "- [] o",
    "- [ ]",
    "- [done] p",
    "- [ ] # q",
    "- [ ] ```",
    "- [ ] [x] r",
    "- [ ] - s",
    "- [ ] <!--",
    "- [ ] <<<<<<< t",
    "- [ ] é\u{301}\u{200b}漢",
    "[ ] u",
    "  blocked: v",
    " - blocked: w",
    "    - Blocked:",
    "  note",
    "text",
    "-",
    "-     ",
    "- plain",
    "```",
    "  ```rust",
    "~~~~",
    "<!--",
    "-->",
    "<!-- x -->",
    "Not yet generated.",
    "There is no plan yet. Make one.",
    "<<<<<<< HEAD",
    "\u{feff}",
    "\r",
    "   # Part",
    "",
];

fn texts() -> impl Strategy<Value = String> {
    let ending = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r", ""]);
    let line = (prop::sample::select(&FRAGMENTS[..]), ending);
    let made = prop::collection::vec(line, 0..14);
    let made = made.prop_map(|lines| lines.into_iter().map(|(a, b)| [a, b].concat()).collect());
    let said = prop::sample::select(vec![
        "x",
        "None.",
        "a",
        "- [>] d",
        "Step 2: # q",
        "- my notes\n  on it",
        "    code",
        "---",
    ]);
    prop_oneof![
        1 => "\\PC*".prop_map(|text: String| text),
        6 => made.clone().prop_map(|text: String| text),
        6 => (said, made).prop_map(|(said, text): (&str, String)| format!("# {CURRENT_STEP}\n\n{said}\n\n# {PLAN}\n{text}")),
    ]
}

fn edits() -> impl Strategy<Value = Edit> {
    let step = || (0_usize..12).prop_map(StepNumber::at);
    let then = prop::sample::select(vec![Then::StartNext, Then::Rest]);
    let sentence = || {
        prop_oneof![
            Just("Do it."),
            Just("# x"),
            Just("[x] y"),
            Just("```"),
            Just("漢 - [ ] z")
        ]
        .prop_map(|text| text.parse::<Sentence>().unwrap())
    };
    prop_oneof![
        step().prop_map(Edit::Start),
        (step(), then).prop_map(|(step, then)| Edit::Done { step, then }),
        (step(), sentence()).prop_map(|(step, reason)| Edit::Block { step, reason }),
        (step(), sentence()).prop_map(|(step, title)| Edit::Add {
            title,
            place: Place::After(step)
        }),
        sentence().prop_map(|title| Edit::Add {
            title,
            place: Place::End
        }),
    ]
}

/// What a plan says, without where it says it.
type Said = Vec<(String, Marker, usize)>;

fn said(plan: &Plan) -> Said {
    let said = plan.steps.iter();
    said.map(|it| (it.title.clone(), it.marker.clone(), it.depth))
        .collect()
}

/// The edit made without any text.
fn expected(plan: &Plan, edit: &Edit, at: StepNumber) -> Said {
    let mut steps = said(plan);
    let index = at.index();
    match edit {
        Edit::Start(_) => {
            for step in steps.iter_mut().filter(|step| step.1 == Marker::Current) {
                step.1 = Marker::Pending;
            }
            steps[index].1 = Marker::Current;
        }
        Edit::Done { .. } if steps[index].1 == Marker::Done => {}
        Edit::Done { then, .. } => {
            steps[index].1 = Marker::Done;
            let is_idle = steps.iter().all(|step| step.1 != Marker::Current);
            let mut order = (index..steps.len()).chain(0..index);
            let next = order.find(|it| steps[*it].1 == Marker::Pending);
            if let (Then::StartNext, true, Some(next)) = (then, is_idle, next) {
                steps[next].1 = Marker::Current;
            }
        }
        Edit::Block { reason, .. } => {
            let reason = Some(reason.to_string());
            steps[index].1 = Marker::Blocked { reason };
        }
        Edit::Add { title, place } => {
            let depth = match place {
                Place::End => 0,
                Place::After(sibling) => steps[sibling.index()].2,
            };
            steps.insert(index, (title.to_string(), Marker::Pending, depth));
        }
    }
    steps
}

/// The lines of a text that an edit has no business with.
fn bystanders(text: &str, before: &Plan, after: &Plan, edit: &Edit) -> Vec<String> {
    let document = Markdown::parse(text);
    let is_added = matches!(edit, Edit::Add { .. });
    let mut touched: Vec<usize> = vec![];
    for step in &before.steps {
        let now = &after.steps.get(step.number.index());
        if !is_added && now.is_none_or(|now| now.marker != step.marker) {
            touched.push(step.line_index());
            touched.extend(step.spot.reason_line);
        }
    }
    if let (true, Some(section)) = (before.steps.is_empty(), document.sections(PLAN).next()) {
        let is_scaffold = |it: &usize| {
            let line: &Line<'_> = &document.lines[*it];
            line.kind == Kind::Text && is_no_plan_yet(line.text)
        };
        touched.extend(section.body().find(is_scaffold));
    }
    if let Some(section) = document.sections(CURRENT_STEP).next() {
        let is_written =
            |it: &usize| !matches!(document.lines[*it].kind, Kind::Blank | Kind::Comment(_));
        let is_tools = |it: &usize| is_written_by_a_tool(document.lines[*it].text, before);
        touched.extend(section.body().find(is_written).filter(is_tools));
    }
    let lines = document.lines.iter().enumerate();
    let rest = lines.filter(|(index, _)| !touched.contains(index));
    rest.map(|(_, line)| document.text[line.start..line.end()].to_owned())
        .collect()
}

/// Whether the line of `Current Step` may be another one after an edit: people's own words may not.
fn is_written_by_a_tool(line: &str, plan: &Plan) -> bool {
    let line = line.trim();
    let sentences = ["None.", "Not started", "Blocked.", "All steps are done."];
    let is_title = |title: &str| !title.is_empty() && line.ends_with(title);
    sentences.contains(&line) || plan.steps.iter().any(|step| is_title(&step.title))
}

/// Whether all of `lines` are in `text`, in this order. The last one may have got an ending.
fn has_in_order(text: &str, lines: &[String]) -> bool {
    let document = Markdown::parse(text);
    let mut rest = document.lines.iter();
    lines.iter().all(|wanted| {
        rest.any(|line| {
            let whole = &document.text[line.start..line.end()];
            whole == wanted || (!wanted.ends_with('\n') && whole.starts_with(wanted))
        })
    })
}

fn an_edit_says_what_was_meant(text: &str, change: &Edit) -> Result<(), TestCaseError> {
    let before = Plan::parse(text);
    match edit(text, change) {
        Err(EditError::Structure(problem)) => prop_assert!(before.problems.contains(&problem)),
        Err(EditError::NoSuchStep { number, count }) => prop_assert!(number.get() > count),
        Err(EditError::AlreadyDone(step)) => prop_assert!(before.step(step).unwrap().is_done()),
        Err(EditError::SameStep(step)) => prop_assert!(!before.step(step).unwrap().is_done()),
        Ok(edited) => {
            prop_assert_eq!(&edited.plan, &Plan::parse(&edited.text));
            prop_assert_eq!(
                said(&edited.plan),
                expected(&before, change, edited.step),
                "{:?}",
                edited.text
            );
            let rest = bystanders(text, &before, &edited.plan, change);
            let are_kept = has_in_order(&edited.text, &rest);
            prop_assert!(are_kept, "{:?} {:?}", rest, edited.text);
            prop_assert!(edited.plan.problems.iter().all(|it| !it.is_structural()));
        }
    }
    Ok(())
}

/// What random choices have found.
#[test]
fn texts_that_once_failed_are_edited_as_meant() {
    let add = || Edit::Add {
        title: "Do it.".parse().unwrap(),
        place: Place::End,
    };
    let cases = [
        // The line in the place of a plan, and the same words where they are a person's.
        (
            "Not yet generated.\n# Execution Plan\nNot yet generated.\n",
            add(),
        ),
    ];
    for (text, change) in cases {
        let ended = an_edit_says_what_was_meant(text, &change);
        assert!(ended.is_ok(), "{text:?}: {ended:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn lines_keep_every_byte(text in texts()) {
        let document = Markdown::parse(&text);
        let mut end = document.lines.first().map_or(text.len(), |line| line.start);
        prop_assert!(matches!(&text[..end], "" | BYTE_ORDER_MARK));
        for line in &document.lines {
            prop_assert_eq!(line.start, end);
            end = line.end();
        }
        prop_assert_eq!(end, text.len());
    }

    #[test]
    fn an_edit_makes_the_plan_say_what_was_meant_and_leaves_the_rest(text in texts(), change in edits()) {
        an_edit_says_what_was_meant(&text, &change)?;
    }

    #[test]
    fn repeating_an_edit_changes_nothing(text in texts(), change in edits()) {
        let Ok(once) = edit(&text, &change) else { return Ok(()) };
        match (edit(&once.text, &change), change) {
            (Ok(twice), Edit::Start(_) | Edit::Done { .. } | Edit::Block { .. }) => prop_assert_eq!(twice.text, once.text),
            (Err(EditError::SameStep(step)), Edit::Add { .. }) => prop_assert_eq!(step, once.step),
            (other, _) => prop_assert!(false, "{other:?}"),
        }
    }
}
