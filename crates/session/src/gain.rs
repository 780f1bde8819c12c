//! What an agent printed from a message to its next prompt, for agents that keep no record of their own.

use std::collections::HashMap;

use handoff_agents::TextBox;

use crate::plain_text::PlainText;

/// How much of it is kept: the end, where an answer is.
const MOST: usize = 256 * 1024;

/// What was printed since Enter.
#[derive(Debug, Default)]
pub struct Gain {
    collected: Option<Collected>,
}

#[derive(Debug)]
struct Collected {
    /// The screen when Enter was pressed.
    rows: Vec<String>,
    bytes: Vec<u8>,
    /// What was typed, which is echoed.
    typed: String,
    /// The beginning was dropped.
    is_truncated: bool,
}

/// What was gained.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gained {
    pub text: String,
    /// There was more before it.
    pub is_truncated: bool,
}

impl Gain {
    /// Enter is pressed now.
    pub fn begin(&mut self, rows: Vec<String>, typed: &str) {
        self.collected = Some(Collected {
            rows,
            bytes: vec![],
            typed: typed.to_owned(),
            is_truncated: false,
        });
    }

    /// The agent printed.
    pub fn printed(&mut self, bytes: &[u8]) {
        if let Some(collected) = &mut self.collected {
            collected.take(bytes);
        }
    }

    /// What it comes to. A program that paints its screen is read from there, one that prints lines by its lines.
    pub fn end(&mut self, rows: &[String], painting: Painting, text_box: TextBox<'_>) -> Gained {
        let Some(mut collected) = self.collected.take() else {
            return Gained::default();
        };
        collected.shorten();
        let text = match (painting, text_box) {
            (Painting::Lines, TextBox::Editor) => printed_lines(after_editor(&collected.bytes), ""),
            (Painting::Lines, TextBox::CursorLine) => {
                printed_lines(&collected.bytes, last_line(&collected.typed))
            }
            (Painting::Screen, TextBox::CursorLine | TextBox::Editor) => {
                let new = new_rows(&collected.rows, rows);
                without_echo(&new, &collected.typed)
            }
            (_, TextBox::Marked(mark)) => {
                let before = above_box(&collected.rows, mark);
                let new = new_rows(before, above_box(rows, mark));
                without_echo(&new, &collected.typed)
            }
        };
        Gained {
            text,
            is_truncated: collected.is_truncated && painting == Painting::Lines,
        }
    }
}

impl Collected {
    /// Keeps the end, and whole lines of it. Twice as much is let come together first, so that little is moved.
    fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * MOST {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        let too_much = self.bytes.len().saturating_sub(MOST);
        if too_much == 0 {
            return;
        }
        let line_end = self.bytes[too_much..].iter().position(|it| *it == b'\n');
        self.bytes
            .drain(..too_much + line_end.map_or(0, |at| at + 1));
        self.is_truncated = true;
    }
}

/// How a program shows things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Painting {
    Lines,
    /// On a screen of its own.
    Screen,
}

/// What a line editor draws ends where it stops reading.
fn after_editor(bytes: &[u8]) -> &[u8] {
    const STOP: &[u8] = b"\x1b[?2004l";
    let at = bytes.windows(STOP.len()).position(|it| it == STOP);
    at.map_or(bytes, |at| &bytes[at + STOP.len()..])
}

/// Without the echo before and the prompt after.
fn printed_lines(bytes: &[u8], tail: &str) -> String {
    let mut text = PlainText::default();
    let lines = text.push(bytes);
    // The first line is the rest of the one that the message stood in.
    let is_echo = |line: &String| line.is_empty() || (!tail.is_empty() && line.ends_with(tail));
    let after = usize::from(lines.first().is_some_and(is_echo));
    lines[after..].join("\n").trim_end().to_owned()
}

/// What stands above the box where one types.
fn above_box<'a>(rows: &'a [String], mark: &str) -> &'a [String] {
    let at = rows.iter().rposition(|row| row.starts_with(mark));
    &rows[..at.unwrap_or(rows.len())]
}

