//! A terminal as a person looks at it: where one types, what stands below and above, and whether something is asked.
//!
//! Only what is at the bottom counts. Whatever an agent quotes, a dialog or another agent's footer, stands above the place where
//! one types, and is never taken for the agent's own.

use super::pattern::Pattern;

/// The rows that are looked at for a dialog.
const TAIL: usize = 24;
/// A footer may be broken into this many rows on a narrow terminal.
const FOOT: usize = 3;
/// What may stand between a rule and the row where one types: files in the chat, a mode.
const BETWEEN: usize = 3;
/// Hints below the choices of a dialog.
const HINTS: usize = 6;
/// What stands above the choices of a dialog and belongs to it.
const QUESTION: usize = 16;
/// The description of a choice, before the next one: a command with its paths takes many rows of a narrow terminal.
const DESCRIPTION: usize = 10;

/// What a terminal shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sight {
    rows: Vec<Row>,
    /// What stands left of the cursor, blanks at its end left out.
    cursor_line: String,
}

/// A row with text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// Without frames and blanks around it.
    text: String,
    /// The number of the row on the terminal, from zero.
    at: usize,
    indent: usize,
    /// It goes to the right edge, so the next one may be its continuation.
    is_full: bool,
}

/// Where one types.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputBox {
    /// How its first row looks; messages that were sent may look the same.
    pub begins: Vec<Pattern>,
    #[serde(default)]
    pub edge: Edge,
}

/// What stands above the row where one types.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// A line across the terminal.
    Rule,
    #[default]
    Nothing,
}

/// The parts of what is shown, for the rules of an adapter.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) tail: &'a [Row],
    /// The last rows as one text, because a narrow terminal breaks them anywhere.
    pub(super) foot: String,
    pub(super) cursor_line: &'a str,
    pub(super) typing: Option<Typing<'a>>,
    pub(super) dialog: Option<&'a [Row]>,
}

/// The row where one types, and what is around it.
#[derive(Debug)]
pub(super) struct Typing<'a> {
    pub(super) row: &'a Row,
    pub(super) below: &'a [Row],
    /// What was printed since the last message above.
    pub(super) turn: &'a [Row],
}

impl Sight {
    /// `rows` are the rows of a terminal with this many columns.
    pub fn new(rows: &[String], columns: usize, cursor_line: &str) -> Self {
        Self {
            rows: rows
                .iter()
                .enumerate()
                .filter_map(|(at, row)| Row::new(at, row, columns))
                .collect(),
            cursor_line: cursor_line.trim_end().to_owned(),
        }
    }

    /// The number of the row with which the place begins where one types, from zero: the line above it, if there is one.
    pub fn top_of_box(&self, input: &InputBox) -> Option<usize> {
        let at = place_of_box(&self.rows, input)?;
        let above = self.rows[..at].iter().rev().take(BETWEEN);
        let rule = above.clone().find(|row| row.is_rule());
        Some(rule.unwrap_or(&self.rows[at]).at)
    }

    pub(super) fn parts(&self, input: Option<&InputBox>) -> Parts<'_> {
        let rows = self.rows.as_slice();
        let typing = input.and_then(|input| typing(rows, input));
        // What is being typed is no footer, whatever it says.
        let foot = typing.as_ref().map_or(rows, |typing| typing.below);
        let words: Vec<&str> = last(foot, FOOT)
            .iter()
            .map(|row| row.text.as_str())
            .collect();
        Parts {
            tail: last(rows, TAIL),
            foot: words.join(" "),
            cursor_line: &self.cursor_line,
            dialog: dialog(rows, input),
            typing,
        }
    }
}

impl Row {
    fn new(at: usize, row: &str, columns: usize) -> Option<Self> {
        let is_frame = |it: char| it.is_whitespace() || matches!(it, '│' | '┃' | '║' | '▎' | '┆');
        let bare = row.trim_start_matches(is_frame);
        let text = bare.trim_end_matches(is_frame).to_owned();
        let indent = row.chars().count() - bare.chars().count();
        let is_full = row.trim_end().chars().count() + 1 >= columns;
        (!text.is_empty()).then_some(Self {
            text,
            at,
            indent,
            is_full,
        })
    }

