//! Writing an entry into the notes.

use super::read::is_scaffold;
use super::{Passage, Topic};
use crate::markdown::{Kind, Line, Markdown, Section, Splice, splice};
use crate::plan::{Problem, damage};

/// The notes with an entry in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// All of the document.
    pub text: String,
    /// The title of the section that has it.
    pub section: String,
    /// Whether the entry was there already.
    pub is_repeat: bool,
}

/// An entry that was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// It cannot be told where sections begin and end.
    #[error("the notes cannot be edited: {0}")]
    Structure(Problem),
}

/// Puts an entry at the end of its section, which is made if it is not there. One that is there already stays alone:
/// a command that is repeated must not say things twice.
pub fn append(text: &str, topic: Topic, entry: &Passage) -> Result<Appended, AppendError> {
    if let Some(problem) = damage(text).into_iter().next() {
        return Err(AppendError::Structure(problem));
    }
    let document = Markdown::parse(text);
    let item = entry.to_item();
    let Some(section) = section(&document, topic) else {
        return Ok(Appended {
            text: splice(text, vec![new_section(&document, topic, &item)]),
            section: topic.title().to_owned(),
            is_repeat: false,
        });
    };
    let own = own_lines(&document, section);
    let is_repeat = own
        .windows(item.len())
        .any(|lines| lines.iter().map(|line| line.text.trim_end()).eq(&item));
    let splices = if is_repeat {
        vec![]
    } else {
        vec![new_entry(&document, section, own, &item)]
    };
    Ok(Appended {
        text: splice(text, splices),
        section: title(&document, section),
        is_repeat,
    })
}

fn section(document: &Markdown<'_>, topic: Topic) -> Option<Section> {
    let mut titles = topic.titles().iter();
    titles.find_map(|title| document.sections(title).next())
}

fn title(document: &Markdown<'_>, section: Section) -> String {
    match document.lines[section.heading].kind {
        Kind::Heading(heading) => heading.title.to_owned(),
        Kind::Blank | Kind::Item(_) | Kind::Code(_) | Kind::Comment(_) | Kind::Text => {
            String::new()
        }
    }
}

/// The lines of a section before the first heading in it.
fn own_lines<'doc, 'text>(
    document: &'doc Markdown<'text>,
    section: Section,
) -> &'doc [Line<'text>] {
    let body = &document.lines[section.body()];
    let is_heading = |line: &Line<'_>| matches!(line.kind, Kind::Heading(_));
    let end = body.iter().position(is_heading).unwrap_or(body.len());
    &body[..end]
}

fn new_entry(
    document: &Markdown<'_>,
    section: Section,
    own: &[Line<'_>],
    item: &[String],
) -> Splice {
    let ending = document.ending();
    let entry = item.join(ending);
    let mut written = own.iter().filter(|line| line.kind != Kind::Blank);
    let first = written.next();
    let last = written.next_back().or(first);
    match (first, last) {
        (Some(only), Some(last)) if only == last && is_placeholder(only) => Splice {
            range: only.start..only.text_end(),
            text: entry,
        },
        (_, Some(last)) if is_in_list(own, last) => Splice::line_behind(last, &entry, ending),
        (_, Some(last)) => Splice::line_behind(last, &format!("{ending}{entry}"), ending),
        (_, None) => {
            let heading = &document.lines[section.heading];
            let is_last = own.is_empty() && section.heading + 1 < document.lines.len();
            let gap = if is_last { ending } else { "" };
            Splice::line_behind(heading, &format!("{ending}{entry}{gap}"), ending)
        }
    }
}

fn is_placeholder(line: &Line<'_>) -> bool {
    match line.kind {
        Kind::Text | Kind::Item(_) => is_scaffold(line.text),
        Kind::Blank | Kind::Heading(_) | Kind::Code(_) | Kind::Comment(_) => false,
    }
}

/// Whether a line is part of a list, so that another item can follow it at once.
fn is_in_list(own: &[Line<'_>], last: &Line<'_>) -> bool {
    let before = own.iter().take_while(|line| line.start <= last.start);
    let is_item = |line: &&Line<'_>| matches!(line.kind, Kind::Item(_));
    let at_margin = |line: &&Line<'_>| line.kind != Kind::Blank && line.column() == 0;
    before
        .into_iter()
        .filter(at_margin)
        .last()
        .as_ref()
        .is_some_and(is_item)
}

/// A new section at the end, as deep as the others.
fn new_section(document: &Markdown<'_>, topic: Topic, item: &[String]) -> Splice {
    let ending = document.ending();
    let marks = "#".repeat(level(document).into());
    let title = topic.title();
    let section = format!("{marks} {title}{ending}{ending}{}", item.join(ending));
    let Some(last) = document.lines.last() else {
        return Splice {
            range: document.text.len()..document.text.len(),
            text: format!("{section}{ending}"),
        };
    };
    match last.kind {
        Kind::Blank => Splice::line_behind(last, &section, ending),
        Kind::Heading(_) | Kind::Item(_) | Kind::Code(_) | Kind::Comment(_) | Kind::Text => {
            Splice::line_behind(last, &format!("{ending}{section}"), ending)
        }
    }
}

fn level(document: &Markdown<'_>) -> u8 {
    let known = document.lines.iter().filter_map(|line| match line.kind {
        Kind::Heading(heading) if Topic::of(heading.title).is_some() => Some(heading.level),
        Kind::Heading(_)
        | Kind::Blank
        | Kind::Item(_)
        | Kind::Code(_)
        | Kind::Comment(_)
        | Kind::Text => None,
    });
    known.min().unwrap_or(1).min(3)
}
