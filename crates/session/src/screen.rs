//! What the agent's terminal shows. The holder is that terminal: it answers what a program asks a terminal, and nobody who
//! looks on ever does.
//!
//! Lines that scroll away are not kept: history is in the transcript. The emulator is `vt100`; see
//! `docs/design/0008-sessions.md` for why.

mod field;
mod flood;
mod menu;
mod readings;

use std::num::NonZeroU16;

use handoff_agents::Sight;
use handoff_process::Size;

use crate::delivery::Field;
use crate::status_report::StatusReport;

use flood::Margins;
pub use menu::Menu;
use readings::Readings;

/// The longest title that is kept.
const LONGEST_TITLE: usize = 256;

/// What the agent's terminal shows.
pub struct Screen {
    parser: vt100::Parser<Answers>,
    readings: Readings,
    margins: Margins,
    /// Whether rows that scroll away are kept.
    has_history: bool,
}

/// A screen as it was, to be drawn again.
pub struct Picture {
    pub size: Size,
    pub drawn: Vec<u8>,
}

/// A copy of a screen, to tell later what changed.
pub struct Frame(vt100::Screen);

/// What came out of the output of a program besides what is on the screen.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Aside {
    /// What the terminal answers.
    pub replies: Vec<u8>,
    /// What the program says that it does.
    pub reports: Vec<StatusReport>,
}

impl Screen {
    pub fn new(size: Size) -> Self {
        Self::with_history(size, 0)
    }

    /// One that keeps so many rows that scroll away.
    pub fn with_history(size: Size, kept: usize) -> Self {
        let (rows, columns) = dimensions(size);
        Self {
            parser: vt100::Parser::new_with_callbacks(rows, columns, kept, Answers::default()),
            readings: Readings::default(),
            margins: Margins::default(),
            has_history: kept > 0,
        }
    }

    pub fn size(&self) -> Size {
        let (rows, columns) = self.parser.screen().size();
        Size {
            rows: rows.get(),
            columns: columns.get(),
        }
    }

    /// Takes what the program printed.
    pub fn print(&mut self, bytes: &[u8]) -> Aside {
        self.readings.hear(bytes);
        self.margins.hear(bytes);
        let rows = usize::from(self.size().rows);
        let gone = flood::unseen(bytes, rows).filter(|_| !self.margins.are_set());
        match gone.filter(|_| !self.has_history) {
            None => self.parser.process(bytes),
            Some(gone) => {
                let (before, rest) = bytes.split_at(gone.start);
                let (first, rest) = rest.split_at(1);
                self.parser.process(before);
                let at = self.cursor();
                self.parser.process(first);
                // A character that does not move the cursor is part of something else, which may go on behind the line.
                let is_text = self.cursor() != at;
                self.parser
                    .process(if is_text { &bytes[gone.end..] } else { rest });
            }
        }
        std::mem::take(&mut self.parser.callbacks_mut().aside)
    }

    pub fn resize(&mut self, size: Size) {
        let (rows, columns) = dimensions(size);
        self.parser.screen_mut().set_size(rows, columns);
    }

    pub fn title(&self) -> &str {
        &self.parser.callbacks().title
    }

    pub fn is_paste_bracketed(&self) -> bool {
        self.parser.screen().bracketed_paste()
    }

