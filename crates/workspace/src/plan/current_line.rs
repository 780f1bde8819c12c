//! The section `Current Step`: written for people and older tools, never read to decide anything.

use super::checkbox::Checkbox;
use super::parse::is_conflict;
use super::{CURRENT_STEP, Fault, Plan, Problem, Step, Verdict};
use crate::markdown::{Kind, Line, LineNumber, Markdown, Splice};

/// What stands there until work begins: ours, and that of older tools.
const NOT_STARTED: [&str; 2] = ["none", "not started"];
const ALL_DONE: &str = "All steps are done.";
const BLOCKED: &str = "Blocked.";

/// Where the section says its one thing.
enum Spot {
    /// On this line, in the list of lines.
    Line(usize),
    /// Nowhere yet; it would come behind the heading on this line.
    Behind(usize),
    /// A step of the plan stands there, which is not to be overwritten.
    Taken,
}

fn spot(document: &Markdown<'_>, plan: &Plan) -> Option<Spot> {
    let section = document.sections(CURRENT_STEP).next()?;
    let is_step = |index: usize| plan.steps.iter().any(|step| step.line_index() == index);
    for index in section.body() {
        match document.lines[index].kind {
            Kind::Blank | Kind::Comment(_) => {}
            Kind::Text | Kind::Item(_) if is_step(index) => return Some(Spot::Taken),
            Kind::Text | Kind::Item(_) => return Some(Spot::Line(index)),
            Kind::Heading(_) | Kind::Code(_) => break,
        }
    }
    Some(Spot::Behind(section.heading))
}

/// The problem that the section says something else than the plan.
pub(super) fn disagreement(document: &Markdown<'_>, plan: &Plan) -> Option<Problem> {
    let Spot::Line(index) = spot(document, plan)? else {
        return None;
    };
    let current = plan.current()?;
    let said = content(&document.lines[index]).to_lowercase();
    let is_begun = plan.steps.iter().any(Step::is_done);
    let title = current.title.to_lowercase();
    let agrees =
        said.contains(&title) || title.contains(&said) || (!is_begun && is_not_started(&said));
    let fault = Fault::Disagrees {
        current: current.number,
    };
    (!agrees).then(|| Problem::new(LineNumber::at(index), fault))
}

fn content<'text>(line: &Line<'text>) -> &'text str {
    let text = match line.kind {
        Kind::Item(item) => &line.text[item.content..],
        Kind::Blank | Kind::Heading(_) | Kind::Code(_) | Kind::Comment(_) | Kind::Text => line.text,
    };
    Checkbox::read(text)
        .map_or(text, |checkbox| checkbox.title)
        .trim()
}

fn is_not_started(said: &str) -> bool {
    let said = said.trim_end_matches('.');
    NOT_STARTED.iter().any(|it| said.eq_ignore_ascii_case(it))
}

/// Whether a tool wrote this: one of its sentences, or a step of the plan. Everything else is somebody's own words.
fn is_ours(said: &str, plan: &Plan) -> bool {
    let title = said.strip_prefix("Step ").and_then(|rest| {
        let (number, title) = rest.split_once(": ")?;
        number.parse::<usize>().ok().map(|_| title)
    });
    let is_named = |step: &Step| step.title == said || Some(step.title.as_str()) == title;
    is_not_started(said) || [ALL_DONE, BLOCKED].contains(&said) || plan.steps.iter().any(is_named)
}

/// The change that makes the section say what the plan says. What somebody else wrote there stays below it.
pub(super) fn rewrite(document: &Markdown<'_>, plan: &Plan) -> Option<Splice> {
    let said = sentence(plan)?;
    match spot(document, plan)? {
        Spot::Taken => None,
        Spot::Line(index) if !is_ours(content(&document.lines[index]), plan) => {
            let (start, end) = (document.lines[index].start, document.ending());
            Some(Splice {
                range: start..start,
                // Without a blank line their words would go on ours, or make a heading of them.
                text: format!("{said}{end}{end}"),
            })
        }
        Spot::Line(index) => {
            let line = &document.lines[index];
            let text = format!("{}{said}", prefix(line));
            (text != line.text).then(|| Splice {
                range: line.start..line.text_end(),
                text,
            })
        }
        Spot::Behind(heading) => {
            let line = &document.lines[heading];
            Some(Splice::line_behind(line, &said, document.ending()))
        }
    }
}

/// What belongs in the section. An invalid plan has no current step, so nothing is said about it.
fn sentence(plan: &Plan) -> Option<String> {
    match plan.verdict() {
        Verdict::Invalid | Verdict::NotInitialised => None,
        Verdict::NothingRemaining => Some(ALL_DONE.to_owned()),
        Verdict::Blocked => Some(BLOCKED.to_owned()),
        Verdict::Ready { current } => plan.step(current).map(named),
    }
}

/// A title that Markdown would take for something else is introduced by its number.
fn named(step: &Step) -> String {
    if is_ordinary(&step.title) {
        step.title.clone()
    } else {
        format!("Step {}: {}", step.number, step.title)
    }
}

fn is_ordinary(title: &str) -> bool {
    let document = Markdown::parse(title);
    let is_text = matches!(document.lines[..], [line] if line.kind == Kind::Text);
    is_text && !title.starts_with(['[', '\u{feff}']) && !is_conflict(title)
}

/// Indentation and list marker stay: without them a line below could come to stand outside of its list item.
fn prefix(line: &Line<'_>) -> String {
    match line.kind {
        Kind::Item(item) if line.text[item.content..].is_empty() => {
            format!("{} ", line.text.trim_end())
        }
        Kind::Item(item) => line.text[..item.content].to_owned(),
        Kind::Blank | Kind::Heading(_) | Kind::Code(_) | Kind::Comment(_) | Kind::Text => {
            let indent = line.text.len() - line.text.trim_start().len();
            line.text[..indent].to_owned()
        }
    }
}
