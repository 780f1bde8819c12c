//! `handoff send`: says something to a session.

mod text;

use clap::ValueEnum;
use handoff_api::{ExitCode, MessageDocument};
use handoff_core::IdempotencyKey;
use handoff_operations::operation::permit;
use handoff_operations::session::SendMessage;
use handoff_operations::session::send::Goal;
use handoff_operations::{Failure, Span, call};

pub(super) use self::text::Text;
use super::address::Address;
use super::patience::Patience;
use crate::cli::errand::Reading;
use crate::context::Context;
use crate::output::plain;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    waiting: Waiting,
    /// Type it now, before all that waits, whatever the agent does; but never into a dialog.
    #[arg(long)]
    force: bool,
    /// Type it, and leave Enter to a person.
    #[arg(long)]
    no_submit: bool,
    /// It is a command of the agent's own, as `/compact` is. Without this a message is words, whatever it begins with.
    #[arg(long)]
    as_command: bool,
    /// Give the message up if it has waited this long to be typed.
    #[arg(long, value_name = "SEC")]
    expire: Option<Patience>,
    /// The same key is the same message: repeat the command after an unknown outcome.
    #[arg(long, value_name = "KEY")]
    key: Option<IdempotencyKey>,
}

/// How long a sender stays.
#[derive(Debug, clap::Args)]
struct Waiting {
    /// Return when the agent has taken it, when its turn is over, or with its answer.
    #[arg(long, value_name = "WHAT", default_value = "submitted")]
    wait_for: Stage,
    /// The same as `--wait-for idle`.
    #[arg(long, conflicts_with = "wait_for")]
    wait_for_idle: bool,
    /// Return as soon as the message is safe.
    #[arg(long, conflicts_with_all = ["wait_for", "wait_for_idle"])]
    no_wait: bool,
    /// How long to wait at most, in seconds or as `10m`; the message goes on without you.
    #[arg(long, value_name = "SEC")]
    timeout: Option<Patience>,
}

impl Args {
    pub(super) fn reading(&self) -> Reading {
        self.text.reading()
    }
}

/// How far a message has to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// The agent has taken it.
    Submitted,
    /// Its turn is over.
    Idle,
    /// The same, and the answer is printed.
    Answer,
}

impl Waiting {
    fn goal(&self) -> Goal {
        match (self.no_wait, self.wait_for_idle, self.wait_for) {
            (true, _, _) => Goal::Accepted,
            (false, true, _) | (false, false, Stage::Idle) => Goal::Idle,
            (false, false, Stage::Submitted) => Goal::Submitted,
            (false, false, Stage::Answer) => Goal::Answer,
        }
    }
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    // Before standard input is read.
    permit::<SendMessage>(ctx)?;
    args.address.find_live(ctx)?;
    let goal = args.waiting.goal();
    let span = |patience: Patience| Span::new(patience.0);
    let message = SendMessage {
        session: args.address.session(),
        text: args.text.read()?,
        wait_for: goal,
        force: args.force,
        no_submit: args.no_submit,
        as_command: args.as_command,
        expire: args.expire.map(span),
        key: args.key.clone(),
        timeout: args.waiting.timeout.map(span),
    };
    let document = call(message, ctx)?;
    if ctx.out.is_json() {
        ctx.out.document(MessageDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    match document.answer {
        Some(answer) if goal == Goal::Answer => ctx.out.line(plain(&answer.text))?,
        Some(_) | None => ctx
            .out
            .line(format!("{} {}", document.id, document.state))?,
    }
    Ok(ExitCode::Done)
}
