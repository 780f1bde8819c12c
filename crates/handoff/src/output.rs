//! The only place that prints. stdout is data, stderr is everything else.
//!
//! Text that came from outside (names, briefs, reasons) goes through [`plain()`] before it reaches a
//! terminal: no control character survives but newline and tab.

mod event_line;
mod harmless_json;
mod reader;
mod repair_line;
mod rest_line;
mod style;
mod table;
mod ticker;

use std::io::{self, Write};

use handoff_api::{Document, ErrorDocument};
use handoff_operations::Failure;
use serde::Serialize;

use crate::ambient::Invocation;

pub(crate) use event_line::event_line;
pub(crate) use handoff_core::visible::{one_line, plain};
use harmless_json::harmless_json;
pub(crate) use reader::end_with_reader;
pub(crate) use repair_line::{repair_document, repair_line};
pub(crate) use rest_line::{rest_lines, why_it_rests};
pub(crate) use style::{Palette, Tone};
pub(crate) use table::{Table, cut, wrap};
pub(crate) use ticker::Ticker;

/// Whether a person or a program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
}

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// What somebody said to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    Yes,
    No,
}

/// Where a command says things, and how.
pub(crate) struct Output {
    format: Format,
    palette: Palette,
    width: usize,
    /// How many lines a screen has, where there is one.
    height: Option<usize>,
    /// Whether text can be put anywhere on it.
    is_screen: bool,
    /// How many lines at the bottom of the screen are drawn over by whatever is said next.
    passing: usize,
    stdout: Box<dyn Write>,
    stderr: Box<dyn Write>,
}

/// What a table gets when nothing is known about the terminal.
const DEFAULT_WIDTH: usize = 100;

impl Output {
    pub(crate) fn new(invocation: &Invocation, format: Format) -> Self {
        let (ambient, terminal) = (&invocation.ambient, &invocation.terminal);
        let columns = ambient
            .text("COLUMNS")
            .and_then(|columns| columns.parse::<usize>().ok());
        let is_dumb = ambient.text("TERM") == Some("dumb");
        let wants_colour =
            terminal.is_terminal && !is_dumb && ambient.variable("NO_COLOR").is_none();
        Self {
            format,
            palette: if wants_colour {
                Palette::Colour
            } else {
                Palette::Plain
            },
            width: columns
                .or(terminal.width.map(usize::from))
                .unwrap_or(DEFAULT_WIDTH)
                .max(40),
            height: terminal.height.map(usize::from),
            is_screen: terminal.is_terminal && !is_dumb,
            passing: 0,
            stdout: Box::new(io::stdout()),
            stderr: Box::new(io::stderr()),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// One document, or one line of a stream of them.
    pub(crate) fn document(
        &mut self,
        schema: &'static str,
        body: impl Serialize,
    ) -> io::Result<()> {
        let mut line = harmless_json(&Document::new(schema, body))?;
        line.push(b'\n');
        self.stdout.write_all(&line)?;
        self.stdout.flush()
    }

    /// A note in the middle of something: where a line moves at the bottom of a terminal, that is written anew below it.
    pub(crate) fn interject(&mut self, text: &str) -> io::Result<()> {
        let start = if self.is_screen { "\r\x1b[K" } else { "" };
        writeln!(self.stderr, "{start}{}", plain(text))
    }

    /// A line of text for a person. Styles in it are ours; foreign text must have gone through [`plain()`].
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        self.draw_over()?;
        writeln!(self.stdout, "{}", text.as_ref())?;
        self.stdout.flush()
    }

    /// Says in a line that something goes on, and for how long, where a person sees it move.
    pub(crate) fn tick(&self, line: String) -> Ticker {
        if self.is_screen && self.format == Format::Text {
            Ticker::start(line)
        } else {
            Ticker::STILL
        }
    }

    /// A table that stands at the bottom of a screen until something else is said, and is nowhere else.
    pub(crate) fn passing_table(&mut self, table: &Table) -> io::Result<()> {
        if !self.is_screen() {
            return Ok(());
        }
        let text = table.render(self.width, self.palette);
        self.line(&text)?;
        self.passing = text.lines().count();
        Ok(())
    }

    /// Takes away what was said in passing.
    pub(crate) fn draw_over(&mut self) -> io::Result<()> {
        match std::mem::take(&mut self.passing) {
            0 => Ok(()),
            lines => self.raw(format!("\x1b[{lines}A\x1b[J").as_bytes()),
        }
    }

    /// A table for a person.
    pub(crate) fn table(&mut self, table: &Table) -> io::Result<()> {
        let text = table.render(self.width, self.palette);
        self.line(text)
    }

    /// What another of us has said to standard error already, as it is.
    pub(crate) fn raw_complaint(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stderr.write_all(bytes)
    }

    /// Bytes as they are, for what is meant for another program.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stdout.write_all(bytes)?;
        self.stdout.flush()
    }

