//! Conversations: what the agent shows and what it reads in answer.

use handoff_agents::scripted::{Answer, AnswerBy, Ask, Period};

use crate::clock::Deadline;
use crate::editor::{Edit, Editor};
use crate::input::{Input, ReadError};
use crate::keys::{CTRL_C, Key};
use crate::menu::{Menu, Pressed};
use crate::outcome::{Failure, Stop};
use crate::output::Output;
use crate::raw_mode::RawMode;

/// The exit code of a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

pub(crate) struct Terminal {
    pub(crate) input: Input,
    pub(crate) output: Output,
}

/// Something the agent waits for, and until when.
pub(crate) struct Awaited {
    what: String,
    timeout: Option<Period>,
    deadline: Deadline,
}

impl Awaited {
    pub(crate) fn new(what: impl Into<String>, timeout: Option<Period>) -> Self {
        Self {
            what: what.into(),
            timeout,
            deadline: Deadline::after(timeout),
        }
    }

    pub(crate) const fn deadline(&self) -> Deadline {
        self.deadline
    }

    pub(crate) fn in_vain(&self) -> Failure {
        Failure::TimedOut {
            awaited: self.what.clone(),
            after: self.timeout.unwrap_or(Period::from_millis(0)),
        }
    }

    fn failed(&self, error: ReadError) -> Failure {
        match error {
            ReadError::TimedOut => self.in_vain(),
            ReadError::Ended => Failure::InputEnded {
                awaited: self.what.clone(),
            },
            ReadError::Failed(error) => Failure::Input(error),
        }
    }
}

impl Terminal {
    /// Reads lines until one contains `part`, and shows each of them if `echo` says so.
    pub(crate) fn line_with(
        &mut self,
        part: &str,
        echo: bool,
        timeout: Option<Period>,
    ) -> Result<String, Failure> {
        let awaited = Awaited::new(format!("a line with `{part}`"), timeout);
        loop {
            let line = self.line(&awaited)?;
            if echo {
                self.output.text(&format!("read: {line}\n"))?;
            }
            if line.contains(part) {
                return Ok(line);
            }
        }
    }

    /// Shows `prompt` and reads a message, with raw mode and bracketed paste on meanwhile.
    pub(crate) fn message(
        &mut self,
        prompt: &str,
        timeout: Option<Period>,
    ) -> Result<String, Stop> {
        let raw_mode = self.raw_mode()?;
        self.output.bracketed_paste(true)?;
        self.raw_text(prompt)?;
        let message = self.edit(&Awaited::new("a message", timeout));
        self.output.bracketed_paste(false)?;
        self.output.text("\r\n")?;
        drop(raw_mode);
        message
    }

    fn edit(&mut self, awaited: &Awaited) -> Result<String, Stop> {
        let mut editor = Editor::default();
        loop {
            let key = self.key(awaited)?;
            match editor.press(key) {
                Edit::Show(bytes) => self.output.bytes(&bytes)?,
                Edit::Submit => return Ok(editor.into_message()),
                Edit::Interrupt => return Err(Stop::Exit(INTERRUPTED)),
                Edit::Close => return Err(awaited.failed(ReadError::Ended).into()),
            }
        }
    }

    /// Shows `dialog` and reads the answer, with what was typed for it.
    pub(crate) fn answer(&mut self, dialog: &str, ask: &Ask) -> Result<(Answer, String), Stop> {
        let awaited = Awaited::new("an answer", ask.timeout);
        match ask.answer_by {
            AnswerBy::Line => Ok(self.answer_by_line(dialog, ask, &awaited)?),
            AnswerBy::Key => self.answer_by_key(dialog, ask, &awaited),
            AnswerBy::Pointer => self.answer_by_pointer(dialog, ask, &awaited),
        }
    }

    fn answer_by_line(
        &mut self,
        dialog: &str,
        ask: &Ask,
        awaited: &Awaited,
    ) -> Result<(Answer, String), Failure> {
        loop {
            self.output.text(dialog)?;
            let line = self.line(awaited)?.trim().to_owned();
            if let Some(answer) = ask.answer(&line).or_else(|| other(ask)) {
                return Ok((answer, line));
            }
        }
    }

