//! What an agent asks and reads.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use serde::Deserialize;

use super::True;
use crate::scripted::period::Period;
use crate::scripted::script::Step;
use crate::scripted::text::Text;
use crate::scripted::variable::VariableName;

/// `expect = "continue"` reads lines until one contains the text (the empty text is in each).
/// `timeout = "5s"` gives up, `echo = true` shows each line read, `as = "name"` keeps the line
/// under a name besides `{line}`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    #[serde(rename = "expect")]
    pub part: Text,
    pub timeout: Option<Period>,
    #[serde(default)]
    pub echo: bool,
    #[serde(rename = "as")]
    pub save_as: Option<VariableName>,
}

/// `message = "> "` shows a prompt and reads a message as a full-screen agent does: key by key, with
/// bracketed paste on, until Enter. `timeout` and `as` as with `expect`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    #[serde(rename = "message")]
    pub prompt: Text,
    pub timeout: Option<Period>,
    #[serde(rename = "as")]
    pub save_as: Option<VariableName>,
}

/// `ask = "Allow this?"` with `choices = ["Yes", "No"]` shows a dialog, reads the number of a choice
/// and plays the steps of `[[step.on.1]]`, if there are any. `answer = "key"` takes one key press
/// without Enter; `answer = "pointer"` points at a choice, which arrows move and Enter takes. What is no choice goes to `[[step.on.other]]`, or else is asked again; `timeout`
/// and `as` as with `expect`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    #[serde(rename = "ask")]
    pub question: Text,
    pub choices: Vec<Text>,
    #[serde(default, rename = "answer")]
    pub answer_by: AnswerBy,
    pub timeout: Option<Period>,
    #[serde(rename = "as")]
    pub save_as: Option<VariableName>,
    /// Read by the parser, which names the steps in it.
    #[serde(skip)]
    pub on: BTreeMap<Answer, Vec<Step>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerBy {
    #[default]
    Line,
    Key,
    Pointer,
}

/// What a person may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// The number of a choice, counted from one.
    Choice(NonZeroUsize),
    /// The Escape key; only where one key is the answer.
    Escape,
    /// Anything that is not another answer.
    Other,
}

impl Ask {
    /// What `text`, typed by a person or used as a key of `on`, means here; none if nothing.
    pub fn answer(&self, text: &str) -> Option<Answer> {
        let number: NonZeroUsize = text.parse().ok()?;
        (number.get() <= self.choices.len()).then_some(Answer::Choice(number))
    }

    pub(in crate::scripted) fn branch(&self, key: &str) -> Option<Answer> {
        match (key, self.answer_by) {
            ("other", _) => Some(Answer::Other),
            ("esc", AnswerBy::Key | AnswerBy::Pointer) => Some(Answer::Escape),
            _ => self.answer(key),
        }
    }
}

/// `read_prompt = true` reads the prompt into `{prompt}`: the file that `HANDOFF_PROMPT_FILE` names,
/// or without it the standard input to its end.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadPrompt {
    pub read_prompt: True,
}

/// `prompt_contains = "…"` ends the agent with exit code 3 unless the prompt contains the text; it
/// reads the prompt if `read_prompt` did not.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptContains {
    #[serde(rename = "prompt_contains")]
    pub part: Text,
}
