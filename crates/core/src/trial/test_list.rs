//! The list of tests that are to be written: a Markdown file with a box for each.
//!
//! A person or a planning session writes it; the tool ticks. Ticks follow proof, so the list is compared with the one before: what
//! was ticked stays as it is, and nothing new is ticked.

use std::collections::BTreeSet;

/// The list as it stands in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestList {
    items: Vec<Item>,
}

/// A test that is to be written, or was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The behaviour in a sentence; also its identity.
    pub text: String,
    /// Whether the box is ticked.
    pub is_ticked: bool,
    line: usize,
}

/// Why a list is not accepted: written for the session that tries next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// A box that is neither empty nor ticked.
    #[error("line {line}: a box is `[ ]` or `[x]`")]
    Box {
        /// Where, counted from one.
        line: usize,
    },
    /// A box without a text.
    #[error("line {line}: an item says in a sentence what its test shows")]
    Empty {
        /// Where.
        line: usize,
    },
    /// Two items with one text.
    #[error("line {line}: `{text}` is on the list twice")]
    Twice {
        /// Where it stands again.
        line: usize,
        /// What it says.
        text: String,
    },
    /// No items at all.
    #[error("the list has no item; each test is a line such as `- [ ] adds two numbers`")]
    None,
    /// A tick without a proof.
    #[error("`{0}` is ticked without a proof; the tool ticks what was proved")]
    Unproved(String),
    /// A proved item that was changed or removed.
    #[error("`{0}` was proved and must stay as it is")]
    Lost(String),
}

impl TestList {
    /// Reads a list. Lines without a box are prose.
    pub fn read(text: &str) -> Result<Self, ListError> {
        let mut items = vec![];
        let mut seen = BTreeSet::new();
        for (index, line) in text.lines().enumerate() {
            let Some(item) = item(line, index + 1)? else {
                continue;
            };
            if !seen.insert(item.text.clone()) {
                let (line, text) = (item.line, item.text);
                return Err(ListError::Twice { line, text });
            }
            items.push(item);
        }
        if items.is_empty() {
            return Err(ListError::None);
        }
        Ok(Self { items })
    }

    /// All items in their order.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The one to be written next: the first whose box is empty.
    pub fn next(&self) -> Option<&Item> {
        self.items.iter().find(|it| !it.is_ticked)
    }

    /// Whether the ticks are those of the list before.
    pub fn continues(&self, before: Option<&Self>) -> Result<(), ListError> {
        let none = Self { items: vec![] };
        let before = before.unwrap_or(&none).ticked();
        let now = self.ticked();
        if let Some(text) = now.difference(&before).next() {
            return Err(ListError::Unproved((*text).to_owned()));
        }
        match before.difference(&now).next() {
            Some(text) => Err(ListError::Lost((*text).to_owned())),
            None => Ok(()),
        }
    }

    /// The file with this item's box ticked; nothing else in it changes.
    pub fn ticking(&self, text: &str, file: &str) -> String {
        let line = { self.items.iter() }.find(|it| it.text == text && !it.is_ticked);
        let mut lines: Vec<_> = file.split_inclusive('\n').map(str::to_owned).collect();
        if let Some(line) = line.and_then(|it| lines.get_mut(it.line - 1)) {
            *line = line.replacen("[ ]", "[x]", 1);
        }
        lines.concat()
    }

    fn ticked(&self) -> BTreeSet<&str> {
        let ticked = self.items.iter().filter(|it| it.is_ticked);
        ticked.map(|it| it.text.as_str()).collect()
    }
}

fn item(line: &str, number: usize) -> Result<Option<Item>, ListError> {
    let bullet = line.trim_start().strip_prefix(['-', '*', '+']);
    let Some(boxed) = bullet.and_then(|it| it.trim_start().strip_prefix('[')) else {
        return Ok(None);
    };
    // `- [a link](…)` is no box.
    let Some((mark, text)) = boxed
        .split_once(']')
        .filter(|(mark, _)| mark.chars().count() <= 1)
    else {
        return Ok(None);
    };
    let is_ticked = match mark {
        " " => false,
        "x" | "X" => true,
        _ => return Err(ListError::Box { line: number }),
    };
    let text = text.trim().to_owned();
    if text.is_empty() {
        return Err(ListError::Empty { line: number });
    }
    Ok(Some(Item {
        text,
        is_ticked,
        line: number,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        "# Tests\n\nSee [the spec](spec.md).\n\n- [x] adds\n- [ ] subtracts\n* [ ] divides\n";

    #[test]
    fn the_first_empty_box_is_next() {
        let list = TestList::read(LIST).unwrap();
        assert_eq!(list.items().len(), 3);
        assert_eq!(list.next().unwrap().text, "subtracts");
        let done = TestList::read(&LIST.replace("[ ]", "[x]")).unwrap();
        assert_eq!(done.next(), None);
    }

    #[test]
    fn the_tool_ticks_one_box_and_changes_nothing_else() {
        let list = TestList::read(LIST).unwrap();
        let ticked = list.ticking("subtracts", LIST);
        assert_eq!(ticked, LIST.replace("[ ] subtracts", "[x] subtracts"));
        assert_eq!(list.ticking("adds", LIST), LIST);
    }

    #[test]
    fn ticks_follow_proof() {
        let before = TestList::read(LIST).unwrap();
        let more = TestList::read(&format!("{LIST}- [ ] multiplies\n")).unwrap();
        assert_eq!(more.continues(Some(&before)), Ok(()));
        let hasty = TestList::read(&LIST.replace("[ ] sub", "[x] sub")).unwrap();
        let unproved = ListError::Unproved("subtracts".to_owned());
        assert_eq!(hasty.continues(Some(&before)), Err(unproved));
        let lost = TestList::read("- [ ] subtracts\n").unwrap();
        let gone = ListError::Lost("adds".to_owned());
        assert_eq!(lost.continues(Some(&before)), Err(gone));
        assert!(before.continues(None).is_err());
    }

    #[test]
    fn what_is_no_list_is_told_with_its_line() {
        let told = |text| TestList::read(text).unwrap_err().to_string();
        assert!(told("nothing").starts_with("the list has no item"));
        assert_eq!(told("- [y] a"), "line 1: a box is `[ ]` or `[x]`");
        assert!(told("\n- [ ] ").starts_with("line 2: an item says"));
        assert_eq!(told("- [ ] a\n- [x] a"), "line 2: `a` is on the list twice");
    }
}
