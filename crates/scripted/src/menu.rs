//! A dialog with a pointer, as full-screen agents draw it: keys in, picture out. It neither reads nor writes.

use std::num::NonZeroUsize;

use crate::keys::{CTRL_C, Key};

/// What stands below the choices.
const HINT: &str = "Enter to confirm · Esc to cancel";

/// Choices with a pointer.
#[derive(Debug)]
pub(crate) struct Menu {
    question: String,
    choices: Vec<String>,
    pointed: usize,
}

/// What a key leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pressed {
    Nothing,
    /// The pointer is elsewhere.
    Moved,
    Chosen(NonZeroUsize),
    Escape,
    Interrupt,
}

impl Menu {
    /// `dialog` is the text of the same dialog without a pointer: the question, the choices, the line to answer in.
    pub(crate) fn new(dialog: &str) -> Self {
        let mut lines: Vec<String> = dialog.lines().map(str::to_owned).collect();
        lines.pop();
        let is_choice = |line: &String| line.starts_with("  ");
        let first = lines.iter().position(is_choice).unwrap_or(lines.len());
        let choices = lines.split_off(first);
        Self {
            question: lines.join("\n"),
            choices: choices
                .iter()
                .map(|line| line.trim_start().to_owned())
                .collect(),
            pointed: 0,
        }
    }

    pub(crate) fn press(&mut self, key: &Key) -> Pressed {
        match key {
            Key::Byte(b'\r' | b'\n') => self.chosen(self.pointed),
            Key::Byte(byte @ b'1'..=b'9') => self.chosen(usize::from(byte - b'1')),
            Key::Byte(CTRL_C) => Pressed::Interrupt,
            Key::Escape => Pressed::Escape,
            Key::Sequence(sequence) => match sequence.as_slice() {
                b"[A" | b"OA" => self.point(self.pointed.saturating_sub(1)),
                b"[B" | b"OB" => self.point((self.pointed + 1).min(self.choices.len() - 1)),
                _ => Pressed::Nothing,
            },
            Key::Byte(_) | Key::Alt(_) => Pressed::Nothing,
        }
    }

    fn chosen(&self, index: usize) -> Pressed {
        let number = NonZeroUsize::MIN.saturating_add(index);
        if index < self.choices.len() {
            Pressed::Chosen(number)
        } else {
            Pressed::Nothing
        }
    }

    fn point(&mut self, index: usize) -> Pressed {
        self.pointed = index;
        Pressed::Moved
    }

    /// The cursor stays at the end of the last line.
    pub(crate) fn drawn(&self) -> String {
        let choices = (0..).zip(&self.choices).map(|(index, choice)| {
            let mark = if index == self.pointed { "❯" } else { " " };
            format!("{mark} {choice}\n")
        });
        let choices: String = choices.collect();
        format!("{}\n{choices}\n{HINT}", self.question)
    }

    /// The same, over what was drawn before.
    pub(crate) fn redrawn(&self) -> String {
        format!("{}{}", self.removed(), self.drawn())
    }

    /// Takes away what was drawn.
    pub(crate) fn removed(&self) -> String {
        let up = self.drawn().matches('\n').count();
        format!("\r\x1b[{up}A\x1b[J")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu() -> Menu {
        Menu::new("Allow?\n  1. Yes\n  2. No\nAnswer (1-2): ")
    }

    #[test]
    fn arrows_move_and_enter_takes() {
        let mut menu = menu();
        assert_eq!(
            menu.drawn(),
            "Allow?\n❯ 1. Yes\n  2. No\n\nEnter to confirm · Esc to cancel"
        );
        let down = Key::Sequence(b"[B".to_vec());
        assert_eq!(menu.press(&down), Pressed::Moved);
        assert_eq!(menu.press(&down), Pressed::Moved);
        assert!(
            menu.redrawn()
                .starts_with("\r\x1b[4A\x1b[JAllow?\n  1. Yes\n❯ 2. No")
        );
        let two = NonZeroUsize::new(2).unwrap();
        assert_eq!(menu.press(&Key::Byte(b'\r')), Pressed::Chosen(two));
    }

    #[test]
    fn numbers_choose_at_once() {
        let mut menu = menu();
        let one = NonZeroUsize::MIN;
        assert_eq!(menu.press(&Key::Byte(b'1')), Pressed::Chosen(one));
        assert_eq!(menu.press(&Key::Byte(b'3')), Pressed::Nothing);
        assert_eq!(menu.press(&Key::Escape), Pressed::Escape);
        assert_eq!(menu.press(&Key::Byte(CTRL_C)), Pressed::Interrupt);
    }
}
