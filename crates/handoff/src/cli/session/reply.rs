//! `handoff reply`: says something to whoever started this session.

use handoff_api::{ExitCode, ReplyDocument};
use handoff_core::SessionId;
use handoff_operations::session::{places, unreachable, unreadable};
use handoff_operations::{Failure, fresh_key};
use handoff_session::control::message::LONGEST_REPLY;
use handoff_session::message::{Finish, Order, TextSense, Urgency};
use handoff_session::{Client, Known, Standing, catalogue, environment};

use super::own_holder::OwnHolder;
use super::send::Text;
use crate::cli::errand::Reading;
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    text: Text,
}

impl Args {
    pub(super) fn reading(&self) -> Reading {
        self.text.reading()
    }
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let Some(own) = OwnHolder::find(ctx)? else {
        return Err(
            Failure::usage("this is no session, so nobody waits for a reply")
                .hint("say something to a session: `handoff send --id NAME --message TEXT`"),
        );
    };
    let text = args.text.read()?;
    if text.len() > LONGEST_REPLY {
        let text = format!("a reply has at most {} KiB of text", LONGEST_REPLY / 1024);
        return Err(Failure::usage(text).hint("put it into a file, and say where that is"));
    }
    let seq = own.ask(|holder| holder.reply_to_starter(&text))?;
    let told = tell_parent(text, ctx)?;
    show(own, seq, told, ctx)
}

/// The session that started this one, if it lives. Its record is there: this one was started after it was written, or by a
/// command that had to wait for its holder.
fn parent(ctx: &Context) -> Result<Option<Known>, Failure> {
    let variable = environment::PARENT;
    let Some(id) = ctx.ambient.text(variable) else {
        return Ok(None);
    };
    let id: SessionId = id.parse().map_err(|error| {
        Failure::usage(format!("{variable} is not the id of a session")).because(&error)
    })?;
    let known = catalogue::by_id(&places(ctx)?, id).map_err(|error| unreadable(&error))?;
    Ok(known.filter(|known| known.standing == Standing::Live))
}

/// A session that started this one gets a message. One that has ended has nobody to read it, and the reply is on record.
fn tell_parent(text: String, ctx: &Context) -> Result<Option<String>, Failure> {
    let Some(parent) = parent(ctx)? else {
        return Ok(None);
    };
    let order = Order {
        text,
        key: fresh_key(),
        finish: Finish::Submit,
        urgency: Urgency::Wait,
        sense: TextSense::Words,
        expires_after: None,
    };
    let sent = Client::new(&parent.record.socket)
        .send_message(&order)
        .map_err(|error| unreachable(&parent, &error))?;
    Ok(Some(sent.message.to_string()))
}

fn show(
    own: OwnHolder,
    seq: u64,
    message: Option<String>,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        let document = ReplyDocument {
            session: own.session,
            seq,
            message,
        };
        ctx.out.document(ReplyDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let how = match message {
        Some(message) => format!("the session that started this one gets it as {message}"),
        None => "whoever waits for it gets it".to_owned(),
    };
    ctx.out.line(how)?;
    Ok(ExitCode::Done)
}
