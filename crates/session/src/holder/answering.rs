//! What a holder answers.

use std::io;
use std::time::Duration;

use handoff_agents::adapter::Prompting;
use handoff_core::Caller;
use handoff_core::time::Nanos;
use serde_json::{Value, json};

use super::following::EventFeed;
use super::guest::Guest;
use super::stopping::Step;
use super::{Holder, MOST_INPUT};
use crate::attempts::Attempt;
use crate::control::message::refusal;
use crate::control::{Attachment, Recognised, Request, Screenshot, Status};
use crate::delivery::{Field, Keys, Sight};
use crate::keyboard::Typist;
use crate::native::Native;
use crate::state::State;

impl Holder<'_> {
    pub(super) fn answer(&mut self, guest: &mut Guest, request: &Request, now: Nanos) {
        match request {
            Request::Caller => guest.answer(&self.recognised(guest)),
            Request::Status => guest.answer(&self.status(now)),
            Request::Screen => guest.answer(&Screenshot::of(&self.screen)),
            Request::Screens => guest.follow(),
            Request::Messages => reading(guest, self.messages()),
            Request::Transcript { lines } => reading(guest, self.printed_lines(*lines)),
            Request::Events { after } => {
                guest.follow_events(EventFeed::new(self.directory.path(), *after));
            }
            Request::Input(bytes) if self.input.len() + bytes.len() > MOST_INPUT => {
                guest.refuse(&refusal(503, "the agent does not take what is typed"));
            }
            Request::Input(bytes) => {
                self.accept_input(bytes);
                guest.answer(&json!({ "queued": bytes.len() }));
            }
            Request::Send(order) => self.take_message(guest, order, now),
            Request::Report(report) => {
                self.signs.hooked(report.hint());
                guest.answer(&json!({}));
            }
            Request::Dialog => match self.asking() {
                Ok(asking) => guest.answer(&asking),
                Err(refusal) => guest.refuse(&refusal),
            },
            Request::Answer(reply) => match self.begin_choice(reply, now) {
                Ok(choosing) => guest.answer(&choosing),
                Err(refusal) => guest.refuse(&refusal),
            },
            Request::Reply(text) => match self.keep_reply(text) {
                Ok(()) => guest.answer(&json!({ "seq": self.journal.seq() })),
                Err(error) => guest.refuse(&refusal(507, &error.to_string())),
            },
            Request::LastWord(word) => match self.keep_last_word(guest, word) {
                Ok(()) => guest.answer(&json!({ "seq": self.journal.seq() })),
                Err(refusal) => guest.refuse(&refusal),
            },
            Request::Errand(errand) => self.begin_errand(guest, errand),
            Request::Refused(act) => {
                let by = guest.caller().map(ToString::to_string);
                let by = by.unwrap_or_default();
                let act = act.clone();
                self.note_attempt(Attempt { by, act });
                guest.answer(&json!({}));
            }
            Request::Interrupt => match self.interrupt(now) {
                Ok(interrupted) => guest.answer(&interrupted),
                Err(refusal) => guest.refuse(&refusal),
            },
            Request::Signal { signal, to } => match self.pass_on(*signal, *to) {
                Ok(signalled) => guest.answer(&signalled),
                Err(refusal) => guest.refuse(&refusal),
            },
            Request::Resize(size) => match self.terminal.resize(*size) {
                Ok(()) => {
                    self.screen.resize(*size);
                    (self.record.rows, self.record.columns) = (size.rows, size.columns);
                    guest.answer(&json!({}));
                    self.guests.iter_mut().for_each(Guest::forget_frame);
                }
                Err(error) => guest.refuse(&refusal(503, &error.to_string())),
            },
            Request::Stop { grace } => {
                guest.await_end();
                self.begin_stop(*grace, now);
            }
            Request::Attach(Attachment::Write) if self.guests.iter().any(Guest::is_writer) => {
                guest.refuse(&refusal(409, "somebody else types already"));
            }
            Request::Attach(attachment) => guest.attach(*attachment),
        }
    }

    /// Types the words that leave the agent where nothing else is sent off with them; otherwise it is asked by a signal.
    fn begin_stop(&mut self, grace: Duration, now: Nanos) {
        self.look_closely(now);
        let is_clear = may_leave(&self.delivery_sight(), self.post.delivery.is_under_way());
        let keys = self.signs.adapter().leave.keys.clone();
        let words = is_clear.then_some(keys.as_str());
        if self.stopping.begin(grace, words, now) == Step::TypeKeys {
            let keys = leaving(&keys, self.signs.adapter().reads);
            self.post.press(&keys, now);
        }
    }

    fn recognised(&self, guest: &Guest) -> Recognised {
        Recognised {
            caller: guest.caller().cloned().unwrap_or(Caller::Person),
            session: self.record.id,
            name: self.record.name.clone(),
        }
    }

    fn status(&self, now: Nanos) -> Status {
        let verdict = self.judge.published();
        let millis = |at: Nanos| u64::try_from(now.since(at).as_millis()).unwrap_or(u64::MAX);
        Status {
            state: verdict.state.phase(),
            kind: verdict.state.block(),
            source: verdict.source,
            age_ms: millis(self.judge.since()),
            silent_ms: self.printed_at.map(millis),
            title: self.screen.title().to_owned(),
            rows: self.record.rows,
            columns: self.record.columns,
            printed: self.transcript.printed(),
            missing: self.transcript.missing(),
            viewers: self.guests.iter().filter(|it| it.is_viewer()).count(),
            conversation: self.native.as_ref().and_then(Native::conversation),
        }
    }
}

