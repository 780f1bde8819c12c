//! `handoff interrupt`: makes an agent stop what it is doing.

use std::time::Duration;

use handoff_agents::Block;
use handoff_api::{ExitCode, InterruptDocument};
use handoff_operations::session::authority::{Act, require};
use handoff_operations::session::vigil::{Kept, keep};
use handoff_operations::{Failure, session};
use handoff_session::control::Interrupted;
use handoff_session::journal::{self, Event};
use handoff_session::outcome::Outcome;
use handoff_session::{Client, ClientError, Known};

use super::address::Address;
use super::patience::Patience;
use crate::context::Context;

/// What an agent takes to stop, at most.
const STOPPING_TAKES: Duration = Duration::from_secs(10);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,
    /// How long it may take, in seconds or as `1m`.
    #[arg(long, value_name = "SEC")]
    timeout: Option<Patience>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let known = args.address.find_live(ctx)?;
    require(Act::Supervise, &known, ctx)?;
    let client = Client::new(&known.record.socket);
    let pressed = client
        .interrupt()
        .map_err(|error| refused(&known, &error))?;
    let patience = args.timeout.map_or(STOPPING_TAKES, |patience| patience.0);
    if pressed.is_panel {
        let left = keep(&known, Some(patience), ctx, || panel_end(&known, &pressed))?;
        return match left {
            Kept::Found(()) => show(&known, pressed.turn, &Interruption::Panel, ctx),
            Kept::Over => show(
                &known,
                pressed.turn,
                &Interruption::Turn(&Outcome::Died),
                ctx,
            ),
            Kept::TimedOut => Err(still_open(&known)),
        };
    }
    match keep(&known, Some(patience), ctx, || turn_end(&known, &pressed))? {
        Kept::Found(outcome) => show(&known, pressed.turn, &Interruption::Turn(&outcome), ctx),
        Kept::Over => show(
            &known,
            pressed.turn,
            &Interruption::Turn(&Outcome::Died),
            ctx,
        ),
        Kept::TimedOut => Err(still_working(&known)),
    }
}

/// Whether anything else than a panel is to be seen since.
fn panel_end(known: &Known, pressed: &Interrupted) -> Result<Option<()>, Failure> {
    let entries = journal::read(&known.directory)
        .map_err(|error| Failure::failed("cannot read the journal").because(&error))?;
    let mut after = entries.into_iter().filter(|it| it.seq > pressed.seq);
    let is_left = after.any(|entry| {
        let state = entry.event;
        matches!(state, Event::StateChanged { kind, .. } if kind != Some(Block::Panel))
    });
    // It was seen and not published: there is nothing to be seen of its end either.
    let state = journal::last_state(&known.directory).ok().flatten();
    let is_shown = state.is_some_and(|(_, kind)| kind == Some(Block::Panel));
    Ok((is_left || !is_shown).then_some(()))
}

fn still_open(known: &Known) -> Failure {
    let name = &known.record.name;
    let text = format!("`{name}` got the key that leaves a panel, and still shows one");
    Failure::new(ExitCode::TimedOut, text).hint(format!(
        "leave it at its terminal: `handoff attach --id {name}`"
    ))
}

/// The end of the turn that was meant.
pub(super) fn turn_end(known: &Known, pressed: &Interrupted) -> Result<Option<Outcome>, Failure> {
    let entries = journal::read(&known.directory)
        .map_err(|error| Failure::failed("cannot read the journal").because(&error))?;
    let mut after = entries.into_iter().filter(|it| it.seq > pressed.seq);
    Ok(after.find_map(|entry| {
        if let Event::TurnEnded { outcome, .. } = entry.event {
            Some(outcome)
        } else {
            None
        }
    }))
}

pub(super) fn refused(known: &Known, error: &ClientError) -> Failure {
    let name = &known.record.name;
    session::refused(known, error, |reason| {
        format!("there is nothing to interrupt in `{name}`: {reason}")
    })
}

pub(super) fn still_working(known: &Known) -> Failure {
    let name = &known.record.name;
    let text = format!("`{name}` got the keys, and works on all the same");
    Failure::new(ExitCode::TimedOut, text).hint(format!("look at it: `handoff pane --id {name}`"))
}

/// What came of the keys.
enum Interruption<'a> {
    Turn(&'a Outcome),
    Panel,
}

fn show(
    known: &Known,
    turn: u64,
    came: &Interruption<'_>,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let (outcome, how) = match came {
        Interruption::Panel => ("panel_left", "has left its panel"),
        Interruption::Turn(Outcome::Died) => (Outcome::Died.word(), "has ended"),
        Interruption::Turn(outcome) => (outcome.word(), "waits for a message"),
    };
    let name = known.record.name.to_string();
    if ctx.out.is_json() {
        let document = InterruptDocument {
            session: known.record.id.to_string(),
            name,
            turn,
            outcome: outcome.to_owned(),
        };
        ctx.out.document(InterruptDocument::SCHEMA, document)?;
    } else {
        ctx.out.line(format!("{name} {how}"))?;
    }
    Ok(ExitCode::Done)
}
