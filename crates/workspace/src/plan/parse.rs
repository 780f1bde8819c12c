//! Reading a plan.

use super::checkbox::Checkbox;
use super::step::Spot;
use super::{CURRENT_STEP, Fault, Marker, PLAN, Plan, Problem, Step, StepNumber, current_line};
use crate::markdown::{Item, Kind, Line, LineNumber, Markdown, Open, Part, Section};

const REASON: &str = "blocked:";

pub(super) fn plan(text: &str) -> Plan {
    read(&Markdown::parse(text))
}

pub(super) fn read(document: &Markdown<'_>) -> Plan {
    let mut reader = Reader {
        document,
        steps: vec![],
        bare_boxes: vec![],
        columns: vec![],
        is_below_step: false,
    };
    for range in parts(document) {
        range.for_each(|index| reader.line(index));
    }
    let mut problems = of_document(document);
    if !reader.steps.is_empty() {
        problems.append(&mut reader.bare_boxes);
    }
    problems.extend(of_steps(&reader.steps));
    let mut plan = Plan {
        steps: reader.steps,
        problems,
    };
    plan.problems
        .extend(current_line::disagreement(document, &plan));
    plan.problems.sort_by_key(|problem| problem.line);
    plan
}

/// The lines of all sections with the plan's title, each once: one may lie in another.
fn parts(document: &Markdown<'_>) -> Vec<std::ops::Range<usize>> {
    let mut parts: Vec<std::ops::Range<usize>> = vec![];
    for section in document.sections(PLAN) {
        if parts.last().is_none_or(|last| section.heading >= last.end) {
            parts.push(section.body());
        }
    }
    parts
}

struct Reader<'doc, 'text> {
    document: &'doc Markdown<'text>,
    steps: Vec<Step>,
    bare_boxes: Vec<Problem>,
    /// The columns of the steps that a line may be nested in.
    columns: Vec<usize>,
    /// Whether the line before belongs to the last step.
    is_below_step: bool,
}

impl Reader<'_, '_> {
    fn line(&mut self, index: usize) {
        let line = self.document.lines[index];
        match line.kind {
            Kind::Blank => {}
            Kind::Heading(_) => {
                self.columns.clear();
                self.is_below_step = false;
            }
            // Whoever owns the first line of a block owns the others, however they are indented.
            Kind::Code(Part::Rest) | Kind::Comment(Part::Rest) => self.note(index, &line),
            Kind::Item(item) => match Checkbox::read(&line.text[item.content..]) {
                Some(checkbox) => self.step(index, &line, item, checkbox),
                None => self.other(index, &line),
            },
            Kind::Text => {
                self.look_for_bare_box(index, &line);
                self.other(index, &line);
            }
            Kind::Code(Part::First) | Kind::Comment(Part::First) => self.other(index, &line),
        }
    }

    fn step(&mut self, index: usize, line: &Line<'_>, item: Item, checkbox: Checkbox<'_>) {
        while self.columns.last().is_some_and(|it| *it >= item.column) {
            self.columns.pop();
        }
        let start = line.start + item.content;
        self.steps.push(Step {
            number: StepNumber::at(self.steps.len()),
            line: LineNumber::at(index),
            depth: self.columns.len(),
            marker: checkbox.marker,
            title: checkbox.title.to_owned(),
            notes: vec![],
            spot: Spot {
                column: item.column,
                inner_column: item.inner_column,
                box_range: start + checkbox.inside.start..start + checkbox.inside.end,
                end: index + 1,
                reason_line: None,
            },
        });
        self.columns.push(item.column);
        self.is_below_step = true;
    }

    fn other(&mut self, index: usize, line: &Line<'_>) {
        let is_deeper = |step: &Step| line.column() > step.spot.column;
        self.is_below_step = self.is_below_step && self.steps.last().is_some_and(is_deeper);
        self.note(index, line);
    }

    fn note(&mut self, index: usize, line: &Line<'_>) {
        let Some(step) = self.steps.last_mut().filter(|_| self.is_below_step) else {
            return;
        };
        step.spot.end = index + 1;
        match (reason(line), &mut step.marker) {
            (Some(text), marker) if step.spot.reason_line.is_none() => {
                step.spot.reason_line = Some(index);
                if let Marker::Blocked { reason } = marker {
                    *reason = Some(text.to_owned()).filter(|text| !text.is_empty());
                    return;
                }
            }
            (Some(_) | None, _) => {}
        }
        if !matches!(line.kind, Kind::Comment(_)) {
            step.notes.push(line.text.trim().to_owned());
        }
    }

