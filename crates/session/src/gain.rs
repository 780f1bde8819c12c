//! What an agent printed from a message to its next prompt, for agents that keep no record of their own.
//!
//! | it | is read |
//! |---|---|
//! | prints lines | by its lines, without the echo before and the prompt after |
//! | has a box where one types | above the box: what was not there before. What has scrolled away meanwhile is printed once more, with history |
//! | paints without a box | the whole screen: what was not there before |
//!
//! A program that paints over what it printed is never read by its lines: they would be all its pictures one after the other.

use std::collections::HashMap;

use handoff_agents::{InputBox, Sight};

use crate::plain_text::PlainText;
use crate::screen::{Picture, Screen};

/// How much of it is kept: the end, where an answer is.
const MOST: usize = 256 * 1024;
/// How many rows that have scrolled away are looked at.
const HISTORY: usize = 500;

/// What was printed since Enter.
#[derive(Default)]
pub struct Gain {
    collected: Option<Collected>,
}

struct Collected {
    /// The screen when Enter was pressed.
    before: Picture,
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

/// How a program is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner<'a> {
    /// By its lines, behind what a line editor draws.
    Editor,
    /// By its lines.
    Lines,
    /// Above the place where one types.
    Above(&'a InputBox),
    /// Everything on the screen.
    Screen,
}

impl Gain {
    /// Enter is pressed now.
    pub fn begin(&mut self, screen: &Screen, typed: &str) {
        self.collected = Some(Collected {
            before: screen.picture(),
            rows: screen.rows(),
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

    /// What it comes to.
    pub fn end(&mut self, screen: &Screen, manner: Manner<'_>) -> Gained {
        let Some(mut collected) = self.collected.take() else {
            return Gained::default();
        };
        collected.shorten();
        let typed = collected.typed.as_str();
        let text = match manner {
            Manner::Editor => printed_lines(after_editor(&collected.bytes), ""),
            Manner::Lines => printed_lines(&collected.bytes, last_line(typed)),
            Manner::Screen => without_echo(&new_rows(&collected.rows, &screen.rows()), typed),
            Manner::Above(input) => {
                let after = collected.played(screen);
                let before = above_box(&collected.rows, screen, input);
                let new = new_rows(before, above_box(&after, screen, input));
                without_echo(&new, typed)
            }
        };
        Gained {
            text,
            is_truncated: collected.is_truncated,
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

    /// The screen with what has scrolled away since Enter. On a screen of its own nothing scrolls away, and what was drawn for
    /// another size says nothing.
    fn played(&self, screen: &Screen) -> Vec<String> {
        let is_own = screen.is_alternate() || self.before.size != screen.size();
        if is_own || self.is_truncated {
            return screen.rows();
        }
        let mut again = Screen::with_history(self.before.size, HISTORY);
        again.print(&self.before.drawn);
        again.print(&self.bytes);
        again.rows_with_history()
    }
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

/// What stands above the box where one types; everything if there is none.
fn above_box<'a>(rows: &'a [String], screen: &Screen, input: &InputBox) -> &'a [String] {
    let sight = Sight::new(rows, usize::from(screen.size().columns), "");
    let top = sight.top_of_box(input);
    &rows[..top.unwrap_or(rows.len())]
}

/// The rows that were not there before, without rules.
fn new_rows<'a>(before: &[String], after: &'a [String]) -> Vec<&'a str> {
    let mut old: HashMap<&str, usize> = HashMap::new();
    for row in before.iter().map(|row| bare(row).trim()) {
        *old.entry(row).or_default() += usize::from(!row.is_empty());
    }
    let is_new = |row: &&str| match old.get_mut(row.trim()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        Some(_) | None => true,
    };
    let is_rule = |row: &str| !row.is_empty() && row.chars().all(|it| matches!(it, '─' | '━'));
    let rows = after.iter().map(|row| bare(row)).filter(is_new);
    rows.filter(|row| !is_rule(row.trim())).collect()
}

/// Without what programs draw at the right edge: frames, and bars to scroll by.
fn bare(row: &str) -> &str {
    row.trim_end_matches(|it: char| it.is_whitespace() || matches!(it, '│' | '┃' | '║' | '▐' | '█'))
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
    use handoff_agents::Agent;
    use handoff_process::Size;

    use super::*;

    const SIZE: Size = Size {
        rows: 8,
        columns: 40,
    };

    fn screen(text: &str) -> Screen {
        let mut screen = Screen::new(SIZE);
        screen.print(text.replace('\n', "\r\n").as_bytes());
        screen
    }

    fn input_box(agent: &str) -> InputBox {
        Agent::built_in(agent).unwrap().adapter.input_box.unwrap()
    }

    /// What is gained if a program prints this after Enter.
    fn gained(before: &str, typed: &str, printed: &str, manner: Manner<'_>) -> String {
        let mut terminal = screen(before);
        let mut gain = Gain::default();
        gain.begin(&terminal, typed);
        let printed = printed.replace('\n', "\r\n");
        gain.printed(printed.as_bytes());
        terminal.print(printed.as_bytes());
        gain.end(&terminal, manner).text
    }

    #[test]
    fn a_shell_is_read_without_its_echo_and_its_prompt() {
        for (printed, manner) in [
            ("\none\ntwo\n$ ", Manner::Lines),
            ("ls\none\ntwo\n$ ", Manner::Lines),
            (
                "ls\nls\n\x1b[?2004l\rone\ntwo\n\x1b[?2004h$ ",
                Manner::Editor,
            ),
        ] {
            assert_eq!(gained("", "ls", printed, manner), "one\ntwo", "{printed:?}");
        }
    }

    /// Paints a screen anew.
    fn painted(rows: &str) -> String {
        format!("\x1b[H\x1b[2J{rows}")
    }

    #[test]
    fn a_screen_is_read_above_its_box() {
        let before = "● Hi there\n──────────\n❯ hello\n──────────\n  footer";
        let after = "● Hi there\n❯ hello\n● You say hello\n\n  twice\n──────────\n❯\n──────────";
        let box_of_claude = input_box("claude");
        let manner = Manner::Above(&box_of_claude);
        let text = gained(before, "hello", &painted(after), manner);
        assert_eq!(text, "● You say hello\n\n  twice");
    }

    #[test]
    fn pictures_that_were_painted_over_are_not_part_of_an_answer() {
        let before = "──────────\n > hello\n cwd (/directory)";
        // Three rows up, and everything below is painted anew: the way of programs that paint where they stand.
        let up = "\x1b[2A\r\x1b[J";
        let first = format!("{up} > hello\n⠴ Thinking\n──────────\n >   Type\n cwd (/directory)");
        let up = "\x1b[3A\r\x1b[J";
        let second = format!("{up}✦ You say hello\n──────────\n >   Type\n cwd (/directory)");
        let box_of_gemini = input_box("gemini");
        let manner = Manner::Above(&box_of_gemini);
        let text = gained(before, "hello", &(first + &second), manner);
        assert_eq!(text, "✦ You say hello");
    }

    #[test]
    fn an_answer_that_has_scrolled_away_is_whole() {
        let before = "──────────\n> count";
        let lines: Vec<String> = (1..=30).map(|number| format!("line {number}")).collect();
        let printed = format!("\n{}\n──────────\n> ", lines.join("\n"));
        let box_of_aider = input_box("aider");
        let manner = Manner::Above(&box_of_aider);
        assert_eq!(gained(before, "count", &printed, manner), lines.join("\n"));
    }

    #[test]
    fn an_echo_of_several_lines_and_rows_is_left_out() {
        let long = "w".repeat(30) + " " + &"v".repeat(30);
        let typed = format!("one\n{long}");
        let (first, second) = ("w".repeat(30), "v".repeat(30));
        let after = format!("❯ one\n  {first}\n  {second}\n● done\n──────────\n❯");
        let box_of_claude = input_box("claude");
        let text = gained("", &typed, &after, Manner::Above(&box_of_claude));
        assert!(
            text.ends_with("● done") && !text.contains("one\n"),
            "{text}"
        );
    }

    #[test]
    fn without_a_beginning_there_is_nothing() {
        let mut gain = Gain::default();
        gain.printed(b"x\n");
        assert_eq!(gain.end(&screen(""), Manner::Lines), Gained::default());
    }

    #[test]
    fn of_a_long_answer_the_end_is_kept_and_that_is_said() {
        let mut gain = Gain::default();
        gain.begin(&screen(""), "seq 100000");
        for number in 1..=100_000 {
            gain.printed(format!("{number}\r\n").as_bytes());
        }
        let gained = gain.end(&screen(""), Manner::Lines);
        assert!(gained.is_truncated && gained.text.ends_with("\n99999\n100000"));
        assert!(gained.text.len() <= MOST && gained.text.len() > MOST / 2);
        let first: u32 = gained.text.lines().next().unwrap().parse().unwrap();
        assert_eq!(gained.text.lines().count(), (100_001 - first) as usize);
    }
}
