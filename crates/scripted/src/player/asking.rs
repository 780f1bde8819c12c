//! What the agent asks and reads.

use handoff_agents::scripted::{Ask, Expect, Message, PromptContains};

use super::Player;
use crate::outcome::{Failure, Stop};
use crate::prompt::Prompt;
use crate::terminal::dialog;

impl<'s> Player<'s> {
    pub(super) fn expect(&mut self, expect: &Expect) -> Result<(), Failure> {
        let part = self.render(&expect.part);
        let line = self
            .terminal
            .line_with(&part, expect.echo, expect.timeout)?;
        self.variables.set_read(&line, expect.save_as.as_ref());
        Ok(())
    }

    pub(super) fn message(&mut self, message: &Message) -> Result<(), Stop> {
        let prompt = self.render(&message.prompt);
        let text = self.terminal.message(&prompt, message.timeout)?;
        self.variables.set_read(&text, message.save_as.as_ref());
        Ok(())
    }

    pub(super) fn ask(&mut self, ask: &'s Ask) -> Result<(), Stop> {
        let dialog = dialog(&self.render(&ask.question), &self.render_all(&ask.choices));
        let (answer, typed) = self.terminal.answer(&dialog, ask)?;
        self.variables.set_read(&typed, ask.save_as.as_ref());
        match ask.on.get(&answer) {
            Some(steps) => self.steps(steps),
            None => Ok(()),
        }
    }

    pub(super) fn read_prompt(&mut self) -> Result<(), Failure> {
        if self.prompt.is_none() {
            let prompt = Prompt::read(&self.variables, &self.cwd, &mut self.terminal.input)?;
            self.variables.set("prompt", &prompt.text);
            self.prompt = Some(prompt);
        }
        Ok(())
    }

    pub(super) fn prompt_contains(&mut self, wanted: &PromptContains) -> Result<(), Failure> {
        self.read_prompt()?;
        let part = self.render(&wanted.part);
        let prompt = self.prompt.as_ref().expect("the prompt was just read");
        prompt.check_contains(&part)
    }
}
