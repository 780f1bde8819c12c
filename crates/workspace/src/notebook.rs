//! The notes of a feature, in `SESSION.md`: what one session knew and the next one needs.
//!
//! Sections are known by our titles and by those of older tools. Reading takes what somebody wrote and leaves out what a
//! scaffold put there; writing appends an entry to its section and copies everything else byte for byte.

mod append;
mod passage;
mod read;
#[cfg(test)]
mod tests;
mod topic;

pub use append::{AppendError, Appended, append};
pub use passage::{Passage, PassageError};
pub use topic::Topic;

use crate::briefing::{Entry, Memory};
use crate::markdown::LineNumber;

/// Everything that somebody wrote down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notebook {
    /// In the order of the document.
    pub notes: Vec<Note>,
}

/// One thing that somebody wrote down: a list item, or a paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub topic: Topic,
    /// Where it begins.
    pub line: LineNumber,
    /// What it says, on one line.
    pub text: String,
}

impl Notebook {
    /// Reads the text of `SESSION.md`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        read::notebook(text)
    }

    /// What a session is told of it. Entries of the sections that only older tools have are told among the notes, with
    /// what they are.
    #[must_use]
    pub fn memory(&self, file: &str) -> Memory {
        let mut memory = Memory::default();
        for note in &self.notes {
            let (place, text) = match note.topic {
                Topic::Decisions => (&mut memory.decisions, note.text.clone()),
                Topic::DeadEnds => (&mut memory.dead_ends, note.text.clone()),
                Topic::Blockers => (&mut memory.blockers, note.text.clone()),
                Topic::InFlight => (&mut memory.in_flight, note.text.clone()),
                Topic::Next => (&mut memory.next, note.text.clone()),
                Topic::Files => (&mut memory.files, note.text.clone()),
                Topic::Questions => (&mut memory.questions, note.text.clone()),
                Topic::Notes => (&mut memory.notes, note.text.clone()),
                Topic::Done => (&mut memory.notes, format!("Done: {}", note.text)),
                Topic::Risks => (&mut memory.notes, format!("Risk: {}", note.text)),
            };
            place.push(Entry {
                text,
                source: format!("{file}:{}", note.line),
            });
        }
        memory
    }
}