    fn answer_by_key(
        &mut self,
        dialog: &str,
        ask: &Ask,
        awaited: &Awaited,
    ) -> Result<(Answer, String), Stop> {
        let raw_mode = self.raw_mode()?;
        self.raw_text(dialog)?;
        let (answer, typed) = loop {
            let key = self.key(awaited)?;
            if key == Key::Byte(CTRL_C) {
                return Err(Stop::Exit(INTERRUPTED));
            }
            let typed = name_of(&key);
            if let Some(answer) = key_answer(&key, &typed, ask) {
                break (answer, typed);
            }
        };
        self.output.text(&format!("{typed}\r\n"))?;
        drop(raw_mode);
        Ok((answer, typed))
    }

    fn answer_by_pointer(
        &mut self,
        dialog: &str,
        ask: &Ask,
        awaited: &Awaited,
    ) -> Result<(Answer, String), Stop> {
        let raw_mode = self.raw_mode()?;
        let mut menu = Menu::new(dialog);
        self.raw_text(&menu.drawn())?;
        let answer = loop {
            match menu.press(&self.key(awaited)?) {
                Pressed::Moved => self.raw_text(&menu.redrawn())?,
                Pressed::Chosen(number) => break Answer::Choice(number),
                Pressed::Escape if ask.on.contains_key(&Answer::Escape) => break Answer::Escape,
                Pressed::Interrupt => return Err(Stop::Exit(INTERRUPTED)),
                Pressed::Escape | Pressed::Nothing => {}
            }
        };
        self.raw_text(&menu.removed())?;
        drop(raw_mode);
        let typed = match answer {
            Answer::Choice(number) => number.to_string(),
            Answer::Escape | Answer::Other => "esc".to_owned(),
        };
        Ok((answer, typed))
    }

    fn line(&mut self, awaited: &Awaited) -> Result<String, Failure> {
        let line = self.input.next_line(awaited.deadline());
        line.map_err(|error| awaited.failed(error))
    }

    fn key(&mut self, awaited: &Awaited) -> Result<Key, Failure> {
        let key = self.input.next_key(awaited.deadline());
        key.map_err(|error| awaited.failed(error))
    }

    /// In raw mode the terminal no longer returns to the left at the end of a line.
    fn raw_text(&mut self, text: &str) -> Result<(), Failure> {
        self.output.text(&text.replace('\n', "\r\n"))
    }

    fn raw_mode(&self) -> Result<Option<RawMode>, Failure> {
        RawMode::enter(&self.input).map_err(Failure::TerminalMode)
    }
}

fn key_answer(key: &Key, typed: &str, ask: &Ask) -> Option<Answer> {
    match key {
        Key::Escape if ask.on.contains_key(&Answer::Escape) => Some(Answer::Escape),
        Key::Byte(_) | Key::Escape => ask.answer(typed).or_else(|| other(ask)),
        Key::Alt(_) | Key::Sequence(_) => None,
    }
}

/// What an answer that is no choice means: something only if the script has steps for it.
fn other(ask: &Ask) -> Option<Answer> {
    ask.on.contains_key(&Answer::Other).then_some(Answer::Other)
}

fn name_of(key: &Key) -> String {
    match key {
        Key::Byte(byte @ b' '..=b'~') => char::from(*byte).to_string(),
        Key::Escape => "esc".to_owned(),
        Key::Byte(_) | Key::Alt(_) | Key::Sequence(_) => String::new(),
    }
}

/// The text of a dialog: the question, the numbered choices, and where to answer.
pub(crate) fn dialog(question: &str, choices: &[String]) -> String {
    let numbered: String = (1..)
        .zip(choices)
        .map(|(number, choice)| format!("  {number}. {choice}\n"))
        .collect();
    format!("{question}\n{numbered}Answer (1-{}): ", choices.len())
}