    fn look_for_bare_box(&mut self, index: usize, line: &Line<'_>) {
        let found = Checkbox::read(line.text.trim_start()).map(|checkbox| checkbox.marker);
        match found {
            None | Some(Marker::Unknown { .. }) => {}
            Some(Marker::Done | Marker::Current | Marker::Pending | Marker::Blocked { .. }) => self
                .bare_boxes
                .push(Problem::new(LineNumber::at(index), Fault::BareBox)),
        }
    }
}

/// What a line `blocked: …` says.
fn reason<'text>(line: &Line<'text>) -> Option<&'text str> {
    let text = match line.kind {
        Kind::Item(item) => &line.text[item.content..],
        Kind::Text => line.text.trim_start(),
        Kind::Blank | Kind::Heading(_) | Kind::Code(_) | Kind::Comment(_) => return None,
    };
    let is_reason = text
        .get(..REASON.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(REASON));
    is_reason.then(|| text[REASON.len()..].trim())
}

/// What is wrong with any document in which something was left unfinished.
pub(super) fn damage(document: &Markdown<'_>) -> Vec<Problem> {
    let mut problems: Vec<_> = conflicts(document).collect();
    problems.extend(document.open.map(|open| match open {
        Open::Fence(line) => Problem::new(line, Fault::OpenFence),
        Open::Comment(line) => Problem::new(line, Fault::OpenComment),
    }));
    problems
}

/// What is wrong with the document as a whole.
fn of_document(document: &Markdown<'_>) -> Vec<Problem> {
    let mut problems = damage(document);
    let plans: Vec<_> = document.sections(PLAN).collect();
    problems.extend(repeated(&plans, |first| Fault::SecondPlan { first }));
    let current: Vec<_> = document.sections(CURRENT_STEP).collect();
    problems.extend(repeated(&current, |first| Fault::SecondCurrentSection {
        first,
    }));
    if plans.is_empty() {
        let line = first_box(document).map(LineNumber::at);
        problems.extend(line.map(|line| Problem::new(line, Fault::NoPlanHeading)));
    }
    problems
}

fn repeated(
    sections: &[Section],
    fault: impl Fn(LineNumber) -> Fault,
) -> impl Iterator<Item = Problem> {
    let first = sections.first().map(Section::line);
    let others = sections.iter().skip(1);
    others.filter_map(move |section| Some(Problem::new(section.line(), fault(first?))))
}

fn conflicts(document: &Markdown<'_>) -> impl Iterator<Item = Problem> {
    let lines = document.lines.iter().enumerate();
    let marked = lines.filter(|(_, line)| {
        !matches!(line.kind, Kind::Code(_) | Kind::Comment(_)) && is_conflict(line.text)
    });
    marked.map(|(index, _)| Problem::new(LineNumber::at(index), Fault::Conflict))
}

/// Whether git put this line there. `=======` alone may as well underline a heading.
pub(super) fn is_conflict(line: &str) -> bool {
    ["<<<<<<<", "|||||||", ">>>>>>>"].iter().any(|mark| {
        line.strip_prefix(mark)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

fn first_box(document: &Markdown<'_>) -> Option<usize> {
    document.lines.iter().position(|line| match line.kind {
        Kind::Item(item) => Checkbox::read(&line.text[item.content..]).is_some(),
        Kind::Blank | Kind::Heading(_) | Kind::Code(_) | Kind::Comment(_) | Kind::Text => false,
    })
}

/// What is wrong with single steps.
fn of_steps(steps: &[Step]) -> Vec<Problem> {
    let first_current = steps.iter().find(|step| step.marker == Marker::Current);
    let mut problems = vec![];
    for step in steps {
        let number = step.number;
        let faults = [
            of_marker(step, first_current),
            step.title
                .is_empty()
                .then_some(Fault::NoText { step: number }),
            unfinished_below(steps, step).map(|below| Fault::DoneTooEarly {
                step: number,
                below,
            }),
        ];
        let faults = faults.into_iter().flatten();
        problems.extend(faults.map(|fault| Problem::new(step.line, fault)));
    }
    problems
}

fn of_marker(step: &Step, first_current: Option<&Step>) -> Option<Fault> {
    let number = step.number;
    match &step.marker {
        Marker::Done | Marker::Pending | Marker::Blocked { reason: Some(_) } => None,
        Marker::Current => {
            let first = first_current?.number;
            (first != number).then_some(Fault::SecondCurrent {
                step: number,
                first,
            })
        }
        Marker::Blocked { reason: None } => Some(Fault::NoReason { step: number }),
        Marker::Unknown { found } => Some(Fault::UnreadableBox {
            step: number,
            found: found.clone(),
        }),
    }
}

fn unfinished_below(steps: &[Step], outer: &Step) -> Option<StepNumber> {
    if !outer.is_done() {
        return None;
    }
    let behind = steps.iter().skip(outer.number.get());
    let mut inside = behind.take_while(|step| step.depth > outer.depth);
    inside.find(|step| !step.is_done()).map(|step| step.number)
}
