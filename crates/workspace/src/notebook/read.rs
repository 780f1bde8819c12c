//! Reading the notes.

use super::{Note, Notebook, Topic};
use crate::markdown::{Heading, Kind, Line, LineNumber, Markdown, is_title};

/// What scaffolds say where nothing was written yet, in lower case.
const SCAFFOLD: [&str; 8] = [
    "none",
    "none yet",
    "nothing",
    "nothing yet",
    "not defined",
    "not started",
    "unknown",
    "n/a",
];

/// The title of the whole document, ours and that of older tools.
const WHOLE: [&str; 2] = ["Session", "Session Summary"];

pub(super) fn notebook(text: &str) -> Notebook {
    let document = Markdown::parse(text);
    let mut reader = Reader {
        notes: vec![],
        section: None,
        column: None,
    };
    for (index, line) in document.lines.iter().enumerate() {
        reader.line(LineNumber::at(index), line);
    }
    let mut notes = reader.notes;
    notes.retain(|note| !is_scaffold(&note.text));
    Notebook { notes }
}

struct Reader {
    notes: Vec<Note>,
    /// The topic of the section, and the level of its heading.
    section: Option<(Topic, u8)>,
    /// The column of the last entry, while lines may still belong to it.
    column: Option<usize>,
}

impl Reader {
    fn line(&mut self, number: LineNumber, line: &Line<'_>) {
        match line.kind {
            Kind::Heading(heading) => self.heading(heading),
            Kind::Comment(_) => {}
            // What is indented behind a blank line still belongs to a list item.
            Kind::Blank => self.column = self.column.filter(|column| *column > 0),
            Kind::Item(item) if self.column.is_none_or(|it| item.column < it.max(1)) => {
                self.begin(number, &line.text[item.content..]);
                self.column = Some(item.inner_column);
            }
            Kind::Text if self.column.is_some_and(|it| line.column() < it) => {
                self.begin(number, line.text);
            }
            Kind::Item(_) | Kind::Text | Kind::Code(_) => match self.column {
                Some(_) => self.go_on(line.text),
                None => self.begin(number, line.text),
            },
        }
    }

    /// A section of somebody's own is worth as much as a note.
    fn heading(&mut self, heading: Heading<'_>) {
        self.column = None;
        let is_inner = self.section.is_some_and(|(_, level)| heading.level > level);
        let is_whole = WHOLE.iter().any(|title| is_title(heading.title, title));
        match Topic::of(heading.title) {
            Some(topic) => self.section = Some((topic, heading.level)),
            None if is_inner => {}
            None if is_whole => self.section = None,
            None => self.section = Some((Topic::Notes, heading.level)),
        }
    }

    fn begin(&mut self, line: LineNumber, text: &str) {
        self.column = Some(0);
        if let Some((topic, _)) = self.section {
            let text = text.trim().to_owned();
            self.notes.push(Note { topic, line, text });
        }
    }

    fn go_on(&mut self, text: &str) {
        if let Some(note) = self.notes.last_mut().filter(|_| self.section.is_some()) {
            note.text.push(' ');
            note.text.push_str(text.trim());
        }
    }
}

/// Whether a line says only that there is nothing to say.
pub(super) fn is_scaffold(text: &str) -> bool {
    let is_decoration = |c: char| matches!(c, '.' | '-' | '*' | '_' | '(' | ')');
    let text = text.trim().trim_matches(is_decoration).to_lowercase();
    text.is_empty() || SCAFFOLD.contains(&text.as_str())
}
