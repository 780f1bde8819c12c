//! Making a choice in a dialog: one key at a time, each only after the last was seen to work.
//!
//! | seen | pressed |
//! |---|---|
//! | the pointer is elsewhere | an arrow towards the choice |
//! | the pointer is at the choice | Enter |
//! | nothing points at anything | the number or letter of the choice and Enter, once |
//! | another question, or none | nothing: it is done |
//!
//! A key that did nothing is pressed again where something points, because that tells what it would do. Some agents do not take
//! an Enter that comes right after their question: it might have been meant for something else.

use std::time::Duration;

use handoff_core::time::Nanos;

use crate::dialog::Dialog;

/// How long a key may take to be seen to work.
const KEY_TAKES: Duration = Duration::from_millis(700);
/// How often a key is pressed, at most.
const TRIES: u8 = 4;

const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";
const ENTER: &str = "\r";

/// A choice that is being made.
#[derive(Debug, Clone)]
pub struct Choosing {
    dialog: Dialog,
    wanted: usize,
    /// What pointed where when a key was pressed last, and when that was.
    pressed: Option<(Option<usize>, Nanos)>,
    /// How often in this place.
    tries: u8,
}

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    Press(String),
    Wait,
    /// The question is gone.
    Done,
    /// The keys did nothing.
    GiveUp,
}

impl Choosing {
    pub const fn new(dialog: Dialog, wanted: usize) -> Self {
        Self {
            dialog,
            wanted,
            pressed: None,
            tries: 0,
        }
    }

    /// What was chosen.
    pub fn label(&self) -> &str {
        &self.dialog.choices[self.wanted].label
    }

    /// When to look again although nothing happens.
    pub fn look_again(&self) -> Option<Nanos> {
        self.pressed.map(|(_, at)| at.after(KEY_TAKES))
    }

    /// What to do, by the dialog that is open now; none if none is.
    pub fn step(&mut self, open: Option<&Dialog>, now: Nanos) -> Move {
        let Some(open) = open.filter(|open| open.is_same(&self.dialog)) else {
            return Move::Done;
        };
        match self.pressed {
            Some((pointed, at)) if pointed == open.pointed => {
                let most = if pointed.is_some() { TRIES } else { 1 };
                if now < at.after(KEY_TAKES) {
                    return Move::Wait;
                }
                if self.tries >= most {
                    return Move::GiveUp;
                }
            }
            Some(_) | None => self.tries = 0,
        }
        self.tries += 1;
        self.pressed = Some((open.pointed, now));
        Move::Press(self.key(open))
    }

    fn key(&self, open: &Dialog) -> String {
        match open.pointed {
            Some(pointed) if pointed < self.wanted => DOWN.to_owned(),
            Some(pointed) if pointed > self.wanted => UP.to_owned(),
            Some(_) => ENTER.to_owned(),
            None => {
                let key = self.dialog.choices[self.wanted].key.as_deref();
                format!("{}{ENTER}", key.unwrap_or_default())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialog::Choice;

    fn dialog(pointed: Option<usize>) -> Dialog {
        let choice = |(label, key): (&str, &str)| Choice {
            label: label.to_owned(),
            key: Some(key.to_owned()),
        };
        Dialog {
            question: vec!["Sure?".to_owned()],
            choices: [("Yes", "1"), ("Always", "2"), ("No", "3")]
                .map(choice)
                .into(),
            pointed,
        }
    }

    fn press(keys: &str) -> Move {
        Move::Press(keys.to_owned())
    }

    fn at(millis: u64) -> Nanos {
        Nanos(0).after(Duration::from_millis(millis))
    }

    #[test]
    fn the_pointer_is_moved_step_by_step_and_enter_comes_last() {
        let mut choosing = Choosing::new(dialog(Some(0)), 2);
        assert_eq!(choosing.step(Some(&dialog(Some(0))), at(0)), press(DOWN));
        assert_eq!(choosing.step(Some(&dialog(Some(0))), at(1)), Move::Wait);
        assert_eq!(choosing.step(Some(&dialog(Some(1))), at(2)), press(DOWN));
        assert_eq!(choosing.step(Some(&dialog(Some(2))), at(3)), press(ENTER));
        assert_eq!(choosing.step(Some(&dialog(Some(2))), at(4)), Move::Wait);
        assert_eq!(choosing.step(None, at(5)), Move::Done);
        assert_eq!(choosing.label(), "No");
    }

    #[test]
    fn without_a_pointer_the_number_is_typed_once() {
        let mut choosing = Choosing::new(dialog(None), 1);
        assert_eq!(choosing.step(Some(&dialog(None)), at(0)), press("2\r"));
        assert_eq!(choosing.step(Some(&dialog(None)), at(1)), Move::Wait);
        assert_eq!(choosing.step(Some(&dialog(None)), at(700)), Move::GiveUp);
    }

    #[test]
    fn keys_that_do_nothing_are_given_up() {
        let mut choosing = Choosing::new(dialog(Some(2)), 0);
        assert_eq!(choosing.step(Some(&dialog(Some(2))), at(0)), press(UP));
        assert_eq!(choosing.look_again(), Some(at(700)));
        for tried in 1..4 {
            let again = choosing.step(Some(&dialog(Some(2))), at(700 * tried));
            assert_eq!(again, press(UP));
        }
        let last = choosing.step(Some(&dialog(Some(2))), at(2800));
        assert_eq!(last, Move::GiveUp);
    }

    #[test]
    fn another_question_is_not_answered() {
        let mut choosing = Choosing::new(dialog(Some(0)), 0);
        let mut other = dialog(Some(0));
        other.question[0] = "Really?".to_owned();
        assert_eq!(choosing.step(Some(&other), at(0)), Move::Done);
    }
}
