//! Calling a person: the one command of the user's configuration, with what is needed as JSON on its standard input. Each
//! thing is told once, whichever worker finds it.

use std::time::Duration;

use handoff_api::SummonsDocument;
use handoff_core::Digest;
use handoff_engine::{Call, Need};
use handoff_files::{Dir, Mode, atomic};
use handoff_process::{Program, Stdin};

use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Format, Output};

/// A command that takes longer does something else than telling.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tells a person: whoever sits at this terminal that an agent asks something, and whoever is called by a command, if there is one
/// and nobody has told this before. Nothing fails because nobody could be told.
pub(crate) fn summon(call: &Call<'_>, ctx: &Context) {
    if let Need::Answer(kind) = call.need {
        Output::new(&ctx.ambient, Format::Text)
            .interject(&question(call, kind))
            .ok();
    }
    try_summon(call, ctx).ok();
}

/// Other ends of a task are told where they are recorded; a question has no such place.
fn question(call: &Call<'_>, kind: &str) -> String {
    let (task, session) = (&call.task.spec.name, call.session);
    format!(
        "{task}: its agent waits for a person ({kind}): `handoff answer --id {session}`, or `handoff attach --id {session}`"
    )
}

fn try_summon(call: &Call<'_>, ctx: &Context) -> Result<(), Failure> {
    let Some((name, arguments)) = command(ctx)? else {
        return Ok(());
    };
    let document = document(call);
    if !is_news(&document, ctx)? {
        return Ok(());
    }
    let mut text = serde_json::to_vec(&document).expect("it has only text as keys");
    text.push(b'\n');
    let mut program = Program::new(name, ctx.home()?).with_arguments(arguments);
    program.environment = ctx.ambient.environment.clone();
    program.stdin = Stdin::Bytes(text);
    handoff_process::output(&program, Some(PATIENCE))
        .map(drop)
        .map_err(|error| Failure::failed("cannot tell anybody").because(&error))
}

fn command(ctx: &Context) -> Result<Option<(String, Vec<String>)>, Failure> {
    let command = ctx.config()?.notify.command;
    let split = command.split_first();
    Ok(split.map(|(name, rest)| (name.clone(), rest.to_vec())))
}

fn document<'a>(call: &Call<'a>) -> SummonsDocument<'a> {
    let (need, detail) = match call.need {
        Need::Answer(kind) => ("answer", kind),
        Need::Help(reason) => ("help", reason.as_str()),
        Need::Look(reason) => ("look", reason.as_str()),
    };
    SummonsDocument {
        schema: SummonsDocument::SCHEMA,
        need,
        detail,
        task: call.task.spec.name.as_str(),
        task_id: call.task.id.to_string(),
        attempt: call.task.fence.number(),
        session: call.session.to_string(),
    }
}

/// Whether nobody has told this before. The mark comes first: told once at most.
fn is_news(document: &SummonsDocument<'_>, ctx: &Context) -> Result<bool, Failure> {
    let text = serde_json::to_vec(document).expect("it has only text as keys");
    let dir = Dir::create_private(&ctx.home()?.join("summons"))
        .map_err(|error| Failure::failed("cannot tell what was told").because(&error))?;
    let name = Digest::of(&text).to_string();
    Ok(atomic::create_new(&dir, &name, b"", Mode::Private).is_ok())
}
