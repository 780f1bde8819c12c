//! `handoff signal`: sends a signal to an agent, by the one who started it.

use handoff_api::{ExitCode, SignalDocument};
use handoff_operations::session::authority::{Act, require};
use handoff_operations::{Failure, session};
use handoff_process::SignalName;
use handoff_session::Client;
use handoff_session::control::Reach;

use super::address::Address;
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,
    /// HUP, INT, QUIT, USR1, USR2, TERM, CONT, WINCH or KILL.
    signal: SignalName,
    /// Also to everything that the agent has started.
    #[arg(long)]
    all: bool,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let known = args.address.find_live(ctx)?;
    require(Act::Supervise, &known, ctx)?;
    let to = if args.all { Reach::All } else { Reach::Agent };
    let (name, signal) = (&known.record.name, args.signal);
    let signalled = Client::new(&known.record.socket).signal(signal, to);
    let processes = signalled
        .map_err(|error| {
            session::refused(&known, &error, |reason| {
                format!("`{name}` gets no signal: {reason}")
            })
        })?
        .processes;
    if ctx.out.is_json() {
        let document = SignalDocument {
            session: known.record.id.to_string(),
            name: name.to_string(),
            signal: signal.word().to_owned(),
            processes,
        };
        ctx.out.document(SignalDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let whom = match processes.len() {
        1 => String::new(),
        many => format!(" ({many} processes)"),
    };
    ctx.out.line(format!("{name} got {signal}{whom}"))?;
    Ok(ExitCode::Done)
}