    pub fn is_alternate(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// Row and column, counted from zero.
    pub fn cursor(&self) -> (u16, u16) {
        self.parser.screen().cursor_position()
    }

    /// What stands left of the cursor.
    pub fn cursor_line(&self) -> String {
        let (row, column) = self.cursor();
        let screen = self.parser.screen();
        screen.contents_between(row, 0, row, column)
    }

    /// How often bracketed paste was switched off: how often a line editor has stopped reading.
    pub const fn readings_ended(&self) -> u64 {
        self.readings.ended()
    }

    /// What stands in the box behind the last row that begins with `mark`.
    pub fn field(&self, mark: &str) -> Field {
        field::field(self.parser.screen(), mark)
    }

    /// Choices beside each other at the bottom.
    pub fn menu(&self) -> Option<Menu> {
        menu::menu(self.parser.screen())
    }

    /// What an adapter reads.
    pub fn sight(&self) -> Sight {
        let (_, columns) = self.parser.screen().size();
        Sight::new(&self.rows(), columns.get().into(), &self.cursor_line())
    }

    /// The rows as text, without blanks at their ends.
    pub fn rows(&self) -> Vec<String> {
        let screen = self.parser.screen();
        let (_, columns) = screen.size();
        let rows = screen.rows(0, columns.get());
        let trimmed = |mut row: String| {
            row.truncate(row.trim_end().len());
            row
        };
        rows.map(trimmed).collect()
    }

    /// What has scrolled away as far as it is kept, and the rows.
    pub fn rows_with_history(mut self) -> Vec<String> {
        let screen = self.parser.screen_mut();
        let (_, columns) = screen.size();
        let mut rows = vec![];
        for back in (1..=screen.scrollback_len()).rev() {
            screen.set_scrollback(back);
            rows.extend(screen.rows(0, columns.get()).next());
        }
        screen.set_scrollback(0);
        rows.extend(self.rows());
        for row in &mut rows {
            row.truncate(row.trim_end().len());
        }
        rows
    }

    /// How it is now, to be drawn again.
    pub fn picture(&self) -> Picture {
        Picture {
            size: self.size(),
            drawn: self.drawn(),
        }
    }

    /// The rows with their colours.
    pub fn rows_formatted(&self) -> Vec<String> {
        self.rows_formatted_within(self.size().columns)
    }

    /// As much of that as so many columns show.
    pub fn rows_formatted_within(&self, columns: u16) -> Vec<String> {
        let screen = self.parser.screen();
        screen.rows_formatted(0, columns).collect()
    }

    /// How it is now.
    pub fn frame(&self) -> Frame {
        Frame(self.parser.screen().clone())
    }

    /// What draws it on an empty terminal.
    pub fn drawn(&self) -> Vec<u8> {
        self.parser.screen().state_formatted().into()
    }

    /// What turns a terminal that shows an earlier frame into this one.
    pub fn drawn_after(&self, frame: &Frame) -> Vec<u8> {
        self.parser.screen().state_diff(&frame.0).into()
    }
}

fn dimensions(size: Size) -> (NonZeroU16, NonZeroU16) {
    let at_least_one = |number| NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN);
    (at_least_one(size.rows), at_least_one(size.columns))
}

/// What the emulator does not do itself.
#[derive(Debug, Default)]
struct Answers {
    aside: Aside,
    title: String,
}

impl Answers {
    fn reply(&mut self, text: &str) {
        self.aside.replies.extend_from_slice(text.as_bytes());
    }

    fn retitle(&mut self, title: &[u8]) {
        let title = String::from_utf8_lossy(title);
        self.title = title
            .chars()
            .filter(|it| !it.is_control())
            .take(LONGEST_TITLE)
            .collect();
    }

    /// The colours of a dark terminal, for programs that adapt to it.
    fn colour(&mut self, number: &str) {
        let colour = if number == "11" {
            "1010/1010/1010"
        } else {
            "d0d0/d0d0/d0d0"
        };
        self.reply(&format!("\x1b]{number};rgb:{colour}\x1b\\"));
    }
}

