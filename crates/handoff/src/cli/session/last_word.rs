//! `handoff done` and `handoff block`: what a session says last of its task.

use std::path::{Path, PathBuf};

use handoff_api::{ExitCode, LastWordDocument};
use handoff_core::JsonText;
use handoff_core::task::{Reason, Report, Summary};
use handoff_operations::Failure;
use handoff_session::environment;
use handoff_session::last_word::LastWord;

use super::own_holder::OwnHolder;
use super::tab::Tab;
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct DoneArgs {
    /// What you did, and what is left, for whoever comes next.
    #[arg(long, short, value_name = "TEXT")]
    summary: Option<Summary>,
    /// A file of JSON that you hand over, where the task asks for one; `-` reads it from the standard input.
    #[arg(long, value_name = "FILE")]
    result: Option<PathBuf>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BlockArgs {
    /// What you need a person for.
    #[arg(long, short, value_name = "TEXT")]
    reason: Reason,
    #[command(flatten)]
    tab: Tab,
}

pub(super) fn done(args: DoneArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let report = Report {
        summary: args.summary,
        result: args.result.as_deref().map(result).transpose()?,
    };
    say(&LastWord::Done { report }, &args.tab, ctx)
}

pub(super) fn block(args: BlockArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let reason = args.reason;
    say(&LastWord::Blocked { reason }, &args.tab, ctx)
}

fn result(path: &Path) -> Result<JsonText, Failure> {
    let shown = path.display();
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text =
        text.map_err(|error| Failure::usage(format!("cannot read `{shown}`")).because(&error))?;
    JsonText::parse(&text)
        .map_err(|error| Failure::usage(format!("`{shown}` cannot be handed over")).because(&error))
}

/// Tells the holder of the session that one is in, or that stands for the tab one is in.
fn say(word: &LastWord, tab: &Tab, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match tab.say(word, ctx)? {
        Some(told) => Ok(told),
        None => say_last(word, ctx),
    }
}

/// Tells the holder of the session that one is in.
pub(in crate::cli) fn say_last(word: &LastWord, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let (own, task) = own_task(ctx)?;
    let seq = own.ask(|holder| holder.say_last(word))?;
    if ctx.out.is_json() {
        let document = LastWordDocument {
            session: own.session,
            task: Some(task),
            seq,
        };
        ctx.out.document(LastWordDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    ctx.out.line(match word {
        LastWord::Done { .. } => "Noted. Your work is checked now; there is nothing more to do.",
        LastWord::Blocked { .. } => "Noted. A person is told; there is nothing more to do.",
    })?;
    Ok(ExitCode::Done)
}

fn own_task(ctx: &Context) -> Result<(OwnHolder, String), Failure> {
    let task = ctx.ambient.text(environment::TASK).map(str::to_owned);
    OwnHolder::find(ctx)?.zip(task).ok_or_else(|| {
        Failure::usage("this is no session with a task, so there is nothing to say about one").hint(
            "end a task as a person: `handoff queue complete NAME` or `handoff queue block NAME`",
        )
    })
}
