//! `inbox.jsonl`: every message to a session and how far each has come, one JSON object a line, written by its holder only.
//!
//! A message is on the disk before its sender hears that it was accepted. What happens to it afterwards is added line by line;
//! readers fold the lines. The file is opened for each line and closed: closing is what wakes those who watch it.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use handoff_core::time::Nanos;
use handoff_core::{Digest, IdempotencyKey, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::line_file::{self, Durability};
use crate::message::{Because, Message, Order, Progress, Sender, Urgency};
use crate::place;

/// How many messages may wait.
const MOST_WAITING: usize = 256;
/// How many bytes of text may wait: they are in memory.
const MOST_TEXT: usize = 4 * 1024 * 1024;
/// How many keys are remembered after their messages are settled.
const MOST_KEYS: usize = 4096;

/// The inbox that a holder keeps.
#[derive(Debug)]
pub struct Inbox {
    path: PathBuf,
    number: u64,
    waiting: VecDeque<Waiting>,
    keys: VecDeque<Seal>,
    /// The last reason that was written down.
    told: Option<(MessageId, Because)>,
}

/// A key, and what was ordered with it.
#[derive(Debug)]
struct Seal {
    key: IdempotencyKey,
    order: Digest,
    id: MessageId,
}

#[derive(Debug)]
struct Waiting {
    message: Message,
    expires_at: Option<Nanos>,
}

/// A message could not be accepted. Nothing of it is on record.
#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    #[error("too many messages wait already")]
    Full,
    #[error("the key was used for another message")]
    Reused,
    #[error("cannot write the message down")]
    Write(#[source] io::Error),
}

/// A message as its lines tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    pub message: Message,
    /// The oldest first; there is at least one.
    pub history: Vec<Moment>,
}

/// One step of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    pub at: Timestamp,
    pub progress: Progress,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    schema_version: u32,
    ts: Timestamp,
    id: MessageId,
    #[serde(flatten)]
    progress: Progress,
    /// In the first line of a message only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

impl Inbox {
    /// Begins an empty inbox.
    pub fn create(session: &Path) -> io::Result<Self> {
        let path = place::inbox(session);
        line_file::open(&path)?;
        Ok(Self {
            path,
            number: 0,
            waiting: VecDeque::new(),
            keys: VecDeque::new(),
            told: None,
        })
    }

    /// Takes a message and puts it on the disk. The same message with the same key was taken already; another one with it is a
    /// mistake of the sender, who would never hear that it was dropped.
    pub fn accept(
        &mut self,
        fresh: MessageId,
        order: Order,
        from: Option<Sender>,
        (wall, now): (Timestamp, Nanos),
    ) -> Result<Accepted, AcceptError> {
        let digest = digest(&order).map_err(AcceptError::Write)?;
        match self.keys.iter().find(|seal| seal.key == order.key) {
            Some(known) if known.order == digest => return Ok(Accepted::Known(known.id)),
            Some(_) => return Err(AcceptError::Reused),
            None => {}
        }
        if self.is_full(order.text.len()) {
            return Err(AcceptError::Full);
        }
        let message = Message {
            id: fresh,
            number: self.number + 1,
            accepted_at: wall,
            from,
            order,
        };
        let queued = Progress::Queued { because: None };
        line_file::append(
            &self.path,
            &line(fresh, wall, queued, Some(message.clone())),
            Durability::Now,
        )
        .map_err(AcceptError::Write)?;
        self.number += 1;
        self.remember(Seal {
            key: message.order.key.clone(),
            order: digest,
            id: fresh,
        });
        let expires_at = message.order.expires_after.map(|span| now.after(span));
        self.waiting.push_back(Waiting {
            message,
            expires_at,
        });
        Ok(Accepted::New(fresh))
    }

    fn is_full(&self, length: usize) -> bool {
        let waiting = self.waiting.iter().map(|it| it.message.order.text.len());
        self.waiting.len() >= MOST_WAITING || waiting.sum::<usize>() + length > MOST_TEXT
    }

    fn remember(&mut self, seal: Seal) {
        if self.keys.len() >= MOST_KEYS {
            self.keys.pop_front();
        }
        self.keys.push_back(seal);
    }

    /// The message whose turn it is: those that force their way first, each kind in the order of acceptance.
    pub fn first(&self) -> Option<&Message> {
        let forced = |it: &&Waiting| it.message.order.urgency == Urgency::Force;
        let first = self.waiting.iter().find(forced).or(self.waiting.front());
        first.map(|waiting| &waiting.message)
    }