impl vt100::Callbacks for Answers {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.retitle(title);
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        second: Option<u8>,
        parameters: &[&[u16]],
        last: char,
    ) {
        let number = parameters.first().and_then(|it| it.first()).copied();
        let (row, column) = screen.cursor_position();
        let (row, column) = (row + 1, column + 1);
        match (first, second, last, number.unwrap_or(0)) {
            (None, None, 'c', 0) => self.reply("\x1b[?62;22c"),
            (Some(b'>'), None, 'c', 0) => self.reply("\x1b[>1;10;0c"),
            (Some(b'>'), None, 'q', 0) => self.reply("\x1bP>|handoff 1\x1b\\"),
            (None, None, 'n', 5) => self.reply("\x1b[0n"),
            (None, None, 'n', 6) => self.reply(&format!("\x1b[{row};{column}R")),
            (Some(b'?'), None, 'n', 6) => self.reply(&format!("\x1b[?{row};{column}R")),
            (None, None, 't', 18) => {
                let (rows, columns) = screen.size();
                self.reply(&format!("\x1b[8;{rows};{columns}t"));
            }
            (Some(b'?'), Some(b'$'), 'p', mode) => {
                let setting = match (mode, screen.bracketed_paste()) {
                    (2004, true) => 1,
                    (2004, false) => 2,
                    _ => 0,
                };
                self.reply(&format!("\x1b[?{mode};{setting}$y"));
            }
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, parameters: &[&[u8]]) {
        match parameters {
            [b"7501", b"?"] => self.reply("\x1b]7501;?\x1b\\"),
            [b"7501", text] => {
                let report = str::from_utf8(text).ok().and_then(StatusReport::parse);
                self.aside.reports.extend(report);
            }
            [b"10", b"?"] => self.colour("10"),
            [b"11", b"?"] => self.colour("11"),
            [b"12", b"?"] => self.colour("12"),
            // A title with semicolons arrives in pieces.
            [b"0" | b"2", title @ ..] => self.retitle(&title.join(&b';')),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use handoff_agents::Hint;

    use super::*;

    const SIZE: Size = Size {
        rows: 3,
        columns: 10,
    };

    fn printed(text: &str) -> (Screen, Aside) {
        let mut screen = Screen::new(SIZE);
        let aside = screen.print(text.as_bytes());
        (screen, aside)
    }

    #[track_caller]
    fn assert_reply(query: &str, reply: &str) {
        let (_, aside) = printed(query);
        assert_eq!(
            String::from_utf8(aside.replies).unwrap(),
            reply,
            "{query:?}"
        );
    }

    #[test]
    fn a_terminal_answers_what_programs_ask() {
        assert_reply("\x1b[c", "\x1b[?62;22c");
        assert_reply("\x1b[0c", "\x1b[?62;22c");
        assert_reply("\x1b[>c", "\x1b[>1;10;0c");
        assert_reply("\x1b[5n", "\x1b[0n");
        assert_reply("ab\r\nc\x1b[6n", "\x1b[2;2R");
        assert_reply("\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y");
        assert_reply("\x1b[?2026$p", "\x1b[?2026;0$y");
        assert_reply("\x1b[18t", "\x1b[8;3;10t");
        assert_reply("\x1b]11;?\x07", "\x1b]11;rgb:1010/1010/1010\x1b\\");
        assert_reply("\x1b]7501;?\x1b\\\x1b[c", "\x1b]7501;?\x1b\\\x1b[?62;22c");
        assert_reply("\x1b[?u \x1b]52;c;?\x07 \x1b_Gi=31\x1b\\", "");
    }

    #[test]
    fn a_status_is_heard_also_when_it_comes_in_pieces() {
        let mut screen = Screen::new(SIZE);
        assert_eq!(screen.print(b"\x1b]7501;state=wor"), Aside::default());
        let aside = screen.print(b"king\x07");
        assert_eq!(aside.reports, [StatusReport::Is(Hint::Busy)]);
    }

    #[test]
    fn the_screen_is_what_a_person_would_see() {
        let (screen, _) = printed("one\r\ntwo\r\nthree\r\nüb漢\x1b]0;a;b\x07\x1b[?2004h> ");
        assert_eq!(screen.rows(), ["two", "three", "üb漢>"]);
        assert_eq!(screen.cursor_line(), "üb漢> ");
        assert_eq!((screen.title(), screen.cursor()), ("a;b", (2, 6)));
        assert!(screen.is_paste_bracketed() && !screen.is_alternate());
    }

    #[test]
    fn an_alternate_screen_hides_the_other_one() {
        let (mut screen, _) = printed("main\x1b[?1049h\x1b[Hother");
        assert_eq!(screen.rows()[0], "other");
        screen.print(b"\x1b[?1049l");
        assert_eq!(screen.rows()[0], "main");
    }

    #[test]
    fn a_viewer_that_follows_sees_the_same() {
        let mut screen = Screen::new(SIZE);
        screen.print(b"\x1b[31mred");
        let mut viewer = Screen::new(SIZE);
        viewer.print(&screen.drawn());
        let before = screen.frame();
        screen.print("\r\n\x1b[?1049h\x1b[2;3H漢x\x1b[c".as_bytes());
        let aside = viewer.print(&screen.drawn_after(&before));
        assert_eq!(viewer.rows(), screen.rows());
        assert_eq!(viewer.cursor(), screen.cursor());
        assert_eq!(aside, Aside::default(), "a question reached the viewer");
    }
}
