//! What an agent asks, and making a choice in it.

use std::time::Duration;

use handoff_agents::Block;
use handoff_api::{AnsweredDocument, DialogDocument, ExitCode};
use handoff_core::Action;
use handoff_core::visible::plain;
use handoff_files::Watch;
use handoff_session::control::{Asking, Reply};
use handoff_session::dialog::{ChoiceError, Dialog, Wish};
use handoff_session::journal::{self, Event};
use handoff_session::{Client, ClientError, Known, place};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::{self, SessionRef};
use super::authority::{Act, require};
use super::vigil::{Kept, keep};
use super::way_out::way_out;
use crate::failure::Failure;
use crate::operation::{Effect, Needs, Operation, Takes};
use crate::span::Span;
use crate::workplace::Workplace;

/// What an agent takes to react, at most.
const REACTING_TAKES: Duration = Duration::from_secs(10);

/// How long a question may take to be painted.
const PAINTING_TAKES: Duration = Duration::from_secs(2);

/// Show what an agent asks, with its choices in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeeDialog {
    /// The session that asks.
    pub session: SessionRef,
}

/// Make a choice in the dialog that an agent shows.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerDialog {
    /// The session that asks.
    pub session: SessionRef,
    /// The number of a choice, `yes` or `no` for this time only, or words of a choice.
    pub choice: String,
    /// How long the agent may take to react, such as `10s`.
    #[serde(default)]
    pub timeout: Option<Span>,
}

impl Operation for SeeDialog {
    type Response = DialogDocument;

    const NAME: &'static str = "see_dialog";
    const EFFECT: Effect = Effect::Reads;
    const NEEDS: Needs = Needs::Action(Action::Read);
    const TAKES: Takes = Takes::Moment;

    fn perform(self, here: &Workplace) -> Result<DialogDocument, Failure> {
        let known = self.session.find_live(here)?;
        let asking = asking(&known, &Client::new(&known.record.socket), here)?;
        let kind = asking.kind.word().to_owned();
        let dialog = asking.dialog;
        Ok(DialogDocument {
            session: known.record.id.to_string(),
            name: known.record.name.to_string(),
            kind,
            question: dialog.as_ref().map(|it| it.question.join("\n")),
            pointed: dialog.as_ref().and_then(|it| it.pointed).map(|at| at + 1),
            choices: dialog.map_or_else(Vec::new, |it| {
                it.choices.into_iter().map(|choice| choice.label).collect()
            }),
        })
    }
}

impl Operation for AnswerDialog {
    type Response = AnsweredDocument;

    const NAME: &'static str = "answer";
    const EFFECT: Effect = Effect::Changes;
    const NEEDS: Needs = Needs::AnswerOfSession;
    const TAKES: Takes = Takes::Waits;

    fn perform(self, here: &Workplace) -> Result<AnsweredDocument, Failure> {
        let known = self.session.find_live(here)?;
        require(Act::Answer, &known, here)?;
        let client = Client::new(&known.record.socket);
        let asking = asking(&known, &client, here)?;
        let dialog = asking
            .dialog
            .ok_or_else(|| not_understood(known.record.name.as_str(), asking.kind))?;
        let choice = dialog
            .find(&Wish::from(self.choice.as_str()))
            .map_err(|error| no_choice(&known, &dialog, &error))?;
        let reply = Reply { dialog, choice };
        let begun = client
            .reply(&reply)
            .map_err(|error| refused(&known, &error))?;
        let patience = self.timeout.map_or(REACTING_TAKES, Span::duration);
        match keep(&known, Some(patience), here, || look(&known, begun.seq))? {
            Kept::Found((choice, true)) => Ok(AnsweredDocument {
                session: known.record.id.to_string(),
                name: known.record.name.to_string(),
                choice,
            }),
            Kept::Over => Err(over(&known)),
            Kept::Found((_, false)) | Kept::TimedOut => Err(no_reaction(&known)),
        }
    }
}

/// What is asked. An agent may say that it asks before its question is painted.
pub fn asking(known: &Known, client: &Client, here: &Workplace) -> Result<Asking, Failure> {
    let clock = here.clock()?;
    let now = || clock.now().moment.awake;
    let deadline = now().after(PAINTING_TAKES);
    let mut watch = Watch::on_growth(&place::transcript(&known.directory))
        .map_err(|error| Failure::failed("cannot watch the session").because(&error))?;
    loop {
        let asking = client.asking().map_err(|error| refused(known, &error))?;
        let left = deadline.since(now());
        if asking.dialog.is_some() || left.is_zero() {
            return Ok(asking);
        }
        // Whatever wakes us, we look.
        drop(watch.wait(Some(left)));
    }
}

/// What became of the choice.
fn look(known: &Known, after: u64) -> Result<Option<(String, bool)>, Failure> {
    let entries = journal::read(&known.directory)
        .map_err(|error| Failure::failed("cannot read the journal").because(&error))?;
    let mut later = entries.into_iter().filter(|entry| entry.seq > after);
    Ok(later.find_map(|entry| {
        if let Event::Answered { choice, is_taken } = entry.event {
            Some((choice, is_taken))
        } else {
            None
        }
    }))
}

fn refused(known: &Known, error: &ClientError) -> Failure {
    let name = &known.record.name;
    address::refused(known, error, |reason| format!("in `{name}` {reason}"))
}

/// A question that cannot be answered from here.
#[must_use]
pub fn not_understood(name: &str, kind: Block) -> Failure {
    if kind == Block::Panel {
        let text = format!("`{name}` asks nothing: a panel is open");
        return Failure::failed(text).hint(way_out(name, Some(kind)));
    }
    let text = format!("`{name}` asks something that has no choices we could read");
    Failure::failed(text).hint(format!(
        "answer it at its terminal: `handoff attach --id {name}`"
    ))
}

fn no_choice(known: &Known, dialog: &Dialog, error: &ChoiceError) -> Failure {
    let name = &known.record.name;
    let choices = (1..).zip(&dialog.choices);
    choices.fold(
        Failure::usage(error.to_string()),
        |failure, (number, choice)| {
            let label = plain(&choice.label);
            failure.hint(format!(
                "{label}: `handoff answer --id {name} --choose {number}`"
            ))
        },
    )
}

fn no_reaction(known: &Known) -> Failure {
    let name = &known.record.name;
    let text = format!(
        "the choice was not made in `{name}`: the keys did nothing, or the question went away before"
    );
    Failure::new(ExitCode::TimedOut, text).hint(format!("look at it: `handoff pane --id {name}`"))
}

/// Nobody is left who could tell.
fn over(known: &Known) -> Failure {
    let name = &known.record.name;
    let text = format!("`{name}` ended before anybody could tell whether it took the answer");
    Failure::new(ExitCode::Unavailable, text).hint(format!("see how: `handoff status --id {name}`"))
}
