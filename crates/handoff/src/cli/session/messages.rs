//! `handoff messages`: what was said to a session.

use handoff_api::{ExitCode, MessageDocument, MessagesDocument};
use handoff_core::MessageId;
use handoff_operations::Failure;
use handoff_operations::session::letter::{because, document, letter, letters, words};
use handoff_session::Known;
use handoff_session::inbox::Letter;
use handoff_session::message::Progress;

use super::address::Address;
use crate::context::Context;
use crate::output::{Table, Tone, plain};

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    address: Option<Address>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// All messages to a session, the oldest first.
    List(ListArgs),
    /// One message, and what the agent answered.
    Show(ShowArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    address: Address,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    address: Address,
    /// The id of the message.
    message: MessageId,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match (&args.command, &args.address) {
        (Some(Command::Show(args)), _) => show(args, ctx),
        (Some(Command::List(ListArgs { address })), _) | (None, Some(address)) => {
            list(address, ctx)
        }
        (None, None) => {
            let failure = Failure::usage("the session is not named");
            Err(failure.hint("see which there are: `handoff ps`"))
        }
    }
}

fn list(address: &Address, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let known = address.find(ctx)?;
    let letters = letters(&known)?;
    if ctx.out.is_json() {
        let messages = letters.iter().map(|it| document(it, &known)).collect();
        let document = MessagesDocument { messages };
        ctx.out.document(MessagesDocument::SCHEMA, document)?;
    } else if letters.is_empty() {
        let name = &known.record.name;
        ctx.out
            .note(format!("Nobody has sent anything to {name} yet."))?;
    } else {
        ctx.out.table(&table(&letters, &known))?;
    }
    Ok(ExitCode::Done)
}

fn table(letters: &[Letter], known: &Known) -> Table {
    let mut table = Table::new(&["MESSAGE", "STATE", "FROM", "TEXT"]);
    for letter in letters {
        let message = &letter.message;
        let from = message.from.as_ref();
        table.row([
            (Tone::Faint, message.id.to_string()),
            (tone(letter.progress()), state(letter, known)),
            (
                Tone::Plain,
                from.map_or_else(|| "-".to_owned(), |from| from.name.to_string()),
            ),
            (Tone::Plain, message.order.text.clone()),
        ]);
    }
    table
}

const fn tone(progress: &Progress) -> Tone {
    match progress {
        Progress::Queued { .. } => Tone::Attention,
        Progress::Written { .. } | Progress::Submitted { .. } => Tone::Active,
        Progress::Answered { .. } => Tone::Good,
        Progress::Failed { .. } | Progress::Expired => Tone::Bad,
    }
}

fn state(letter: &Letter, known: &Known) -> String {
    let word = letter.progress().word();
    match because(letter, known.standing) {
        Some(because) => format!("{word} ({})", because.word()),
        None => word.to_owned(),
    }
}

fn show(args: &ShowArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let known = args.address.find(ctx)?;
    let letter = letter(&known, args.message)?;
    if ctx.out.is_json() {
        let document = document(&letter, &known);
        ctx.out.document(MessageDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let message = &letter.message;
    let from = message.from.as_ref().map(|from| from.name.to_string());
    ctx.out.line(format!(
        "{} to {}, from {}",
        message.id,
        known.record.name,
        from.as_deref().unwrap_or("outside of sessions")
    ))?;
    for step in &letter.history {
        let because = step.progress.because();
        let because = because.map(|it| format!(": {}", it.meaning()));
        let (at, word) = (step.at, step.progress.word());
        ctx.out
            .line(format!("  {at}  {word}{}", because.unwrap_or_default()))?;
    }
    if let (Progress::Queued { .. }, Some(because)) =
        (letter.progress(), because(&letter, known.standing))
    {
        ctx.out.line(format!("  now: {}", because.meaning()))?;
    }
    ctx.out.line(format!("\n{}", plain(&message.order.text)))?;
    if let Progress::Failed {
        lost: Some(lost), ..
    } = letter.progress()
    {
        let (turn, how) = (lost.turn, lost.outcome.meaning());
        ctx.out.line(format!("\nturn {turn} {}", plain(&how)))?;
    }
    if let Some(answer) = words(letter.progress()) {
        let source = answer.source.word();
        let what = if matches!(letter.progress(), Progress::Answered { .. }) {
            "answer"
        } else {
            "said until then"
        };
        ctx.out.line(format!(
            "\n{what} (from the {source}):\n{}",
            plain(&answer.text)
        ))?;
    }
    Ok(ExitCode::Done)
}
