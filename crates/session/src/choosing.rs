//! Making a choice in a dialog: one key at a time, each only after the last was seen to work.
//!
//! | seen | pressed |
//! |---|---|
//! | the pointer is elsewhere | an arrow towards the choice |
//! | the choice says that Escape makes it | Escape: Enter may ask for more words |
//! | the pointer is at the choice | Enter |
//! | nothing points at anything | the number or letter of the choice and Enter, once |
//! | another question, or none, after Enter | nothing: it is done |
//! | none before Enter | nothing: it went away unanswered |
//! | another before Enter | nothing for a while: it may be the same one, half painted |
//!
//! A key that did nothing is pressed again where something points, because that tells what it would do. Some agents do not take
//! an Enter that comes right after their question: it might have been meant for something else.

use std::time::Duration;

use handoff_core::time::Nanos;

use crate::dialog::{Dialog, Order};

/// How long a key may take to be seen to work.
const KEY_TAKES: Duration = Duration::from_millis(700);
/// How long a screen may take to show what comes next.
const PAINTING_TAKES: Duration = Duration::from_secs(3);
/// How often a key is pressed, at most.
const TRIES: u8 = 4;

const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";
const RIGHT: &str = "\x1b[C";
const LEFT: &str = "\x1b[D";
const ENTER: &str = "\r";
const ESCAPE: &str = "\x1b";

/// A choice that is being made.
#[derive(Debug, Clone)]
pub struct Choosing {
    dialog: Dialog,
    wanted: usize,
    /// What pointed where when a key was pressed last, and when that was.
    pressed: Option<(Option<usize>, Nanos)>,
    /// When it was first looked at.
    begun_at: Option<Nanos>,
    /// How often in this place.
    tries: u8,
    /// Whether a key was pressed that makes the choice, and does not only point at it.
    is_made: bool,
    look_again: Option<Nanos>,
}

/// What the agent asks now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked<'a> {
    Nothing,
    /// Something that cannot be read: its screen may be half painted.
    Unread,
    This(&'a Dialog),
}

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    Press(String),
    Wait,
    /// The choice was made and the question is gone.
    Done,
    /// The question went away before the choice was made.
    Gone,
    /// The keys did nothing.
    GiveUp,
}

impl Choosing {
    pub const fn new(dialog: Dialog, wanted: usize) -> Self {
        Self {
            dialog,
            wanted,
            pressed: None,
            begun_at: None,
            tries: 0,
            is_made: false,
            look_again: None,
        }
    }

    /// What was chosen.
    pub fn label(&self) -> &str {
        &self.dialog.choices[self.wanted].label
    }

    /// Whether the choice was made, as far as keys make it.
    pub const fn is_made(&self) -> bool {
        self.is_made
    }

    /// When to look again although nothing happens.
    pub const fn look_again(&self) -> Option<Nanos> {
        self.look_again
    }

    /// What to do, by what is asked now.
    pub fn step(&mut self, asked: Asked<'_>, now: Nanos) -> Move {
        self.begun_at = self.begun_at.or(Some(now));
        let open = match asked {
            Asked::This(open) if open.is_same(&self.dialog) => open,
            Asked::Nothing => return self.over(),
            Asked::This(_) if self.is_made => return self.over(),
            Asked::This(_) | Asked::Unread => {
                let wait = self.wait_for(PAINTING_TAKES, now);
                return wait.unwrap_or_else(|| self.over());
            }
        };
        match self.pressed {
            Some((pointed, _)) if pointed == open.pointed => {
                let most = if pointed.is_some() { TRIES } else { 1 };
                if let Some(wait) = self.wait_for(KEY_TAKES, now) {
                    return wait;
                }
                if self.tries >= most {
                    return Move::GiveUp;
                }
            }
            Some(_) | None => self.tries = 0,
        }
        self.tries += 1;
        self.pressed = Some((open.pointed, now));
        self.look_again = Some(now.after(KEY_TAKES));
        self.is_made |=
            self.is_by_escape() || open.pointed.is_none_or(|pointed| pointed == self.wanted);
        Move::Press(self.key(open))
    }

    /// What it means that the question is gone.
    const fn over(&self) -> Move {
        if self.is_made { Move::Done } else { Move::Gone }
    }

    /// Waits until so long after the last key, or after the beginning; none if that time is over.
    fn wait_for(&mut self, span: Duration, now: Nanos) -> Option<Move> {
        let pressed_at = self.pressed.map(|(_, at)| at);
        let until = pressed_at.or(self.begun_at)?.after(span);
        self.look_again = (now < until).then_some(until);
        self.look_again.map(|_| Move::Wait)
    }

    /// `No (Esc)`.
    fn is_by_escape(&self) -> bool {
        self.label().to_lowercase().contains("(esc")
    }

