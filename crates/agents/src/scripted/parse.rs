//! From TOML to a script.
//!
//! TOML gives a tree with the position of each key and value. This module walks the lists of steps
//! in it, because a mistake must be reported with the name of its step, and leaves what is inside
//! a step to the types of the actions.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::de::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::action::{Action, Answer, Ask};
use super::error::{Position, Problem, ScriptError};
use super::script::{Script, Step, StepName};
use super::when::When;

type Value<'t> = Spanned<DeValue<'t>>;

impl Script {
    /// Reads a script. Nothing of it is played, and no file is looked at.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        Parser { text }.script()
    }
}

struct Parser<'t> {
    text: &'t str,
}

impl<'t> Parser<'t> {
    fn script(&self) -> Result<Script, ScriptError> {
        let table =
            DeTable::parse(self.text).map_err(|error| self.value_error(&error, None, 0..0))?;
        let mut table = table.into_inner();
        let steps = table.remove("step");
        if let Some((key, _)) = table.iter().next() {
            let problem = Problem::UnknownTopLevelKey(key.get_ref().to_string());
            return Err(self.error(key.span(), None, problem));
        }
        let steps =
            steps.map_or_else(|| Ok(Vec::new()), |list| self.list(list, None, "step", ""))?;
        if steps.is_empty() {
            return Err(self.error(0..0, None, Problem::NoSteps));
        }
        Ok(Script { steps })
    }

    /// Reads a list of steps found under `key` of `owner`, or of the script itself.
    fn list(
        &self,
        value: Value<'t>,
        owner: Option<&StepName>,
        key: &str,
        name: &str,
    ) -> Result<Vec<Step>, ScriptError> {
        let span = value.span();
        let DeValue::Array(values) = value.into_inner() else {
            return Err(self.error(span, owner, Problem::NotAList(key.to_owned())));
        };
        values
            .into_iter()
            .enumerate()
            .map(|(index, value)| self.step(value, StepName::in_list(name, index + 1)))
            .collect()
    }

    fn step(&self, value: Value<'t>, name: StepName) -> Result<Step, ScriptError> {
        let span = value.span();
        let DeValue::Table(mut table) = value.into_inner() else {
            return Err(self.error(span, Some(&name), Problem::NotATable));
        };
        let when = table
            .remove("when")
            .map(|when| self.when(when, &name))
            .transpose()?;
        let key = self.action_key(&table, &span, &name)?;
        let action = self.action(key, Spanned::new(span.clone(), table), &name)?;
        Ok(Step {
            name,
            line: self.position(span).line,
            when,
            action,
        })
    }

    fn when(&self, value: Value<'t>, name: &StepName) -> Result<When, ScriptError> {
        let span = value.span();
        When::deserialize(ValueDeserializer::from(value))
            .map_err(|error| self.value_error(&error, Some(name), span))
    }

    /// Finds the one key that makes the step what it is.
    fn action_key(
        &self,
        table: &DeTable<'t>,
        step: &Range<usize>,
        name: &StepName,
    ) -> Result<&'static str, ScriptError> {
        let mut found = Action::KEYS
            .iter()
            .filter_map(|key| {
                table
                    .get_key_value(*key)
                    .map(|(spanned, _)| (*key, spanned.span()))
            })
            .collect::<Vec<_>>();
        found.sort_by_key(|(_, span)| span.start);
        match found.as_slice() {
            [(key, _)] => Ok(key),
            [(first, _), (second, span), ..] => {
                let problem = Problem::TwoActions { first, second };
                Err(self.error(span.clone(), Some(name), problem))
            }
            [] if table.contains_key("steps") => Ok("repeat"),
            [] => Err(self.no_action(table, step, name)),
        }
    }

    fn no_action(&self, table: &DeTable<'t>, step: &Range<usize>, name: &StepName) -> ScriptError {
        match table.keys().min_by_key(|key| key.span().start) {
            Some(key) => {
                let problem = Problem::UnknownAction {
                    key: key.get_ref().to_string(),
                };
                self.error(key.span(), Some(name), problem)
            }
            None => self.error(step.clone(), Some(name), Problem::NoAction),
        }
    }

    fn action(
        &self,
        key: &str,
        step: Spanned<DeTable<'t>>,
        name: &StepName,
    ) -> Result<Action, ScriptError> {
        let span = step.span();
        let mut table = step.into_inner();
        let nested = match key {
            "ask" => table.remove("on"),
            "repeat" => table.remove("steps"),
            _ => None,
        };
        let rest = Spanned::new(span.clone(), DeValue::Table(table));
        let mut action = Action::read(key, ValueDeserializer::from(rest))
            .map_err(|error| self.value_error(&error, Some(name), span.clone()))?;
        match (&mut action, nested) {
            (Action::Ask(ask), Some(on)) => ask.on = self.branches(on, ask, name)?,
            (Action::Repeat(repeat), Some(steps)) => {
                repeat.steps = self.list(steps, Some(name), "steps", &name.list("steps"))?;
            }
            (Action::Repeat(_), None) => {
                return Err(self.error(span, Some(name), Problem::NothingToRepeat));
            }
            _ => {}
        }
        Ok(action)
    }

    fn branches(
        &self,
        on: Value<'t>,
        ask: &Ask,
        name: &StepName,
    ) -> Result<BTreeMap<Answer, Vec<Step>>, ScriptError> {
        let span = on.span();
        let DeValue::Table(branches) = on.into_inner() else {
            return Err(self.error(span, Some(name), Problem::OnNotATable));
        };
        branches
            .into_iter()
            .map(|(key, steps)| {
                let answer = ask.branch(key.get_ref()).ok_or_else(|| {
                    let problem = Problem::NoSuchAnswer {
                        answer: key.get_ref().to_string(),
                        choices: ask.choices.len(),
                    };
                    self.error(key.span(), Some(name), problem)
                })?;
                let list = format!("on.{}", key.get_ref());
                Ok((
                    answer,
                    self.list(steps, Some(name), &list, &name.list(&list))?,
                ))
            })
            .collect()
    }

    fn error(&self, span: Range<usize>, step: Option<&StepName>, problem: Problem) -> ScriptError {
        ScriptError {
            position: self.position(span),
            step: step.cloned(),
            problem,
        }
    }

    /// An error of the TOML reader, which does not always know where; then it is at `fallback`.
    fn value_error(
        &self,
        error: &toml::de::Error,
        step: Option<&StepName>,
        fallback: Range<usize>,
    ) -> ScriptError {
        // "field" is the reader's word; what a person sees in TOML are keys.
        let message = error
            .message()
            .replace("unknown field", "unknown key")
            .replace("missing field", "missing key");
        self.error(
            error.span().unwrap_or(fallback),
            step,
            Problem::Value(message),
        )
    }

    fn position(&self, span: Range<usize>) -> Position {
        Position::of(span.start, self.text)
    }
}

#[cfg(test)]
mod tests;