    pub fn waiting(&self, id: MessageId) -> Option<&Message> {
        let found = self.waiting.iter().find(|it| it.message.id == id);
        found.map(|waiting| &waiting.message)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Those whose time is over.
    pub fn expired(&self, now: Nanos) -> Vec<MessageId> {
        let is_over = |it: &&Waiting| it.expires_at.is_some_and(|at| at <= now);
        let over = self.waiting.iter().filter(is_over);
        over.map(|it| it.message.id).collect()
    }

    /// When the next one expires.
    pub fn look_again(&self) -> Option<Nanos> {
        self.waiting.iter().filter_map(|it| it.expires_at).min()
    }

    /// What the first one waits for, written down when it changes.
    pub fn wait(&mut self, id: MessageId, because: Because, wall: Timestamp) {
        if self.told == Some((id, because)) {
            return;
        }
        self.told = Some((id, because));
        let because = Some(because);
        self.note(id, Progress::Queued { because }, wall);
    }

    /// Adds how far a message has come. A disk that is full keeps nobody from typing: what cannot be written is left out.
    pub fn note(&mut self, id: MessageId, progress: Progress, wall: Timestamp) {
        if is_settled(&progress) {
            self.waiting.retain(|it| it.message.id != id);
        } else if matches!(progress, Progress::Written { .. })
            && let Some(waiting) = self.waiting.iter_mut().find(|it| it.message.id == id)
        {
            // It was typed in time.
            waiting.expires_at = None;
        }
        line_file::append(
            &self.path,
            &line(id, wall, progress, None),
            Durability::Later,
        )
        .ok();
    }
}

/// What is remembered of an order, to tell it from another.
fn digest(order: &Order) -> io::Result<Digest> {
    Ok(Digest::of(&serde_json::to_vec(order)?))
}

/// What became of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    New(MessageId),
    /// It was there already.
    Known(MessageId),
}

/// Whether nothing more will be typed for it.
const fn is_settled(progress: &Progress) -> bool {
    match progress {
        Progress::Queued { .. } | Progress::Written { because: None } => false,
        Progress::Written { because: Some(_) }
        | Progress::Submitted { .. }
        | Progress::Answered { .. }
        | Progress::Failed { .. }
        | Progress::Expired => true,
    }
}

fn line(id: MessageId, ts: Timestamp, progress: Progress, message: Option<Message>) -> Line {
    Line {
        schema_version: 1,
        ts,
        id,
        progress,
        message,
    }
}

/// All messages to the session in this directory, in the order of acceptance. A line that is cut off is not there yet.
pub fn read(session: &Path) -> io::Result<Vec<Letter>> {
    parse(&line_file::read(&place::inbox(session))?)
}

/// The same from the bytes of such a file.
pub fn parse(bytes: &[u8]) -> io::Result<Vec<Letter>> {
    let mut letters = vec![];
    for line in line_file::whole_lines(bytes) {
        take(&mut letters, serde_json::from_slice(line)?);
    }
    Ok(letters)
}

fn take(letters: &mut Vec<Letter>, line: Line) {
    let moment = Moment {
        at: line.ts,
        progress: line.progress,
    };
    if let Some(message) = line.message {
        let history = vec![moment];
        letters.push(Letter { message, history });
    } else if let Some(letter) = letters.iter_mut().find(|it| it.message.id == line.id) {
        letter.history.push(moment);
    }
}

