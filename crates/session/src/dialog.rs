//! A question that an agent asks on its screen, and the choices it offers.
//!
//! Only what stands at the bottom counts; what an agent quotes further up is never a question of its own.

mod choice;

use serde::{Deserialize, Serialize};

use crate::screen::Menu;

pub use choice::{ChoiceError, Wish};

/// What points at a choice.
const POINTERS: [char; 6] = ['❯', '›', '>', '●', '▶', '→'];
/// Points only where there are numbers too: elsewhere it begins what an agent says.
const BULLET: char = '●';
/// Rows between two choices that describe the first.
const DESCRIPTION: usize = 4;
/// What may stand below the last choice: hints, and a line to answer in.
const BELOW: usize = 8;
/// How many empty rows may part a question from its choices.
const FAR: usize = 3;
/// Rows above the first choice that are taken for the question.
const QUESTION: usize = 6;

/// A question and its choices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialog {
    /// What is asked, row by row.
    pub question: Vec<String>,
    pub choices: Vec<Choice>,
    /// The place of the choice that Enter would take, from zero.
    pub pointed: Option<usize>,
    #[serde(default)]
    pub order: Order,
    /// What stands above the question, up to the line that parts it from what was said before; nothing where there is none. It
    /// tells questions apart that end alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<String>,
}

/// How choices stand to each other, and so by which keys one gets from one to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    #[default]
    Below,
    Beside,
}

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    pub label: String,
    /// What is typed for it where nothing points at it.
    pub key: Option<String>,
}

/// A row that offers a choice.
#[derive(Debug)]
struct Offer {
    row: usize,
    number: Option<usize>,
    label: String,
    is_pointed: bool,
    /// Where its text begins.
    indent: usize,
}

impl Dialog {
    /// Reads the rows of a screen, the line with the cursor, and the choices that stand beside each other.
    pub fn read(rows: &[String], cursor_line: &str, menu: Option<Menu>) -> Option<Self> {
        let is_pointed = |offers: &Vec<Offer>| offers.iter().any(|offer| offer.is_pointed);
        let numbered = numbered(rows);
        match (numbered, menu) {
            // Numbers that nothing points at may be those of a text above.
            (Some(offers), menu) if menu.is_none() || is_pointed(&offers) => {
                Some(Self::of(&offers, rows))
            }
            (_, Some(menu)) => Some(Self::of_menu(menu, rows)),
            (_, None) => match pointed_at(rows) {
                Some(offers) => Some(Self::of(&offers, rows)),
                None => letters(cursor_line),
            },
        }
    }

    fn of_menu(menu: Menu, rows: &[String]) -> Self {
        let choice = |label| Choice { label, key: None };
        Self {
            question: question(rows, menu.row),
            choices: menu.labels.into_iter().map(choice).collect(),
            pointed: Some(menu.lit),
            order: Order::Beside,
            above: above(rows, menu.row),
        }
    }

    fn of(offers: &[Offer], rows: &[String]) -> Self {
        let pointed = offers.iter().position(|offer| offer.is_pointed);
        Self {
            question: question(rows, offers[0].row),
            choices: offers
                .iter()
                .map(|offer| Choice {
                    label: offer.label.clone(),
                    key: offer.number.map(|number| number.to_string()),
                })
                .collect(),
            pointed,
            order: Order::Below,
            above: above(rows, offers[0].row),
        }
    }

    /// Whether it is the same question, wherever it points.
    pub fn is_same(&self, other: &Self) -> bool {
        self.question == other.question
            && self.choices == other.choices
            && self.above == other.above
    }
}

/// Choices with numbers from one on, the last such list on the screen.
fn numbered(rows: &[String]) -> Option<Vec<Offer>> {
    let last = last_text(rows)?;
    let mut found: Vec<Offer> = vec![];
    for (row, text) in rows.iter().enumerate().rev() {
        let highest = found.last().map_or(last, |offer| offer.row);
        let room = if found.is_empty() { BELOW } else { DESCRIPTION };
        if highest.saturating_sub(row) > room + 1 {
            break;
        }
        let Some(offer) = offer(row, text).filter(|it| it.number.is_some()) else {
            continue;
        };
        let next = found.last().and_then(|offer| offer.number);
        if next.is_some_and(|next| offer.number != next.checked_sub(1)) {
            break;
        }
        let is_first = offer.number == Some(1);
        found.push(offer);
        if is_first {
            found.reverse();
            return Some(found);
        }
    }
    None
}

