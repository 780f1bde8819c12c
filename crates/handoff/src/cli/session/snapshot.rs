//! Where a session stands, as its files and its holder show it. Its agent is not asked.

use handoff_core::task::Reason;
use handoff_package::payload::SessionState;
use handoff_session::inbox::{self, Letter};
use handoff_session::journal::{self, Event};
use handoff_session::message::Progress;
use handoff_session::{Client, Known};

/// So many of its last words are kept.
const ANSWERS: usize = 5;
/// A text that is longer is cut.
const LONGEST: usize = 16 * 1024;

/// Where a session stands.
pub(crate) fn snapshot(known: &Known) -> Option<SessionState> {
    let letters = inbox::read(&known.directory).unwrap_or_default();
    let events = journal::read(&known.directory).unwrap_or_default();
    let client = Client::new(&known.record.socket);
    let conversation = client.status().ok().and_then(|it| it.conversation);
    let screen = client.screen().ok().map(|it| it.lines.join("\n"));
    let turns = events.iter().filter_map(|entry| {
        let Event::TurnStarted { turn } = entry.event else {
            return None;
        };
        Some(turn)
    });
    Some(SessionState {
        name: known.record.name.as_str().parse().ok()?,
        agent: known.record.agent.parse().ok()?,
        conversation: conversation.and_then(|it| it.parse().ok()),
        turns: turns.max().unwrap_or(0),
        answers: answers(&letters, &events),
        inbox: letters.iter().filter_map(waiting).collect(),
        screen: screen.and_then(|it| cut(it.trim())),
    })
}

/// What it said last: its answers, and what it said to whoever started it.
fn answers(letters: &[Letter], events: &[journal::Entry]) -> Vec<Reason> {
    let replies = events.iter().filter_map(|entry| {
        let Event::Replied { msg } = &entry.event else {
            return None;
        };
        Some((entry.ts, msg.as_str()))
    });
    let answered = letters.iter().filter_map(|letter| match letter.progress() {
        Progress::Answered { answer, .. } => {
            Some((letter.history.last()?.at, answer.text.as_str()))
        }
        Progress::Queued { .. }
        | Progress::Written { .. }
        | Progress::Submitted { .. }
        | Progress::Failed { .. }
        | Progress::Expired => None,
    });
    let mut said: Vec<_> = replies.chain(answered).collect();
    said.sort();
    let first = said.len().saturating_sub(ANSWERS);
    said[first..]
        .iter()
        .filter_map(|(_, text)| cut(text))
        .collect()
}

/// A message that has not reached it.
fn waiting(letter: &Letter) -> Option<Reason> {
    match letter.progress() {
        Progress::Queued { .. } | Progress::Written { .. } => cut(&letter.message.order.text),
        Progress::Submitted { .. }
        | Progress::Answered { .. }
        | Progress::Failed { .. }
        | Progress::Expired => None,
    }
}

/// A text as a package takes it; none if nothing is in it.
fn cut(text: &str) -> Option<Reason> {
    let end = text.floor_char_boundary(LONGEST.min(text.len()));
    text[..end].replace('\0', "\u{fffd}").parse().ok()
}
