//! Telling the sender what a message came to.

use handoff_api::{ExitCode, MessageDocument};
use handoff_core::MessageId;
use handoff_session::inbox::Letter;
use handoff_session::message::{Because, Progress};
use handoff_session::{Known, journal};

use super::goal::Arrival;
use crate::failure::Failure;
use crate::session::address::{SessionRef, lost};
use crate::session::letter::{document, letter};
use crate::session::lost_turn;
use crate::session::way_out::way_out;
use crate::workplace::Workplace;

/// What a message has come to, or why it has not come to what was waited for.
pub(super) fn arrived(
    known: &Known,
    letter: &Letter,
    arrival: Arrival,
) -> Result<MessageDocument, Failure> {
    let (name, id) = (&known.record.name, letter.message.id);
    match arrival {
        Arrival::Reached => Ok(document(letter, known)),
        Arrival::Unseen => {
            let text =
                format!("the message {id} was typed, and nothing shows whether `{name}` took it");
            Err(Failure::new(ExitCode::OutcomeUnknown, text)
                .hint(format!("look at it: `handoff pane --id {name}`")))
        }
        Arrival::Lost(lost) => Err(lost_turn::failure(known, lost.turn, &lost.outcome)),
        Arrival::Failed(because) => Err(failed(known, because)),
        Arrival::Expired => Err(Failure::failed(format!(
            "the message {id} has expired: `{name}` did not read in time"
        ))),
        Arrival::Blocked => Err(blocked(known, letter)),
    }
}

fn failed(known: &Known, because: Because) -> Failure {
    let name = &known.record.name;
    let text = format!("`{name}` did not get the message: {}", because.meaning());
    match because {
        Because::Dialog => Failure::new(ExitCode::Blocked, text).hint(format!(
            "see what it asks: `handoff answer --id {name} --show`"
        )),
        Because::Starting
        | Because::Busy
        | Because::Blocked
        | Because::Unknown
        | Because::Draft
        | Because::Turn
        | Because::Left
        | Because::NotTaken
        | Because::Unseen
        | Because::Unstored
        | Because::Ended
        | Because::TurnFailed
        | Because::Interrupted
        | Because::Refused
        | Because::Limit
        | Because::Died
        | Because::Unclear
        | Because::Other => {
            Failure::failed(text).hint(format!("look at it: `handoff pane --id {name}`"))
        }
    }
}

fn blocked(known: &Known, letter: &Letter) -> Failure {
    let name = &known.record.name;
    let kind = journal::last_state(&known.directory).ok().flatten();
    let kind = kind.and_then(|(_, kind)| kind);
    let hint = way_out(name.as_str(), kind);
    let kind = kind.map_or_else(String::new, |kind| format!(" ({})", kind.word()));
    let so_far = match letter.progress() {
        Progress::Queued { .. } => "the message waits and will be typed after that",
        Progress::Written { .. }
        | Progress::Submitted { .. }
        | Progress::Answered { .. }
        | Progress::Failed { .. }
        | Progress::Expired => "it has taken the message",
    };
    Failure::new(
        ExitCode::Blocked,
        format!("`{name}` waits for a person{kind}; {so_far}"),
    )
    .hint(hint)
}

pub(super) fn over(
    known: &Known,
    id: MessageId,
    session: &SessionRef,
    here: &Workplace,
) -> Result<Failure, Failure> {
    let name = &known.record.name;
    let now = session.find(here)?;
    if now.record.id == known.record.id && now.record.ended.is_none() {
        return Ok(lost(&now));
    }
    let word = letter(known, id)?.progress().word();
    let text = format!("the session `{name}` has ended; the message {id} was {word}");
    Ok(Failure::failed(text).hint(format!("see what it printed: `handoff logs --id {name}`")))
}

pub(super) fn timed_out(known: &Known, letter: &Letter) -> Failure {
    let (name, id) = (&known.record.name, letter.message.id);
    let progress = letter.progress();
    let because = progress.because();
    let because = because.map_or_else(String::new, |it| format!(", because {}", it.meaning()));
    let word = progress.word();
    Failure::new(
        ExitCode::TimedOut,
        format!("the message {id} is still {word}{because}"),
    )
    .hint(format!(
        "it goes on without you: `handoff messages show --id {name} {id}`"
    ))
}
