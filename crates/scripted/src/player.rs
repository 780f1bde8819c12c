//! Plays a script, one step after the other.
//!
//! Here is the order of things; what each action does is in the modules below, which are named like
//! those of the actions in `handoff_agents::scripted`.

mod asking;
mod doing;
mod ending;
mod showing;

use std::path::PathBuf;
use std::process;

use handoff_agents::scripted::{Action, Repeat, Script, Step, Text};

use crate::input::Input;
use crate::outcome::{Outcome, StepFailure, Stop};
use crate::output::Output;
use crate::prompt::Prompt;
use crate::signals;
use crate::terminal::Terminal;
use crate::variables::Variables;
use crate::world::World;

/// Plays `script` in `world`. Returns when it ends; a script that hangs or dies never does.
pub fn play(script: &Script, world: World) -> Outcome {
    let mut player = Player::new(world);
    match (player.steps(&script.steps), player.current) {
        (Ok(()), _) => Outcome::Finished,
        (Err(Stop::Exit(code)), _) => Outcome::Exited(code),
        (Err(Stop::Failure(failure)), step) => {
            let step = step.expect("what failed is a step");
            Outcome::Failed(StepFailure::new(step, failure))
        }
    }
}

struct Player<'s> {
    terminal: Terminal,
    stderr: Output,
    cwd: PathBuf,
    variables: Variables,
    prompt: Option<Prompt>,
    /// The step that was begun last. Nothing is played after a failure, so this is what failed.
    current: Option<&'s Step>,
}

impl<'s> Player<'s> {
    fn new(world: World) -> Self {
        Self {
            terminal: Terminal {
                input: Input::new(world.stdin),
                output: Output::new(world.stdout),
            },
            stderr: Output::new(world.stderr),
            cwd: world.cwd,
            variables: Variables::new(world.environment, process::id()),
            prompt: None,
            current: None,
        }
    }

    fn steps(&mut self, steps: &'s [Step]) -> Result<(), Stop> {
        for step in steps {
            if step
                .when
                .as_ref()
                .is_none_or(|when| self.variables.holds(when))
            {
                self.current = Some(step);
                self.act(&step.action)?;
            }
        }
        Ok(())
    }

    fn act(&mut self, action: &'s Action) -> Result<(), Stop> {
        match action {
            Action::Print(print) => self.print(print)?,
            Action::Bytes(bytes) => self.terminal.output.bytes(bytes.bytes.as_slice())?,
            Action::Title(title) => self.title(title)?,
            Action::Osc(osc) => self.osc(osc)?,
            Action::BracketedPaste(paste) => self.bracketed_paste(paste)?,
            Action::Screen(screen) => self.screen(screen)?,
            Action::LeaveScreen(_) => self.leave_screen()?,
            Action::Flood(flood) => self.terminal.output.flood(flood)?,
            Action::Expect(expect) => self.expect(expect)?,
            Action::Message(message) => self.message(message)?,
            Action::Ask(ask) => self.ask(ask)?,
            Action::ReadPrompt(_) => self.read_prompt()?,
            Action::PromptContains(wanted) => self.prompt_contains(wanted)?,
            Action::Write(write) => self.write(write)?,
            Action::Append(append) => self.append(append)?,
            Action::Delete(delete) => self.delete(delete)?,
            Action::Git(git) => self.git(git)?,
            Action::Run(run) => self.run(run)?,
            Action::Spawn(spawn) => self.spawn(spawn)?,
            Action::Ignore(ignore) => ignore.signals.iter().try_for_each(signals::ignore)?,
            Action::Wait(wait) => ending::wait(wait),
            Action::WaitFor(wait) => self.wait_for(wait)?,
            Action::Repeat(repeat) => self.repeat(repeat)?,
            Action::Spin(spin) => ending::spin(spin),
            Action::Exit(exit) => return Err(Stop::Exit(exit.code)),
            Action::Die(die) => return Err(signals::die_by(die.signal).into()),
            Action::Hang(_) => ending::hang(),
        }
        Ok(())
    }

    fn repeat(&mut self, repeat: &'s Repeat) -> Result<(), Stop> {
        for round in 1..=repeat.rounds.get() {
            self.variables.set("round", round.to_string());
            self.steps(&repeat.steps)?;
        }
        Ok(())
    }

    fn render(&self, text: &Text) -> String {
        self.variables.render(text)
    }

    fn render_all(&self, texts: &[Text]) -> Vec<String> {
        texts.iter().map(|text| self.render(text)).collect()
    }
}
