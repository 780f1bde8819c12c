//! `handoff answer`: makes a choice in a dialog that an agent shows.

use std::time::Duration;

use handoff_api::{AnsweredDocument, DialogDocument, ExitCode};
use handoff_files::Watch;
use handoff_session::control::{Asking, Reply};
use handoff_session::dialog::{ChoiceError, Dialog, Wish};
use handoff_session::journal::{self, Event};
use handoff_session::{Client, ClientError, Known, place};

use super::address::{self, Address};
use super::authority::{Act, require};
use super::patience::Patience;
use super::vigil::{Kept, keep};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::plain;

/// What an agent takes to react, at most.
const REACTING_TAKES: Duration = Duration::from_secs(10);

/// How long a question may take to be painted.
const PAINTING_TAKES: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,
    /// The number of a choice, `yes` or `no` for this time only, or words of a choice; without it, what is asked is shown.
    #[arg(long, value_name = "N|yes|no|TEXT")]
    choose: Option<String>,
    /// Show what is asked, and answer nothing.
    #[arg(long, conflicts_with = "choose")]
    show: bool,
    /// How long the agent may take to react, in seconds or as `1m`.
    #[arg(long, value_name = "SEC")]
    timeout: Option<Patience>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let known = args.address.find_live(ctx)?;
    if args.choose.is_some() {
        require(Act::Answer, &known, ctx)?;
    }
    let client = Client::new(&known.record.socket);
    let asking = asking(&known, &client, ctx)?;
    let Some(wish) = &args.choose else {
        return show(&known, asking, ctx);
    };
    let dialog = asking.dialog.ok_or_else(|| not_understood(&known))?;
    let choice = dialog
        .find(&Wish::from(wish.as_str()))
        .map_err(|error| no_choice(&known, &dialog, &error))?;
    let reply = Reply { dialog, choice };
    let begun = client
        .reply(&reply)
        .map_err(|error| refused(&known, &error))?;
    let patience = args.timeout.map_or(REACTING_TAKES, |patience| patience.0);
    match keep(&known, Some(patience), ctx, || look(&known, begun.seq))? {
        Kept::Found((choice, true)) => answered(&known, &choice, ctx),
        Kept::Over => Err(over(&known)),
        Kept::Found((_, false)) | Kept::TimedOut => Err(no_reaction(&known)),
    }
}

/// What is asked. An agent may say that it asks before its question is painted.
pub(in crate::cli) fn asking(
    known: &Known,
    client: &Client,
    ctx: &Context,
) -> Result<Asking, Failure> {
    let clock = ctx.clock()?;
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

fn show(known: &Known, asking: Asking, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let kind = asking.kind.word();
    if ctx.out.is_json() {
        let dialog = asking.dialog;
        let document = DialogDocument {
            session: known.record.id.to_string(),
            name: known.record.name.to_string(),
            kind: kind.to_owned(),
            question: dialog.as_ref().map(|it| it.question.join("\n")),
            pointed: dialog.as_ref().and_then(|it| it.pointed).map(|at| at + 1),
            choices: dialog.map_or_else(Vec::new, |it| {
                it.choices.into_iter().map(|choice| choice.label).collect()
            }),
        };
        ctx.out.document(DialogDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let dialog = asking.dialog.ok_or_else(|| not_understood(known))?;
    for row in &dialog.question {
        ctx.out.line(plain(row))?;
    }
    for row in listed(&dialog) {
        ctx.out.line(row)?;
    }
    Ok(ExitCode::Done)
}

fn listed(dialog: &Dialog) -> Vec<String> {
    let choices = (1..).zip(&dialog.choices);
    choices
        .map(|(number, choice)| {
            let is_pointed = dialog.pointed == Some(number - 1);
            let mark = if is_pointed { ">" } else { " " };
            format!("{mark} {number}. {}", plain(&choice.label))
        })
        .collect()
}

fn answered(known: &Known, choice: &str, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let name = known.record.name.to_string();
    if ctx.out.is_json() {
        let document = AnsweredDocument {
            session: known.record.id.to_string(),
            name,
            choice: choice.to_owned(),
        };
        ctx.out.document(AnsweredDocument::SCHEMA, document)?;
    } else {
        let choice = plain(choice);
        ctx.out.line(format!("{name} is answered: {choice}"))?;
    }
    Ok(ExitCode::Done)
}

fn refused(known: &Known, error: &ClientError) -> Failure {
    let name = &known.record.name;
    address::refused(known, error, |reason| format!("in `{name}` {reason}"))
}

fn not_understood(known: &Known) -> Failure {
    let name = &known.record.name;
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
