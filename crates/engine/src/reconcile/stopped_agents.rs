//! An agent that was told to stop because its session was to be paused, and then was not: it is told to go on.

use handoff_core::SessionId;
use handoff_session::journal::{self, Event};
use handoff_session::message::{Finish, Order, TextSense, Urgency};
use handoff_session::{Client, Standing, catalogue};

use crate::pausing::PauseNote;
use crate::places::Places;

const GO_ON: &str =
    "Go on with what you were doing. You were to be paused, and nothing came of it.";

/// Tells the agent of a pause that was undone to go on, once, if it lives and has been stopped and nobody has told it anything since.
/// One that cannot be reached waits for a message, and is shown as one that does.
pub fn let_go_on(note: &PauseNote, places: &Places) {
    if let (Some(session), Some(since)) = (note.session, note.stopped_after) {
        tell(note, session, since, places).unwrap_or_default();
    }
}

fn tell(note: &PauseNote, session: SessionId, since: u64, places: &Places) -> Option<()> {
    let known = catalogue::by_id(&places.of_sessions(), session).ok()??;
    let entries = journal::read(&known.directory).ok()?;
    let turns = entries
        .iter()
        .filter(|it| it.seq > since)
        .map(|it| &it.event);
    let is_turn =
        |event: &&Event| matches!(event, Event::TurnStarted { .. } | Event::TurnEnded { .. });
    let last = { turns }.rfind(is_turn);
    let was_stopped = matches!(last, Some(Event::TurnEnded { .. }));
    if known.standing != Standing::Live || !was_stopped {
        return None;
    }
    let key = format!("unpause/{}/session", note.package);
    let order = Order {
        text: GO_ON.to_owned(),
        key: key.parse().expect("an id and words make a key"),
        finish: Finish::Submit,
        urgency: Urgency::Wait,
        sense: TextSense::Words,
        expires_after: None,
    };
    let sent = Client::new(&known.record.socket).send_message(&order);
    sent.ok().map(drop)
}