/// Tells what was read from a file of the session.
fn reading(guest: &mut Guest, read: io::Result<Value>) {
    match read {
        Ok(value) => guest.answer(&value),
        Err(error) => guest.refuse(&refusal(503, &format!("cannot be read: {error}"))),
    }
}

/// A program that paints takes words and an Enter in one for a paste, and leaves the Enter out.
fn leaving(keys: &str, reads: Prompting) -> Vec<String> {
    match (reads, keys.strip_suffix('\r')) {
        (Prompting::Screen | Prompting::Paste, Some(words)) if !words.is_empty() => {
            vec![words.to_owned(), "\r".to_owned()]
        }
        (
            Prompting::Screen | Prompting::Paste | Prompting::LineEditor | Prompting::Foreground,
            _,
        ) => {
            vec![keys.to_owned()]
        }
    }
}

/// Whether words typed now would stand alone: a draft of somebody, or a message that is not sent off yet, would go with them.
fn may_leave(sight: &Sight, is_delivering: bool) -> bool {
    let is_at_prompt = sight.state == State::Prompt && sight.newest == State::Prompt;
    let is_empty = sight.field != Field::Filled && sight.typist == Typist::Nobody;
    is_at_prompt && is_empty && sight.keys == Keys::Taken && !is_delivering
}

#[cfg(test)]
mod tests {
    use handoff_agents::Block;

    use super::*;
    use crate::delivery::{Echo, Turn};

    fn resting() -> Sight {
        Sight {
            state: State::Prompt,
            newest: State::Prompt,
            since: Nanos(0),
            turn: Turn::Resting,
            field: Field::Unread,
            typist: Typist::Nobody,
            echo: Echo::Gone,
            readings_ended: 0,
            works: 0,
            keys: Keys::Taken,
        }
    }

    #[test]
    fn the_words_that_leave_an_agent_never_send_off_something_else() {
        let asks = State::Blocked(Block::Permission);
        let busy = State::Busy;
        let table = [
            (resting(), true),
            (
                Sight {
                    state: busy,
                    ..resting()
                },
                false,
            ),
            (
                Sight {
                    newest: asks,
                    ..resting()
                },
                false,
            ),
            (
                Sight {
                    field: Field::Filled,
                    ..resting()
                },
                false,
            ),
            (
                Sight {
                    typist: Typist::Perhaps,
                    ..resting()
                },
                false,
            ),
            (
                Sight {
                    typist: Typist::Somebody,
                    ..resting()
                },
                false,
            ),
            (
                Sight {
                    keys: Keys::Waiting,
                    ..resting()
                },
                false,
            ),
        ];
        for (sight, expected) in table {
            assert_eq!(may_leave(&sight, false), expected, "{sight:?}");
        }
        assert!(!may_leave(&resting(), true));
    }

    #[test]
    fn enter_comes_after_the_words_where_it_would_be_taken_for_a_part_of_them() {
        assert_eq!(leaving("/quit\r", Prompting::Screen), ["/quit", "\r"]);
        assert_eq!(leaving("\x03", Prompting::Screen), ["\x03"]);
        assert_eq!(leaving("exit\r", Prompting::LineEditor), ["exit\r"]);
    }
}
