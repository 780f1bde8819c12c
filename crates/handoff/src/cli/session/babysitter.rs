//! Staying with a session that is watched: says what its holder finds, and ends when the session does, or when its holder has
//! given up on it.

use handoff_api::{ExitCode, SESSION_EVENT_SCHEMA};
use handoff_operations::Failure;
use handoff_session::Known;
use handoff_session::journal::{Entry, Event};

use super::journal::{Follower, Heard};
use super::viewer;
use crate::context::Context;
use crate::output::Tone;

/// Stays until the session has ended, and says what it exited with.
pub(super) fn stay(known: &Known, ctx: &mut Context) -> Result<u8, Failure> {
    let mut follower = Follower::open(known)?;
    loop {
        match follower.next()? {
            Heard::Entry(entry, _) => hear(&entry, known, ctx)?,
            Heard::Rest if follower.is_over(known)? => {
                let record = handoff_files::Dir::open(&known.directory).ok();
                let record = record.and_then(|it| handoff_session::Record::read(&it).ok()?);
                let ended = Known {
                    record: record.unwrap_or_else(|| known.record.clone()),
                    ..known.clone()
                };
                return viewer::ended(&ended);
            }
            Heard::Rest => follower.wait()?,
        }
    }
}

fn hear(entry: &Entry, known: &Known, ctx: &mut Context) -> Result<(), Failure> {
    let name = &known.record.name;
    let sentence = match &entry.event {
        Event::Stalled { silent_s, .. } => format!("nothing of `{name}` has moved for {silent_s}s"),
        Event::Resumed { resume, of } => format!("`{name}` is told to go on ({resume} of {of})"),
        Event::Blocked { kind, .. } => {
            format!("`{name}` waits for a person ({})", kind.word())
        }
        Event::Escalated { resumes } => return Err(given_up(known, *resumes)),
        Event::Started { .. }
        | Event::StateChanged { .. }
        | Event::Send { .. }
        | Event::Delivered { .. }
        | Event::Answered { .. }
        | Event::Replied { .. }
        | Event::Reported { .. }
        | Event::TurnStarted { .. }
        | Event::TurnEnded { .. }
        | Event::Usage { .. }
        | Event::LogIdle { .. }
        | Event::LogActive { .. }
        | Event::LogCut { .. }
        | Event::Signalled { .. }
        | Event::Refused { .. }
        | Event::FileChanged { .. }
        | Event::Exited { .. }
        | Event::Other => return Ok(()),
    };
    if ctx.out.is_json() {
        return Ok(ctx.out.document(SESSION_EVENT_SCHEMA, entry)?);
    }
    let heading = ctx.out.styled(Tone::Attention, "watch:");
    Ok(ctx.out.note(format!("{heading} {sentence}"))?)
}

fn given_up(known: &Known, resumes: u32) -> Failure {
    let name = &known.record.name;
    let told = match resumes {
        0 => "it was not told to go on".to_owned(),
        1 => "telling it to go on did not help".to_owned(),
        _ => format!("telling it {resumes} times to go on did not help"),
    };
    Failure::new(ExitCode::Stalled, format!("`{name}` is stuck: {told}"))
        .hint(format!(
            "it still runs; look at it: `handoff pane --id {name}`"
        ))
        .hint(format!("sit down at it: `handoff attach --id {name}`"))
}