    pub(super) fn fits(&self, pattern: &Pattern) -> bool {
        pattern.fits(&self.text, self.indent)
    }

    /// A line across the terminal, perhaps with a word in it.
    fn is_rule(&self) -> bool {
        let is_line = |it: char| matches!(it, '─' | '━' | '═' | '▀' | '▄' | '╌' | '▔' | '▁');
        let count = self.text.chars().filter(|it| is_line(*it)).count();
        count >= 8 && self.text.starts_with(is_line) && self.text.ends_with(is_line)
    }
}

fn last(rows: &[Row], count: usize) -> &[Row] {
    &rows[rows.len().saturating_sub(count)..]
}

fn begins(row: &Row, input: &InputBox) -> bool {
    input.begins.iter().any(|pattern| row.fits(pattern))
}

fn place_of_box(rows: &[Row], input: &InputBox) -> Option<usize> {
    let is_below_edge = |at: usize| match input.edge {
        Edge::Nothing => true,
        Edge::Rule => rows[..at].iter().rev().take(BETWEEN).any(Row::is_rule),
    };
    (0..rows.len())
        .rev()
        .find(|at| begins(&rows[*at], input) && is_below_edge(*at))
}

fn typing<'a>(rows: &'a [Row], input: &InputBox) -> Option<Typing<'a>> {
    let at = place_of_box(rows, input)?;
    let end = end_of_box(rows, at);
    let sent = rows[..at].iter().rposition(|row| begins(row, input));
    Some(Typing {
        row: &rows[at],
        below: &rows[end..],
        turn: &rows[sent.map_or(0, |sent| sent + 1)..at],
    })
}

/// Behind the rule that closes the box; without one, behind the rows that were broken at the right edge.
fn end_of_box(rows: &[Row], at: usize) -> usize {
    let rest = &rows[at + 1..];
    if let Some(rule) = rest.iter().position(Row::is_rule) {
        return at + 1 + rule + 1;
    }
    let broken = rows[at..].iter().take_while(|row| row.is_full).count();
    (at + 1 + broken).min(rows.len())
}

/// A list of numbered choices, one of them marked, with nothing below but hints.
fn dialog<'a>(rows: &'a [Row], input: Option<&InputBox>) -> Option<&'a [Row]> {
    let marked = rows
        .iter()
        .rposition(|row| choice(&row.text) == Some(Marked::Yes))?;
    let is_choice = |row: &Row| choice(&row.text).is_some();
    let near = |at: usize, row: &Row| at < DESCRIPTION && is_choice(row);
    let mut end = marked;
    while let Some(next) = rows[end + 1..]
        .iter()
        .enumerate()
        .position(|(at, row)| near(at, row))
    {
        end += next + 1;
    }
    let has_before = rows[..marked].iter().rev().take(DESCRIPTION).any(is_choice);
    let hints = &rows[end + 1..];
    let has_box = input.is_some_and(|input| hints.iter().any(|row| begins(row, input)));
    let is_dialog = (end > marked || has_before) && hints.len() <= HINTS && !has_box;
    is_dialog.then(|| &rows[marked.saturating_sub(QUESTION)..])
}

/// Whether a choice is the one that Enter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marked {
    Yes,
    No,
}

/// `❯ 1. Yes` and `2) No`.
fn choice(text: &str) -> Option<Marked> {
    let is_mark = |it: char| matches!(it, '❯' | '›' | '>' | '●' | '▶' | '→' | '◉' | '»');
    let unmarked = text.strip_prefix(is_mark);
    let number = unmarked.unwrap_or(text).trim_start();
    let rest = number.trim_start_matches(|it: char| it.is_ascii_digit());
    let is_number = rest.len() < number.len() && rest.starts_with(['.', ')']);
    let marked = if unmarked.is_some() {
        Marked::Yes
    } else {
        Marked::No
    };
    is_number.then_some(marked)
}
