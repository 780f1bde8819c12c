//! What a holder answers.

use handoff_core::Caller;
use handoff_core::time::Nanos;
use serde_json::json;

use super::guest::Guest;
use super::stopping::Step;
use super::{Holder, MOST_INPUT};
use crate::control::message::refusal;
use crate::control::{Attachment, Recognised, Request, Screenshot, Status};
use crate::state::State;

impl Holder<'_> {
    pub(super) fn answer(&mut self, guest: &mut Guest, request: &Request, now: Nanos) {
        match request {
            Request::Caller => guest.answer(&self.recognised(guest)),
            Request::Status => guest.answer(&self.status(now)),
            Request::Screen => guest.answer(&self.screenshot()),
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
            Request::Answer(reply) => match self.begin_choice(reply) {
                Ok(choosing) => guest.answer(&choosing),
                Err(refusal) => guest.refuse(&refusal),
            },
            Request::Reply(text) => match self.keep_reply(text) {
                Ok(()) => guest.answer(&json!({ "seq": self.journal.seq() })),
                Err(error) => guest.refuse(&refusal(507, &error.to_string())),
            },
            Request::Interrupt => match self.interrupt(now) {
                Ok(interrupted) => guest.answer(&interrupted),
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
                let at_prompt = self.judge.published().state == State::Prompt;
                let keys = self.signs.adapter().leave.keys.clone();
                if self
                    .stopping
                    .begin(*grace, at_prompt.then_some(keys.as_str()), now)
                    == Step::TypeKeys
                {
                    self.input.extend(keys.bytes());
                }
            }
            Request::Attach(Attachment::Write) if self.guests.iter().any(Guest::is_writer) => {
                guest.refuse(&refusal(409, "somebody else types already"));
            }
            Request::Attach(attachment) => guest.attach(*attachment),
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
        }
    }

    fn screenshot(&self) -> Screenshot {
        let (cursor_row, cursor_column) = self.screen.cursor();
        Screenshot {
            rows: self.record.rows,
            columns: self.record.columns,
            cursor_row,
            cursor_column,
            title: self.screen.title().to_owned(),
            is_alternate: self.screen.is_alternate(),
            lines: self.screen.rows(),
            ansi: self.screen.rows_formatted(),
        }
    }
}