    fn key(&self, open: &Dialog) -> String {
        if self.is_by_escape() {
            return ESCAPE.to_owned();
        }
        let (back, on) = match open.order {
            Order::Below => (UP, DOWN),
            Order::Beside => (LEFT, RIGHT),
        };
        match open.pointed {
            Some(pointed) if pointed < self.wanted => on.to_owned(),
            Some(pointed) if pointed > self.wanted => back.to_owned(),
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
            order: Order::Below,
            above: vec![],
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
        assert_eq!(
            choosing.step(Asked::This(&dialog(Some(0))), at(0)),
            press(DOWN)
        );
        assert_eq!(
            choosing.step(Asked::This(&dialog(Some(0))), at(1)),
            Move::Wait
        );
        assert_eq!(
            choosing.step(Asked::This(&dialog(Some(1))), at(2)),
            press(DOWN)
        );
        assert_eq!(
            choosing.step(Asked::This(&dialog(Some(2))), at(3)),
            press(ENTER)
        );
        assert_eq!(
            choosing.step(Asked::This(&dialog(Some(2))), at(4)),
            Move::Wait
        );
        assert_eq!(choosing.step(Asked::Nothing, at(5)), Move::Done);
        assert_eq!(choosing.label(), "No");
    }

    #[test]
    fn a_choice_that_names_escape_is_made_by_it() {
        let mut dialog = dialog(Some(0));
        dialog.choices[2].label = "No, and say what to do instead (Esc to stop)".to_owned();
        let mut choosing = Choosing::new(dialog.clone(), 2);
        assert_eq!(choosing.step(Asked::This(&dialog), at(0)), press(ESCAPE));
        assert_eq!(choosing.step(Asked::Nothing, at(1)), Move::Done);
    }

    #[test]
    fn choices_beside_each_other_are_reached_to_the_side() {
        let beside = |pointed| Dialog {
            order: Order::Beside,
            ..dialog(Some(pointed))
        };
        let mut choosing = Choosing::new(beside(1), 2);
        assert_eq!(choosing.step(Asked::This(&beside(1)), at(0)), press(RIGHT));
        assert_eq!(choosing.step(Asked::This(&beside(2)), at(1)), press(ENTER));
        let mut choosing = Choosing::new(beside(1), 0);
        assert_eq!(choosing.step(Asked::This(&beside(1)), at(0)), press(LEFT));
    }

    #[test]
    fn without_a_pointer_the_number_is_typed_once() {
        let mut choosing = Choosing::new(dialog(None), 1);
        assert_eq!(
            choosing.step(Asked::This(&dialog(None)), at(0)),
            press("2\r")
        );
        assert_eq!(choosing.step(Asked::This(&dialog(None)), at(1)), Move::Wait);
        assert_eq!(
            choosing.step(Asked::This(&dialog(None)), at(700)),
            Move::GiveUp
        );
    }

    #[test]
    fn keys_that_do_nothing_are_given_up() {
        let mut choosing = Choosing::new(dialog(Some(2)), 0);
        assert_eq!(
            choosing.step(Asked::This(&dialog(Some(2))), at(0)),
            press(UP)
        );
        assert_eq!(choosing.look_again(), Some(at(700)));
        for tried in 1..4 {
            let again = choosing.step(Asked::This(&dialog(Some(2))), at(700 * tried));
            assert_eq!(again, press(UP));
        }
        let last = choosing.step(Asked::This(&dialog(Some(2))), at(2800));
        assert_eq!(last, Move::GiveUp);
    }

    #[test]
    fn a_screen_that_is_half_painted_tells_nothing_yet() {
        let mut choosing = Choosing::new(dialog(Some(0)), 0);
        choosing.step(Asked::This(&dialog(Some(0))), at(0));
        assert_eq!(choosing.step(Asked::Unread, at(1)), Move::Wait);
        assert_eq!(choosing.step(Asked::Unread, at(3000)), Move::Done);
        assert_eq!(choosing.step(Asked::Nothing, at(1)), Move::Done);
    }

    #[test]
    fn another_question_is_not_answered() {
        let mut choosing = Choosing::new(dialog(Some(0)), 0);
        let mut other = dialog(Some(0));
        other.question[0] = "Really?".to_owned();
        assert_eq!(choosing.step(Asked::This(&other), at(0)), Move::Wait);
        assert_eq!(choosing.step(Asked::This(&other), at(3000)), Move::Gone);
        let mut choosing = Choosing::new(dialog(Some(0)), 0);
        choosing.step(Asked::This(&dialog(Some(0))), at(0));
        assert_eq!(choosing.step(Asked::This(&other), at(1)), Move::Done);
    }

    #[test]
    fn a_list_that_is_half_painted_is_waited_for() {
        let mut choosing = Choosing::new(dialog(Some(0)), 2);
        choosing.step(Asked::This(&dialog(Some(0))), at(0));
        let mut half = dialog(Some(1));
        half.choices.pop();
        assert_eq!(choosing.step(Asked::This(&half), at(1)), Move::Wait);
        let whole = choosing.step(Asked::This(&dialog(Some(1))), at(2));
        assert_eq!(whole, press(DOWN));
    }

    #[test]
    fn a_question_that_went_away_before_enter_is_not_answered() {
        let mut choosing = Choosing::new(dialog(Some(0)), 0);
        assert_eq!(choosing.step(Asked::Nothing, at(0)), Move::Gone);
        let mut choosing = Choosing::new(dialog(Some(0)), 0);
        assert_eq!(choosing.step(Asked::Unread, at(0)), Move::Wait);
        assert_eq!(choosing.step(Asked::Unread, at(3000)), Move::Gone);
        let mut choosing = Choosing::new(dialog(Some(0)), 2);
        choosing.step(Asked::This(&dialog(Some(0))), at(0));
        assert_eq!(choosing.step(Asked::Nothing, at(1)), Move::Gone);
        let mut choosing = Choosing::new(dialog(None), 2);
        choosing.step(Asked::This(&dialog(None)), at(0));
        assert_eq!(choosing.step(Asked::Nothing, at(1)), Move::Done);
    }
}