/// Choices without numbers: the row that is pointed at, and those around it that begin in the same column.
fn pointed_at(rows: &[String]) -> Option<Vec<Offer>> {
    let last = last_text(rows)?;
    let is_bullet = |text: &str| text.trim_start().starts_with(BULLET);
    let at = rows[..=last]
        .iter()
        .rposition(|text| pointer(text).is_some() && !is_bullet(text))?;
    if last - at > BELOW + DESCRIPTION || !rows[at..=last].iter().any(|row| is_hint(row)) {
        return None;
    }
    let pointed = offer(at, &rows[at])?;
    let is_sibling = |row: &usize| {
        let text = rows.get(*row).map_or("", String::as_str);
        !text.trim().is_empty() && indent(text) == pointed.indent
    };
    let above = (0..at).rev().take_while(is_sibling);
    let below = (at + 1..=last).take_while(is_sibling);
    let mut rows_of: Vec<usize> = above.chain(below).collect();
    if rows_of.is_empty() {
        return None;
    }
    rows_of.push(at);
    rows_of.sort_unstable();
    let offers = rows_of.into_iter().filter_map(|row| offer(row, &rows[row]));
    Some(offers.collect())
}

/// What tells that a list is to be chosen from, and no part of a text.
fn is_hint(row: &str) -> bool {
    let row = row.to_lowercase();
    ["enter", "esc "].iter().any(|key| row.contains(key))
}

/// `(Y)es/(N)o`: letters to be typed, in the line with the cursor.
fn letters(line: &str) -> Option<Dialog> {
    let mut choices = vec![];
    let mut rest = line;
    let mut question = None;
    while let Some(open) = rest.find('(') {
        let tail = &rest[open + 1..];
        let mut characters = tail.chars();
        match (characters.next(), characters.next()) {
            (Some(letter), Some(')')) if letter.is_alphabetic() => {
                question.get_or_insert_with(|| line[..line.len() - tail.len() - 1].trim());
                let word = characters.as_str();
                let end = word.find(|it: char| !it.is_alphanumeric() && it != '\'');
                let word = &word[..end.unwrap_or(word.len())];
                choices.push(Choice {
                    label: format!("{letter}{word}"),
                    key: Some(letter.to_lowercase().to_string()),
                });
            }
            _ => {}
        }
        rest = tail;
    }
    (choices.len() > 1).then(|| Dialog {
        question: question.map(str::to_owned).into_iter().collect(),
        choices,
        pointed: None,
        order: Order::Below,
        above: vec![],
    })
}

fn offer(row: usize, text: &str) -> Option<Offer> {
    let bare = pointer(text).unwrap_or_else(|| unframed(text));
    let (number, label) = match split_number(bare) {
        Some((number, label)) => (Some(number), label),
        None => (None, bare),
    };
    (!label.is_empty()).then(|| Offer {
        row,
        number,
        label: label.to_owned(),
        is_pointed: pointer(text).is_some(),
        indent: indent(text),
    })
}

/// Where the text of a choice begins, behind a pointer if there is one.
fn indent(text: &str) -> usize {
    let bare = pointer(text).unwrap_or_else(|| text.trim_start());
    text.chars().count() - bare.chars().count()
}

/// What a pointer points at.
fn pointer(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(|it: char| it.is_whitespace() || it == '│');
    let rest = text.strip_prefix(POINTERS)?;
    let bare = rest.trim_start();
    (bare.len() < rest.len() && !bare.is_empty()).then(|| bare.trim_end_matches([' ', '│']))
}

fn unframed(text: &str) -> &str {
    text.trim_matches(|it: char| it.is_whitespace() || matches!(it, '│' | '┃'))
}

fn split_number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|it: char| !it.is_ascii_digit())?;
    let number: usize = text[..end].parse().ok()?;
    let rest = text[end..].strip_prefix(['.', ')'])?;
    let label = rest.trim();
    ((1..=20).contains(&number) && !label.is_empty()).then_some((number, label))
}

fn last_text(rows: &[String]) -> Option<usize> {
    rows.iter().rposition(|row| !row.trim().is_empty())
}

/// Everything above the first choice up to a line across.
fn above(rows: &[String], first: usize) -> Vec<String> {
    let is_line = |row: &String| {
        // Not one within a frame.
        let text = row.trim();
        text.chars().count() >= 8 && text.chars().all(|it| "─━═▔╭╮╰╯".contains(it))
    };
    let Some(line) = rows[..first].iter().rposition(is_line) else {
        return vec![];
    };
    let texts = rows[line + 1..first].iter().map(|row| unframed(row));
    let texts = texts.filter(|text| !text.is_empty());
    texts.map(str::to_owned).collect()
}

/// What stands above the first choice, up to a rule or two empty rows.
fn question(rows: &[String], first: usize) -> Vec<String> {
    let mut found = vec![];
    let mut empty = 0;
    for row in rows[..first].iter().rev() {
        let text = unframed(row);
        let is_made_of = |kind: &str| !text.is_empty() && text.chars().all(|it| kind.contains(it));
        empty = if text.is_empty() { empty + 1 } else { 0 };
        let is_apart = empty > 1 && !found.is_empty();
        if is_made_of("─━═╭╮╰╯-=") || is_apart || empty > FAR || found.len() == QUESTION
        {
            break;
        }
        // A broken line parts what belongs together.
        if !text.is_empty() && !is_made_of("╌┄┈") {
            found.push(text.to_owned());
        }
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests;