impl Letter {
    /// How far it has come.
    pub fn progress(&self) -> &Progress {
        let last = self.history.last().expect("it was accepted");
        &last.progress
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use std::time::Duration;

    use super::*;
    use crate::message::{Finish, TextSense};

    fn id(last: u8) -> MessageId {
        format!("msg_{:032x}", u128::from(last)).parse().unwrap()
    }

    fn order(text: &str, key: &str, urgency: Urgency) -> Order {
        Order {
            text: text.to_owned(),
            key: key.parse().unwrap(),
            finish: Finish::Submit,
            urgency,
            sense: TextSense::Words,
            expires_after: None,
        }
    }

    fn at() -> (Timestamp, Nanos) {
        ("2026-01-02T03:04:05Z".parse().unwrap(), Nanos(0))
    }

    fn inbox() -> (tempfile::TempDir, Inbox) {
        let place = tempfile::TempDir::new().unwrap();
        let inbox = Inbox::create(place.path()).unwrap();
        (place, inbox)
    }

    fn accept(inbox: &mut Inbox, last: u8, order: Order) -> Accepted {
        inbox.accept(id(last), order, None, at()).unwrap()
    }

    #[test]
    fn a_key_is_one_message_however_often_it_comes() {
        let (place, mut inbox) = inbox();
        let same = || order("a", "k", Urgency::Wait);
        assert_eq!(accept(&mut inbox, 1, same()), Accepted::New(id(1)));
        assert_eq!(accept(&mut inbox, 2, same()), Accepted::Known(id(1)));
        let key = same().key;
        let other = order("something else", key.as_str(), Urgency::Wait);
        let reused = inbox.accept(id(2), other, None, at());
        assert!(matches!(reused, Err(AcceptError::Reused)), "{reused:?}");
        inbox.note(id(1), Progress::Expired, at().0);
        assert_eq!(accept(&mut inbox, 3, same()), Accepted::Known(id(1)));
        assert_eq!(read(place.path()).unwrap().len(), 1);
    }

    #[test]
    fn force_goes_first_and_the_rest_in_order() {
        let (_place, mut inbox) = inbox();
        accept(&mut inbox, 1, order("a", "1", Urgency::Wait));
        accept(&mut inbox, 2, order("b", "2", Urgency::Wait));
        accept(&mut inbox, 3, order("c", "3", Urgency::Force));
        let mut seen = vec![];
        while let Some(first) = inbox.first().map(|it| it.id) {
            seen.push(first);
            inbox.note(first, Progress::Expired, at().0);
        }
        assert_eq!(seen, [id(3), id(1), id(2)]);
    }

    #[test]
    fn a_reader_sees_every_step_and_its_reason() {
        let (place, mut inbox) = inbox();
        accept(&mut inbox, 1, order("a\n\"b\"", "1", Urgency::Wait));
        inbox.wait(id(1), Because::Busy, at().0);
        inbox.wait(id(1), Because::Busy, at().0);
        inbox.wait(id(1), Because::Draft, at().0);
        inbox.note(id(1), Progress::Written { because: None }, at().0);
        let letters = read(place.path()).unwrap();
        assert_eq!(letters[0].message.order.text, "a\n\"b\"");
        let steps: Vec<_> = letters[0]
            .history
            .iter()
            .map(|it| (it.progress.word(), it.progress.because()))
            .collect();
        assert_eq!(
            steps,
            [
                ("queued", None),
                ("queued", Some(Because::Busy)),
                ("queued", Some(Because::Draft)),
                ("written", None)
            ]
        );
    }

    #[test]
    fn half_a_line_is_no_line() {
        let (place, mut inbox) = inbox();
        accept(&mut inbox, 1, order("a", "1", Urgency::Wait));
        let mut file = line_file::open(&place::inbox(place.path())).unwrap();
        file.write_all(b"{\"schema_version\":1,\"id\":\"ms")
            .unwrap();
        let letters = read(place.path()).unwrap();
        assert_eq!(letters.len(), 1);
        assert_eq!(letters[0].progress().word(), "queued");
    }

    #[test]
    fn what_waits_too_long_is_known() {
        let (_place, mut inbox) = inbox();
        let mut order = order("a", "1", Urgency::Wait);
        order.expires_after = Some(Duration::from_nanos(5));
        accept(&mut inbox, 1, order);
        assert_eq!(inbox.look_again(), Some(Nanos(5)));
        assert_eq!(inbox.expired(Nanos(4)), []);
        assert_eq!(inbox.expired(Nanos(5)), [id(1)]);
        inbox.note(id(1), Progress::Written { because: None }, at().0);
        assert_eq!(
            (inbox.expired(Nanos(9)), inbox.look_again()),
            (vec![], None)
        );
    }

    #[test]
    fn a_full_inbox_takes_nothing_and_forgets_nothing() {
        let (place, mut inbox) = inbox();
        for number in 0..MOST_WAITING {
            let number = u8::try_from(number).unwrap();
            let order = order("a", &format!("k{number}"), Urgency::Wait);
            accept(&mut inbox, number, order);
        }
        let more = inbox.accept(id(9), order("a", "more", Urgency::Wait), None, at());
        assert!(matches!(more, Err(AcceptError::Full)));
        assert_eq!(read(place.path()).unwrap().len(), MOST_WAITING);
    }
}
