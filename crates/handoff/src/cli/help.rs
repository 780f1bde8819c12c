//! `handoff help`.

mod contents;

use std::io;

use handoff_api::{ExitCode, ExitCodesDocument, HelpDocument};
use handoff_operations::Failure;

pub(super) use self::contents::command;
use super::Cli;
use crate::context::Context;
use crate::output::{Output, Table, Tone};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A command such as `queue claim`, or the topic `exit-codes`.
    topic: Vec<String>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if args.topic == ["exit-codes"] {
        return exit_codes(ctx);
    }
    let mut command = command(ctx.out.width());
    command.build();
    for word in &args.topic {
        let unknown = || {
            Failure::usage(format!("there is no help on {word:?}"))
                .hint("see all commands: `handoff help`")
        };
        command = command.find_subcommand(word).cloned().ok_or_else(unknown)?;
    }
    let text = command.render_long_help().to_string();
    show(text.trim_end(), &mut ctx.out)?;
    Ok(ExitCode::Done)
}

/// Shows a help text, however it was asked for.
pub(super) fn show(text: &str, out: &mut Output) -> io::Result<()> {
    if out.is_json() {
        let text = text.to_owned();
        return out.document(HelpDocument::SCHEMA, HelpDocument { text });
    }
    out.line(text)
}

fn exit_codes(ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out
            .document(ExitCodesDocument::SCHEMA, ExitCodesDocument::all())?;
        return Ok(ExitCode::Done);
    }
    let mut table = Table::new(&["CODE", "NAME", "MEANING"]).wrapped();
    for code in ExitCode::ALL {
        table.row([
            (Tone::Strong, code.number().to_string()),
            (Tone::Active, code.word().to_owned()),
            (Tone::Faint, code.meaning()),
        ]);
    }
    ctx.out.table(&table)?;
    Ok(ExitCode::Done)
}