/// The rows that were not there before, without rules.
fn new_rows<'a>(before: &[String], after: &'a [String]) -> Vec<&'a str> {
    let mut old: HashMap<&str, usize> = HashMap::new();
    for row in before.iter().filter(|row| !row.trim().is_empty()) {
        *old.entry(row.trim()).or_default() += 1;
    }
    let is_new = |row: &&str| match old.get_mut(row.trim()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        Some(_) | None => true,
    };
    let is_rule = |row: &str| !row.is_empty() && row.chars().all(|it| matches!(it, '─' | '━'));
    let rows = after.iter().map(String::as_str).filter(is_new);
    rows.filter(|row| !is_rule(row.trim())).collect()
}

/// Without the message itself, which agents show above what they answer.
fn without_echo(rows: &[&str], typed: &str) -> String {
    let mut rest = rows;
    for line in typed.lines().map(str::trim).filter(|line| !line.is_empty()) {
        // A long line is broken into several rows; its beginning finds the first.
        let beginning: String = line.chars().take(40).collect();
        let at = rest.iter().position(|row| row.contains(&beginning));
        rest = at.map_or(rest, |at| &rest[at + 1..]);
    }
    let tail = last_line(typed);
    while let Some((first, more)) = rest.split_first()
        && !first.trim().is_empty()
        && tail.contains(first.trim())
    {
        rest = more;
    }
    let text = rest.join("\n");
    text.trim_matches('\n').trim_end().to_owned()
}

fn last_line(text: &str) -> &str {
    text.lines().next_back().unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_shell_is_read_without_its_echo_and_its_prompt() {
        for (printed, text_box) in [
            ("\r\none\r\ntwo\r\n$ ", TextBox::CursorLine),
            ("ls\r\none\r\ntwo\r\n$ ", TextBox::CursorLine),
            (
                "ls\r\nls\r\n\x1b[?2004l\rone\r\ntwo\r\n\x1b[?2004h$ ",
                TextBox::Editor,
            ),
        ] {
            let mut gain = Gain::default();
            gain.begin(vec![], "ls");
            gain.printed(printed.as_bytes());
            let text = gain.end(&[], Painting::Lines, text_box);
            assert_eq!(text.text, "one\ntwo", "{printed:?}");
        }
    }

    #[test]
    fn a_screen_is_read_above_its_box() {
        let mut gain = Gain::default();
        let before = "Title\n\n● Hi there\n────\n❯ hello\n────\n  footer";
        gain.begin(rows(before), "hello");
        let after = rows(
            "Title\n\n● Hi there\n\n❯ hello\n\n● You say hello\n\n  twice\n────\n❯\n────\n  new footer",
        );
        let text = gain.end(&after, Painting::Screen, TextBox::Marked("❯"));
        assert_eq!(text.text, "● You say hello\n\n  twice");
    }

    #[test]
    fn an_echo_of_several_lines_and_rows_is_left_out() {
        let long = "w".repeat(30) + " " + &"v".repeat(30);
        let typed = format!("one\n{long}");
        let mut gain = Gain::default();
        gain.begin(vec![], &typed);
        let after = format!(
            "❯ one\n  {}\n  {}\n● done\n❯",
            "w".repeat(30),
            "v".repeat(30)
        );
        let text = gain
            .end(&rows(&after), Painting::Screen, TextBox::Marked("❯"))
            .text;
        assert!(
            text.ends_with("● done") && !text.contains("one\n"),
            "{text}"
        );
    }

    #[test]
    fn without_a_beginning_there_is_nothing() {
        let mut gain = Gain::default();
        gain.printed(b"x\n");
        let gained = gain.end(&[], Painting::Lines, TextBox::CursorLine);
        assert_eq!(gained, Gained::default());
    }

    #[test]
    fn of_a_long_answer_the_end_is_kept_and_that_is_said() {
        let mut gain = Gain::default();
        gain.begin(vec![], "seq 100000");
        for number in 1..=100_000 {
            gain.printed(format!("{number}\r\n").as_bytes());
        }
        let gained = gain.end(&[], Painting::Lines, TextBox::CursorLine);
        assert!(gained.is_truncated && gained.text.ends_with("\n99999\n100000"));
        assert!(gained.text.len() <= MOST && gained.text.len() > MOST / 2);
        let first: u32 = gained.text.lines().next().unwrap().parse().unwrap();
        assert_eq!(gained.text.lines().count(), (100_001 - first) as usize);
    }
}
