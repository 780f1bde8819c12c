//! What a worker tells of its work: a line for each thing that happens, or a document.

use std::collections::BTreeMap;

use handoff_api::{ExitCode, WalkedDocument};
use handoff_core::TaskName;
use handoff_engine::reconcile::{Repair, Repaired};
use handoff_engine::{Ending, News, Shift, Walked};
use handoff_operations::Failure;

use super::panel::Panel;
use crate::context::Context;
use crate::output::{Tone, one_line, plain, repair_line, rest_lines, why_it_rests};

/// What came of the tasks so far.
pub(super) struct Reporter {
    shift: Shift,
    panel: Option<Panel>,
    /// How each task ended, the last time: one that was lost and then done is done.
    ended: BTreeMap<TaskName, End>,
    /// Whether somebody told it to stop.
    is_stopped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is done, or comes back by itself.
    Well,
    Badly,
}

impl Reporter {
    pub(super) const fn new(shift: Shift, panel: Option<Panel>) -> Self {
        Self {
            shift,
            panel,
            ended: BTreeMap::new(),
            is_stopped: false,
        }
    }

    pub(super) fn tell(&mut self, news: News<Failure>, ctx: &mut Context) -> Result<(), Failure> {
        self.notice(&news, ctx)?;
        self.say(news, ctx)?;
        match &self.panel {
            Some(panel) => panel.draw(ctx),
            None => Ok(()),
        }
    }

    /// Who is at work now.
    fn notice(&mut self, news: &News<Failure>, ctx: &Context) -> Result<(), Failure> {
        let Some(panel) = &mut self.panel else {
            return Ok(());
        };
        match news {
            News::Begun(task, session) | News::TakenOver(task, session) => {
                panel.begin(task, *session, ctx)
            }
            News::Ended(walked) => {
                panel.end(&walked.name);
                Ok(())
            }
            News::GivenUp(name, _) => {
                panel.end(name);
                Ok(())
            }
            News::Repaired(_) | News::Passing | News::Idle(_) | News::Deaf | News::Stopped => {
                Ok(())
            }
        }
    }

    fn say(&mut self, news: News<Failure>, ctx: &mut Context) -> Result<(), Failure> {
        match news {
            News::Passing => Ok(()),
            News::Repaired(repaired) => repairs(&repaired, ctx),
            // Of one task its end is enough.
            News::Begun(..) if self.shift == Shift::Once => Ok(()),
            News::Begun(task, _) => {
                let name = &task.spec.name;
                note(format!("{name} begins, attempt {}", task.leases()), ctx)
            }
            News::TakenOver(task, _) => {
                let name = &task.spec.name;
                note(
                    format!("{name} goes on: its worker is gone, its session is not"),
                    ctx,
                )
            }
            News::Idle(rests) if rests.is_empty() => {
                note("Nothing is ready; waiting.".to_owned(), ctx)
            }
            News::Idle(rests) => {
                for line in rest_lines(&rests) {
                    note(line, ctx)?;
                }
                Ok(())
            }
            News::Deaf => note(
                "No inotify watch is left here: the worker looks every 2 s instead of being told."
                    .to_owned(),
                ctx,
            ),
            News::Stopped => {
                self.is_stopped = true;
                note(
                    "Told to stop: agents that are at work go on, and the next worker takes them over."
                        .to_owned(),
                    ctx,
                )
            }
            News::Ended(walked) => self.ended(&walked, ctx),
            News::GivenUp(name, failure) => {
                self.ended.insert(name.clone(), End::Badly);
                let causes: Vec<_> = failure.causes.iter().map(|it| one_line(it)).collect();
                let why = [vec![one_line(&failure.message)], causes]
                    .concat()
                    .join(": ");
                // Nothing of it is in the ledger yet: whoever finds its lease without an owner says that it is given back.
                note(format!("{name} was given up here: {why}"), ctx)
            }
        }
    }

    fn ended(&mut self, walked: &Walked, ctx: &mut Context) -> Result<(), Failure> {
        let (ending, reason) = match &walked.ending {
            Ending::Done => ("done", None),
            Ending::Failed(reason) => ("failed", Some(reason.as_str())),
            Ending::Blocked(reason) => ("blocked", Some(reason.as_str())),
            Ending::CalledOff => ("called_off", None),
            Ending::GivenBack(reason) => ("given_back", Some(reason.as_str())),
            Ending::Resting(rest) => ("resting", Some(rest.reason.as_str())),
        };
        // Whoever stays sees what becomes of one that rests.
        let is_for_later = matches!(walked.ending, Ending::Resting(_)) && self.shift != Shift::Once;
        let end = if walked.ending == Ending::Done || is_for_later {
            End::Well
        } else {
            End::Badly
        };
        self.ended.insert(walked.name.clone(), end);
        let task = walked.name.as_str();
        if ctx.out.is_json() {
            let task = Some(task);
            let document = WalkedDocument {
                task,
                ending,
                reason,
            };
            return Ok(ctx.out.document(WalkedDocument::SCHEMA, document)?);
        }
        let (tone, word) = match &walked.ending {
            Ending::Done => (Tone::Good, "done"),
            Ending::Failed(_) => (Tone::Bad, "failed"),
            Ending::Blocked(_) => (Tone::Attention, "blocked"),
            Ending::CalledOff => (Tone::Attention, "called off"),
            Ending::GivenBack(_) => (Tone::Attention, "given back"),
            Ending::Resting(_) => (Tone::Attention, "resting"),
        };
        let reason = match &walked.ending {
            Ending::Resting(rest) => format!(" {}", why_it_rests(rest)),
            Ending::Done
            | Ending::Failed(_)
            | Ending::Blocked(_)
            | Ending::CalledOff
            | Ending::GivenBack(_) => {
                reason.map_or_else(String::new, |reason| format!(": {}", plain(reason)))
            }
        };
        let line = format!("{task} is {}{reason}", ctx.out.styled(tone, word));
        Ok(ctx.out.line(line)?)
    }

    /// How a shift that has an end is told to whoever waited for it.
    pub(super) fn finish(&self, ctx: &mut Context) -> Result<ExitCode, Failure> {
        if self.is_stopped {
            return Ok(ExitCode::Done);
        }
        if self.ended.values().any(|it| *it == End::Badly) {
            return Ok(ExitCode::CheckFailed);
        }
        if !self.ended.is_empty() || self.shift == Shift::UntilEmpty {
            return Ok(ExitCode::Done);
        }
        if ctx.out.is_json() {
            let document = WalkedDocument {
                task: None,
                ending: "nothing_ready",
                reason: None,
            };
            ctx.out.document(WalkedDocument::SCHEMA, document)?;
        } else {
            ctx.out.note("Nothing is ready to be claimed.")?;
        }
        Ok(ExitCode::NothingReady)
    }
}

fn repairs(repaired: &Repaired, ctx: &mut Context) -> Result<(), Failure> {
    // That a worktree goes is what a worker does all day.
    let is_news = |it: &&Repair| !matches!(it, Repair::TreeRetired(_));
    for repair in repaired.repairs.iter().filter(is_news) {
        note(repair_line(repair), ctx)?;
    }
    for (path, error) in &repaired.stuck {
        let why = one_line(&error.to_string());
        let path = path.display();
        note(format!("The worktree `{path}` stays as it is: {why}."), ctx)?;
    }
    Ok(())
}

fn note(text: String, ctx: &mut Context) -> Result<(), Failure> {
    Ok(ctx.out.note(text)?)
}