    /// Something worth knowing that is not data.
    pub(crate) fn note(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        self.draw_over()?;
        writeln!(self.stderr, "{}", text.as_ref())
    }

    /// Asks something that can be answered with yes. Everything else is no, the end of input too.
    pub(crate) fn ask(&mut self, question: &str) -> io::Result<Reply> {
        let answer = self.inquire(&format!("{question} [y/N] "))?;
        let answer = answer.unwrap_or_default();
        let is_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
        Ok(if is_yes { Reply::Yes } else { Reply::No })
    }

    /// Asks something that is answered with a line; none at the end of input.
    pub(crate) fn inquire(&mut self, question: &str) -> io::Result<Option<String>> {
        write!(self.stderr, "{question}")?;
        self.stderr.flush()?;
        let mut answer = String::new();
        let length = io::stdin().read_line(&mut answer)?;
        Ok((length > 0).then_some(answer))
    }

    /// How many columns a line has.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// How many lines are seen at once, where that is known.
    pub(crate) const fn height(&self) -> Option<usize> {
        self.height
    }

    /// Whether a person looks at a screen that can be drawn anew.
    pub(crate) const fn is_screen(&self) -> bool {
        self.is_screen && matches!(self.format, Format::Text)
    }

    /// Begins the screen anew where there is one; elsewhere an empty line parts what was from what comes.
    pub(crate) fn next_screen(&mut self) -> io::Result<()> {
        match (self.format, self.is_screen) {
            (Format::Json, _) => Ok(()),
            // From the second line on, then the first: tmux keeps a screen that is cleared as a whole in its history, each time.
            (Format::Text, true) => self.raw(b"\x1b[2;1H\x1b[J\x1b[1;1H\x1b[K"),
            (Format::Text, false) => self.line(""),
        }
    }

    /// Tells the terminal itself something, on the stream that is one.
    pub(crate) fn terminal_request(&mut self, request: &str, stream: Stream) -> io::Result<()> {
        let writer = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        writer.write_all(request.as_bytes())?;
        writer.flush()
    }

    /// A word in a fixed meaning.
    pub(crate) fn styled(&self, tone: Tone, text: &str) -> String {
        self.palette.paint(tone, text)
    }

    /// Says what went wrong. Nobody can be told if that fails too.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        let said = match self.format {
            Format::Json => self.document(ErrorDocument::SCHEMA, failure.document()),
            Format::Text => self.failure_text(failure),
        };
        drop(said);
    }

    fn failure_text(&mut self, failure: &Failure) -> io::Result<()> {
        let heading = self.palette.paint(Tone::Bad, "error:");
        writeln!(self.stderr, "{heading} {}", plain(&failure.message))?;
        for cause in &failure.causes {
            writeln!(self.stderr, "  because {}", plain(cause))?;
        }
        for hint in &failure.hints {
            let heading = self.palette.paint(Tone::Hint, "hint:");
            writeln!(self.stderr, "{heading} {}", plain(hint))?;
        }
        Ok(())
    }
}
