//! `handoff answer`: makes a choice in a dialog that an agent shows.

use handoff_agents::Block;
use handoff_api::{AnsweredDocument, DialogDocument, ExitCode};
use handoff_operations::session::dialog::not_understood;
use handoff_operations::session::{AnswerDialog, SeeDialog};
use handoff_operations::{Failure, Span, call};

use super::address::Address;
use super::patience::Patience;
use crate::context::Context;
use crate::output::plain;

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
    let session = args.address.session();
    let Some(choice) = args.choose.clone() else {
        return show(call(SeeDialog { session }, ctx)?, ctx);
    };
    let timeout = args.timeout.map(|patience| Span::new(patience.0));
    let answered = call(
        AnswerDialog {
            session,
            choice,
            timeout,
        },
        ctx,
    )?;
    if ctx.out.is_json() {
        ctx.out.document(AnsweredDocument::SCHEMA, answered)?;
    } else {
        let (name, choice) = (answered.name, plain(&answered.choice));
        ctx.out.line(format!("{name} is answered: {choice}"))?;
    }
    Ok(ExitCode::Done)
}

fn show(dialog: DialogDocument, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(DialogDocument::SCHEMA, dialog)?;
        return Ok(ExitCode::Done);
    }
    let Some(question) = dialog.question else {
        let kind = Block::from_word(&dialog.kind);
        return Err(not_understood(&dialog.name, kind));
    };
    for row in question.lines() {
        ctx.out.line(plain(row))?;
    }
    for (number, choice) in (1..).zip(&dialog.choices) {
        let mark = if dialog.pointed == Some(number) {
            ">"
        } else {
            " "
        };
        ctx.out
            .line(format!("{mark} {number}. {}", plain(choice)))?;
    }
    Ok(ExitCode::Done)
}
