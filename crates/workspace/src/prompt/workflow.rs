//! What `start` asks for: planning where there is no plan, and then the work.

use std::fmt::Write as _;

use super::Material;
use crate::feature::Document;
use crate::plan::{Marker, Step};
use crate::quote;

/// In a sentence.
pub(super) fn mode(material: &Material) -> String {
    match (material.plan.current(), material.plan.steps.len()) {
        (Some(step), total) => format!(
            "There is a plan of {total} steps, {} of them done. You carry it out, beginning with step {}.",
            material.plan.done(),
            step.number.get()
        ),
        (None, 0) => "There is no plan yet. You write the planning documents that are missing, and then you carry the \
                      plan out."
            .to_owned(),
        (None, _) => "There is a plan, but no step of it can be taken as it is. You put the plan right first."
            .to_owned(),
    }
}

/// Step by step.
pub(super) fn instructions(material: &Material) -> String {
    let instructions = match (material.plan.current(), material.plan.steps.len()) {
        (Some(step), _) => executing(material, step),
        (None, 0) => planning(material),
        (None, _) => mending(material),
    };
    numbered(&instructions)
}

fn planning(material: &Material) -> Vec<String> {
    let mut instructions = vec![
        "Read the goal above and the parts of the repository that it touches. Where the goal leaves something open that changes \
         what is to be built, ask now, or write it under Open questions if nobody can answer."
            .to_owned(),
    ];
    if !material.worth(Document::Spec).is_written() {
        instructions.push(format!(
            "Write `{}`: scope, numbered requirements that can be checked, edge cases, acceptance, open questions.",
            material.path_of(Document::Spec)
        ));
    }
    if !material.worth(Document::Design).is_written() {
        instructions.push(format!(
            "Write `{}` if there is more than one sensible way, or if interfaces or data change. Otherwise leave it.",
            material.path_of(Document::Design)
        ));
    }
    instructions.push(format!(
        "Write the plan into `{}`, in the form below: usually five to twelve steps, each of which leaves the repository \
         working and can be proved.",
        material.path_of(Document::State)
    ));
    instructions.push("Then carry the plan out, beginning with its first step.".to_owned());
    instructions
}

fn executing(material: &Material, step: &Step) -> Vec<String> {
    let verb = match step.marker {
        Marker::Current => "Go on with",
        Marker::Pending | Marker::Done | Marker::Blocked { .. } | Marker::Unknown { .. } => {
            "Begin with"
        }
    };
    vec![
        "Read the documents above and the parts of the repository that the plan touches."
            .to_owned(),
        format!(
            "{verb} step {} of the plan, `{}` line {}:\n\n   > {}\n",
            step.number.get(),
            material.path_of(Document::State),
            step.line.get(),
            quote::folded(&step.title, "   ")
        ),
        "Then take the next step, until all are done or all that remain are blocked.".to_owned(),
    ]
}

fn mending(material: &Material) -> Vec<String> {
    vec![
        format!(
            "Read `{}`. It has steps, but none that can be taken: it contradicts itself, or everything left is blocked or \
             done. `handoff validate` names the lines.",
            material.path_of(Document::State)
        ),
        "Say what is wrong with it and put it right, in the form below. Steps that are done stay done.".to_owned(),
        "Then carry the plan out.".to_owned(),
    ]
}

fn numbered(instructions: &[String]) -> String {
    let mut text = String::new();
    for (index, instruction) in instructions.iter().enumerate() {
        writeln!(text, "{}. {instruction}", index + 1).expect("a string takes everything");
    }
    text.trim_end().to_owned()
}
