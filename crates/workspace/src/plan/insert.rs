//! New lines of a plan, in the manner of those around them.

use super::{EditError, NO_PLAN_YET, PLAN, Place, Plan, Sentence, Step, StepNumber};
use crate::markdown::{Kind, Line, Markdown, Section, Splice};

/// The line that says why a step is blocked: in the place of the one that is there, else right below the step.
pub(super) fn reason(document: &Markdown<'_>, step: &Step, reason: &Sentence) -> Splice {
    let said = format!("blocked: {reason}");
    match step.spot.reason_line.map(|index| &document.lines[index]) {
        Some(line) => {
            let content = match line.kind {
                Kind::Item(item) => item.content,
                Kind::Text | Kind::Blank | Kind::Heading(_) | Kind::Code(_) | Kind::Comment(_) => {
                    line.text.len() - line.text.trim_start().len()
                }
            };
            Splice {
                range: line.start + content..line.text_end(),
                text: said,
            }
        }
        None => {
            let line = &document.lines[step.line_index()];
            let indent = " ".repeat(step.spot.inner_column);
            Splice::line_behind(line, &format!("{indent}{said}"), document.ending())
        }
    }
}

/// A new step, and its number.
pub(super) fn step(
    document: &Markdown<'_>,
    plan: &Plan,
    title: &Sentence,
    place: Place,
) -> Result<(Vec<Splice>, StepNumber), EditError> {
    let is_same = |step: &&Step| !step.is_done() && step.title == title.as_str();
    if let Some(same) = plan.steps.iter().find(is_same) {
        return Err(EditError::SameStep(same.number));
    }
    let sibling = match place {
        Place::After(number) => Some(plan.step(number).ok_or(EditError::NoSuchStep {
            number,
            count: plan.steps.len(),
        })?),
        Place::End => plan.steps.iter().rfind(|step| step.depth == 0),
    };
    let Some(sibling) = sibling else {
        return Ok((vec![first(document, title)], StepNumber::at(0)));
    };
    let last = last_within(plan, sibling);
    let text = format!("{}[ ] {title}", bullet(document, sibling));
    let line = &document.lines[last.spot.end - 1];
    let splice = Splice::line_behind(line, &text, document.ending());
    Ok((vec![splice], StepNumber::at(last.number.get())))
}

/// The last step that is nested in this one, or itself.
fn last_within<'plan>(plan: &'plan Plan, outer: &'plan Step) -> &'plan Step {
    let behind = plan.steps.iter().skip(outer.number.get());
    let inside = behind.take_while(|step| step.depth > outer.depth);
    inside.last().unwrap_or(outer)
}

/// Indentation and list marker of a sibling; a number counts on.
fn bullet(document: &Markdown<'_>, sibling: &Step) -> String {
    let line = &document.lines[sibling.line_index()];
    let before = sibling.spot.box_range.start - 1 - line.start;
    let bullet = &line.text[..before];
    let indent = bullet.len() - bullet.trim_start().len();
    let digits: String = bullet[indent..]
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    match digits.parse::<u64>() {
        // Ten digits are no list marker any more.
        Ok(number) if number < 999_999_999 => format!(
            "{}{}{}",
            &bullet[..indent],
            number + 1,
            &bullet[indent + digits.len()..]
        ),
        Ok(_) | Err(_) => bullet.to_owned(),
    }
}

/// The first step: in the place of the line that says there is no plan yet, else at the end of the section, which
/// is made if it is not there.
fn first(document: &Markdown<'_>, title: &Sentence) -> Splice {
    let ending = document.ending();
    let text = format!("- [ ] {title}");
    let Some(section) = document.sections(PLAN).next() else {
        let heading = format!("# {PLAN}{ending}{ending}{text}");
        return at_end(document, &heading);
    };
    if let Some(line) = no_plan_yet(document, section) {
        return Splice {
            range: line.start..line.text_end(),
            text,
        };
    }
    let is_written = |index: &usize| document.lines[*index].kind != Kind::Blank;
    match section.body().rev().find(is_written) {
        Some(last) => Splice::line_behind(&document.lines[last], &text, ending),
        None => {
            let heading = &document.lines[section.heading];
            Splice::line_behind(heading, &format!("{ending}{text}"), ending)
        }
    }
}

fn no_plan_yet<'doc, 'text>(
    document: &'doc Markdown<'text>,
    section: Section,
) -> Option<&'doc Line<'text>> {
    let mut lines = document.lines[section.body()].iter();
    lines.find(|line| line.kind == Kind::Text && is_no_plan_yet(line.text))
}

pub(super) fn is_no_plan_yet(line: &str) -> bool {
    let text = line.trim().as_bytes();
    NO_PLAN_YET.iter().any(|said| {
        let start = text.get(..said.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(said.as_bytes()))
    })
}

/// A new last paragraph of a document.
fn at_end(document: &Markdown<'_>, text: &str) -> Splice {
    let ending = document.ending();
    match document.lines.last() {
        Some(last) if last.kind == Kind::Blank => Splice::line_behind(last, text, ending),
        Some(last) => Splice::line_behind(last, &format!("{ending}{text}"), ending),
        None => Splice {
            range: document.text.len()..document.text.len(),
            text: format!("{text}{ending}"),
        },
    }
}
