//! A Markdown document as lines that keep every byte.
//!
//! It knows as much of Markdown as is needed to find a section and a list item without being fooled: fenced code,
//! HTML comments, headings, either line end, a byte order mark. It never normalises: what an edit does not
//! touch is copied from the text it came from. It knows nothing of plans and notes.

mod scan;
mod section;
mod splice;

use std::fmt;

pub use section::{Section, is_title};
pub(crate) use splice::{Splice, splice};

/// A line of a file, counted from one as editors do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineNumber(usize);

impl LineNumber {
    /// The line at this place of a list of lines.
    #[must_use]
    pub const fn at(index: usize) -> Self {
        Self(index + 1)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0
    }
}

impl fmt::Display for LineNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A document.
#[derive(Debug)]
pub struct Markdown<'text> {
    /// All of it.
    pub text: &'text str,
    /// Line by line. A last line without an ending is one; nothing after the last ending is none.
    pub lines: Vec<Line<'text>>,
    /// What was opened and not closed before the end.
    pub open: Option<Open>,
}

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'text> {
    /// Where it begins, in bytes; behind the byte order mark.
    pub start: usize,
    /// What it says, without its ending.
    pub text: &'text str,
    /// How it ends.
    pub ending: Ending,
    /// What it is.
    pub kind: Kind<'text>,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// As on Unix.
    Lf,
    /// As on Windows.
    CrLf,
    /// The file ends first.
    Missing,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'text> {
    /// Nothing but white space.
    Blank,
    /// A heading at the very beginning of its line.
    Heading(Heading<'text>),
    /// The first line of a list item.
    Item(Item),
    /// Fenced code, the fences included.
    Code(Part),
    /// A comment that stands on lines of its own.
    Comment(Part),
    /// Anything else.
    Text,
}

/// A heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading<'text> {
    /// From one to six.
    pub level: u8,
    /// Its text.
    pub title: &'text str,
}

/// The first line of a list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// The column of its marker.
    pub column: usize,
    /// The column of its content: what is indented as far belongs to it.
    pub inner_column: usize,
    /// Where its content begins, in bytes from the start of the line.
    pub content: usize,
}

/// Which part of a block a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The line that opens it.
    First,
    /// All others.
    Rest,
}

/// What was opened and not closed before the end of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// Fenced code, from this line.
    Fence(LineNumber),
    /// A comment, from this line.
    Comment(LineNumber),
}

impl<'text> Markdown<'text> {
    /// Reads a document; every text is one.
    #[must_use]
    pub fn parse(text: &'text str) -> Self {
        scan::document(text)
    }

    /// The line end that a new line gets: that of the first line, else the one of Unix.
    pub(crate) fn ending(&self) -> &'static str {
        match self.lines.first().map(|line| line.ending) {
            Some(Ending::CrLf) => "\r\n",
            Some(Ending::Lf | Ending::Missing) | None => "\n",
        }
    }
}

impl Line<'_> {
    /// How far it is indented, in columns; a tab goes to the next multiple of four.
    pub(crate) fn column(&self) -> usize {
        scan::column(self.text)
    }

    /// Where its text ends, in bytes; its ending follows.
    pub(crate) fn text_end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Where the next line begins.
    pub(crate) fn end(&self) -> usize {
        self.text_end() + self.ending.len()
    }
}

impl Ending {
    const fn len(self) -> usize {
        match self {
            Self::Lf => 1,
            Self::CrLf => 2,
            Self::Missing => 0,
        }
    }
}
