//! How a holder takes messages and types them. What to do next is decided in [`crate::delivery`]; here it is done.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use handoff_core::time::Nanos;
use handoff_core::{Caller, MessageId};
use handoff_files::{Dir, DirError, Mode, WriteError, atomic};
use handoff_process::mint;

use super::Holder;
use super::guest::Guest;
use super::post::{Typed, tail_of};
use crate::control::Sent;
use crate::control::message::{Refusal, refusal};
use crate::delivery::{Act, Delivery, Settled, is_dialog};
use crate::inbox::{AcceptError, Accepted};
use crate::journal::Event;
use crate::last_word::LastWord;
use crate::message::{
    Because, Evidence, Message, MessageDraft, Order, Preview, Progress, TextSense, Urgency, header,
    with_header,
};
use crate::paste::{self, Reader};
use crate::place;
use crate::sender::Origin;
use crate::turn::is_at_rest;

/// A text that is too long to be typed could not be stored.
#[derive(Debug, thiserror::Error)]
enum StoreError {
    #[error("cannot make the directory for long messages")]
    Directory(#[from] DirError),
    #[error("cannot write the message")]
    Write(#[from] WriteError),
}

impl Holder<'_> {
    /// Takes a message: it is on the disk before the sender hears of it.
    pub(super) fn take_message(&mut self, guest: &mut Guest, draft: &MessageDraft, now: Nanos) {
        let from = match guest.origin(&self.places) {
            Origin::Outside => None,
            Origin::Session(sender) => Some(sender),
            Origin::Unknown => {
                return guest.refuse(&refusal(
                    403,
                    "it cannot be told where the message comes from",
                ));
            }
        };
        let fresh = MessageId::from_uuid(mint());
        let order = &draft.order(fresh);
        let wall = self.clock.now().wall;
        let taken = self
            .post
            .inbox
            .accept(fresh, order.clone(), from, (wall, now));
        match taken {
            Ok(Accepted::New(message)) => {
                self.note_send(message, order);
                let is_new = true;
                guest.answer(&Sent { message, is_new });
            }
            Ok(Accepted::Known(message)) => {
                let is_new = false;
                guest.answer(&Sent { message, is_new });
            }
            Err(error @ AcceptError::Reused) => guest.refuse(&refusal(409, &error.to_string())),
            Err(error @ AcceptError::Full) => guest.refuse(&refusal(503, &error.to_string())),
            Err(AcceptError::Write(error)) => guest.refuse(&refusal(507, &error.to_string())),
        }
    }

    pub(super) fn note_send(&mut self, message: MessageId, order: &Order) {
        let Preview { text, is_truncated } = Preview::of(&order.text);
        self.tell(Event::Send {
            message,
            msg: text,
            msg_truncated: is_truncated,
            forced: order.urgency == Urgency::Force,
        });
    }

    /// Keeps what the session says to whoever started it.
    pub(super) fn keep_reply(&mut self, text: &str) -> io::Result<()> {
        let event = Event::Replied {
            msg: text.to_owned(),
        };
        let wall = self.clock.now().wall;
        self.journal.append_durably(event, wall)
    }

    /// Writes down what the session says last of its task. Nobody says it for another.
    pub(super) fn keep_last_word(&mut self, guest: &Guest, word: &LastWord) -> Result<(), Refusal> {
        let is_foreign = |caller: &Caller| match caller {
            Caller::Session { session, .. } => *session != self.record.id,
            Caller::Check | Caller::Unknown => true,
            Caller::Person | Caller::Worker | Caller::Reconciler => false,
        };
        if guest.caller().is_some_and(is_foreign) {
            return Err(refusal(403, "a session speaks for its own task only"));
        }
        let word = word.clone();
        let wall = self.clock.now().wall;
        let kept = self.journal.append_durably(Event::Reported { word }, wall);
        kept.map_err(|error| refusal(507, &error.to_string()))
    }

    /// Something that matters to those who follow, and to nobody else.
    pub(super) fn tell(&mut self, event: Event) {
        // What cannot be written is left out: a full disk ends no agent.
        self.note(event).ok();
    }

    /// Types what can be typed now.
    pub(super) fn deliver(&mut self, now: Nanos) {
        self.press_due(now);
        self.expire(now);
        self.hear_turns(now);
        self.conclude_painted(now);
        self.learn_prompt();
        if self.stopping.is_under_way() {
            // Whoever is being ended takes no words, and Enter might send off those of a person.
            return;
        }
        if self.post.first().is_none() {
            self.tidy(now);
        }
        while let Some(message) = self.post.first().cloned() {
            if self.may_type(&message) {
                self.look_closely(now);
            }
            let sight = self.delivery_sight();
            let order = (message.order.finish, message.order.urgency);
            let adapter = self.signs.adapter();
            let act = self.post.delivery.step(order, &sight, adapter, now);
            match act {
                Act::Linger => break,
                Act::Wait(because) => {
                    let wall = self.clock.now().wall;
                    self.post.inbox.wait(message.id, because, wall);
                    break;
                }
                Act::Clear => {
                    let keys = adapter.input.clear.clone();
                    self.post.keyboard.forget();
                    self.input.extend(keys.into_bytes());
                }
                Act::Paste => self.paste(&message, now),
                Act::Enter => self.enter(),
                Act::Settle(settled) => self.settle(message.id, settled, now),
            }
            self.type_pending();
        }
    }

    /// Removes what we left in the box, while no message waits.
    fn tidy(&mut self, now: Nanos) {
        if !self.post.delivery.is_soiled() || !is_at_rest(self.judge.published().state) {
            return;
        }
        self.look_closely(now);
        let sight = self.delivery_sight();
        let adapter = self.signs.adapter();
        if self.post.delivery.tidy(&sight, adapter, now) == Act::Clear {
            let keys = adapter.input.clear.clone();
            self.input.extend(keys.into_bytes());
            self.type_pending();
        }
    }

    /// A question may have come up between two keys, and the second would answer it.
    fn press_due(&mut self, now: Nanos) {
        let keys = self.post.due_keys(now);
        if keys.is_empty() {
            return;
        }
        self.look_closely(now);
        if !(self.stopping.is_under_way() && is_dialog(self.signs.newest())) {
            self.input.extend(keys.concat().into_bytes());
        }
    }

    fn expire(&mut self, now: Nanos) {
        let wall = self.clock.now().wall;
        for id in self.post.inbox.expired(now) {
            self.post.inbox.note(id, Progress::Expired, wall);
        }
    }

    fn paste(&mut self, message: &Message, now: Nanos) {
        let kind = self.signs.adapter().input.pointer;
        let from = message.from.as_ref();
        let text = with_header(&paste::clean(&message.order.text), from, kind);
        let reader = self.reader();
        let recipe = &self.signs.adapter().input;
        let sense = message.order.sense;
        let header = from.map(|from| header(from, kind));
        let typable = if paste::fits(&text, recipe, reader) {
            Ok(match sense {
                TextSense::Words => paste::in_words(&text, recipe, reader),
                TextSense::Command => text,
            })
        } else {
            let stored = self.store(message.id, &text);
            stored.map(|path| paste::pointer(&path, header.as_deref(), kind))
        };
        let Ok(text) = typable else {
            self.post.delivery = Delivery::default();
            return self.settle(message.id, Settled::Failed(Because::Unstored), now);
        };
        self.input.extend(paste::keys(&text, reader));
        self.post.typed = Some(Typed {
            id: message.id,
            tail: tail_of(&text),
            text,
        });
        let wall = self.clock.now().wall;
        let written = Progress::Written { because: None };
        self.post.inbox.note(message.id, written, wall);
    }

    /// Puts a text that is too long to be typed where the agent can read it.
    fn store(&self, id: MessageId, text: &str) -> Result<PathBuf, StoreError> {
        let directory = place::long_messages(self.directory.path());
        let directory = Dir::create_private(&directory)?;
        let name = format!("{id}.md");
        atomic::create_new(&directory, &name, text.as_bytes(), Mode::Private)?;
        Ok(directory.path().join(name))
    }

    fn reader(&self) -> Reader {
        if self.screen.is_paste_bracketed() {
            Reader::Bracketed
        } else if self.terminal.is_line_wise() {
            Reader::Lines
        } else {
            Reader::Keys
        }
    }

    fn enter(&mut self) {
        let keys = self.signs.adapter().input.submit.clone();
        if let Some(typed) = &self.post.typed {
            self.post.gain.begin(&self.screen, &typed.text);
        }
        if let Some(native) = &mut self.native {
            native.mark();
        }
        self.input.extend(keys.into_bytes());
    }

    fn settle(&mut self, id: MessageId, settled: Settled, now: Nanos) {
        self.post.typed = None;
        let wall = self.clock.now().wall;
        let progress = match settled {
            Settled::Submitted(evidence) => return self.submitted(id, evidence, now),
            Settled::Written(because) => Progress::Written {
                because: Some(because),
            },
            Settled::Failed(because) => Progress::Failed {
                because,
                lost: None,
            },
        };
        if settled == Settled::Written(Because::Left) {
            self.post.keyboard.leave();
        }
        self.post.inbox.note(id, progress, wall);
    }

    fn submitted(&mut self, id: MessageId, evidence: Evidence, now: Nanos) {
        let settles_after = match evidence {
            // It was seen to work, so that it waits again means that it is done.
            Evidence::Editor | Evidence::State => Duration::ZERO,
            Evidence::Box | Evidence::Line => self.signs.adapter().input.settles_after,
        };
        let (turn, change) = self.post.turns.submitted(id, now.after(settles_after));
        let wall = self.clock.now().wall;
        let progress = Progress::Submitted { evidence, turn };
        self.post.inbox.note(id, progress, wall);
        if let Some(change) = change {
            self.tell_turn(change);
        }
        self.tell(Event::Delivered {
            message: id,
            evidence,
            turn,
        });
        self.hear_turns(now);
    }
}
