//! One who is connected to a holder: asks one thing and gets an answer, or becomes a viewer. Nobody can slow the holder
//! down: nothing blocks, and a slow viewer gets fewer pictures.

use std::io::{self, Read as _, Write as _};
use std::rc::Rc;
use std::time::Duration;

use handoff_core::time::Nanos;
use handoff_core::{Caller, Relation};
use handoff_process::{Identity, Peer};
use rustix::event::{PollFd, PollFlags};
use serde::Serialize;
use serde_json::json;

use super::following::EventFeed;
use super::stream::Stream;
use super::viewer::Viewer;
use crate::attempts::Attempt;
use crate::control::gate::{self, Asker, Entrance, Gate};
use crate::control::http::{self, Head, HttpError};
use crate::control::message::{Refusal, refusal};
use crate::control::{Attachment, Request, Stopped};
use crate::place::Places;
use crate::screen::Screen;
use crate::sender::{self, Origin};
use crate::side::Side;

/// How long a viewer is waited for at the end.
const PARTING_TAKES: Duration = Duration::from_secs(1);

/// One who is connected.
pub(super) struct Guest {
    stream: Stream,
    entrance: Entrance,
    /// The process that connected; nobody knows it of one who came by the network.
    peer: Option<Peer>,
    /// The holder and the processes above it.
    own: Rc<[Identity]>,
    /// Who it is, since it was let in.
    caller: Option<Caller>,
    /// Where it comes from, once that was looked at.
    side: Option<Side>,
    /// What it asked for.
    act: Option<&'static str>,
    phase: Phase,
    outgoing: Vec<u8>,
}

enum Phase {
    /// The request arrives.
    Asking {
        received: Vec<u8>,
    },
    /// Everything is said; what is left goes out.
    Answered,
    /// To be answered when the session has ended.
    AwaitingEnd,
    /// To be answered when something is done.
    AwaitingErrand(u64),
    Viewing(Box<Viewer>),
    /// Is told what happens.
    Following(Box<EventFeed>),
    Gone,
}

/// What was heard from a guest.
pub(super) enum Heard {
    Nothing,
    Asked(Request),
    /// It was refused what it asked for.
    Refused(Attempt),
    Typed(Vec<u8>),
}

impl Guest {
    pub(super) const fn new(
        stream: Stream,
        entrance: Entrance,
        peer: Option<Peer>,
        own: Rc<[Identity]>,
    ) -> Self {
        Self {
            stream,
            entrance,
            peer,
            own,
            caller: None,
            side: None,
            act: None,
            phase: Phase::Asking { received: vec![] },
            outgoing: vec![],
        }
    }

    pub(super) fn poll_fd(&self) -> PollFd<'_> {
        let mut flags = match self.phase {
            Phase::Asking { .. }
            | Phase::AwaitingEnd
            | Phase::AwaitingErrand(_)
            | Phase::Viewing(_)
            | Phase::Following(_) => PollFlags::IN,
            Phase::Answered | Phase::Gone => PollFlags::empty(),
        };
        if !self.outgoing.is_empty() {
            flags |= PollFlags::OUT;
        }
        PollFd::new(&self.stream, flags)
    }

    pub(super) const fn is_gone(&self) -> bool {
        matches!(self.phase, Phase::Gone)
    }

    /// By the socket or by the port.
    pub(super) const fn came_by(&self, entrance: Entrance) -> bool {
        matches!(
            (self.entrance, entrance),
            (Entrance::Socket { .. }, Entrance::Socket { .. })
                | (Entrance::Network { .. }, Entrance::Network { .. })
        )
    }

    pub(super) const fn is_asking(&self) -> bool {
        matches!(self.phase, Phase::Asking { .. })
    }

    pub(super) const fn is_viewer(&self) -> bool {
        matches!(self.phase, Phase::Viewing(_))
    }

    /// Whether somebody sits at a terminal and sees what is printed.
    pub(super) fn is_seated(&self) -> bool {
        self.viewer().is_some_and(Viewer::is_seated)
    }

    pub(super) fn is_writer(&self) -> bool {
        self.viewer().is_some_and(Viewer::is_writer)
    }

    const fn viewer(&self) -> Option<&Viewer> {
        match &self.phase {
            Phase::Viewing(viewer) => Some(viewer),
            Phase::Asking { .. }
            | Phase::Answered
            | Phase::AwaitingEnd
            | Phase::AwaitingErrand(_)
            | Phase::Following(_)
            | Phase::Gone => None,
        }
    }

    /// Takes what has arrived, and sends what can be sent.
    pub(super) fn listen(&mut self, gate: &Gate, places: &Places) -> Heard {
        self.flush();
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.hung_up(),
            Ok(length) => self.hear(&buffer[..length], gate, places),
            Err(error) if is_temporary(&error) => Heard::Nothing,
            Err(_) => self.hung_up(),
        }
    }

    /// One who only waits for an answer may have closed its side for writing.
    fn hung_up(&mut self) -> Heard {
        if !matches!(self.phase, Phase::Answered) || self.outgoing.is_empty() {
            self.phase = Phase::Gone;
        }
        Heard::Nothing
    }

    fn hear(&mut self, bytes: &[u8], gate: &Gate, places: &Places) -> Heard {
        match &mut self.phase {
            Phase::Asking { received } => {
                received.extend_from_slice(bytes);
                let received = std::mem::take(received);
                self.read_request(received, gate, places)
            }
            Phase::Viewing(viewer) if viewer.is_writer() => Heard::Typed(bytes.to_vec()),
            Phase::Viewing(_)
            | Phase::Following(_)
            | Phase::Answered
            | Phase::AwaitingEnd
            | Phase::AwaitingErrand(_)
            | Phase::Gone => Heard::Nothing,
        }
    }

    fn read_request(&mut self, received: Vec<u8>, gate: &Gate, places: &Places) -> Heard {
        match self.understand(&received, gate, places) {
            Ok(Some(request)) => return Heard::Asked(request),
            Ok(None) => self.phase = Phase::Asking { received },
            Err(refusal) => {
                self.refuse(&refusal);
                if refusal.status == 403
                    && let Some(attempt) = self.attempt()
                {
                    return Heard::Refused(attempt);
                }
            }
        }
        Heard::Nothing
    }

    /// Who asks is decided as soon as the head is there: a stranger's body is not waited for.
    fn understand(
        &mut self,
        received: &[u8],
        gate: &Gate,
        places: &Places,
    ) -> Result<Option<Request>, Refusal> {
        let head = Head::parse(received).map_err(|error| match error {
            HttpError::TooLong => refusal(413, &error.to_string()),
            HttpError::Malformed | HttpError::Encoded => refusal(400, &error.to_string()),
        })?;
        let Some(head) = head else {
            return Ok(None);
        };
        let caller = gate.admit(self.entrance, &head.headers)?;
        let Some(body) = head.body(received) else {
            return Ok(None);
        };
        let request = Request::parse(&head, body)?;
        self.act = Some(request.word());
        let asker = match (self.entrance, request.is_plain_look()) {
            // One in a sandbox was looked at when it connected.
            (Entrance::Socket { .. }, true) => Asker {
                caller,
                relation: Relation::Beside,
                may_answer: false,
            },
            (Entrance::Socket { .. } | Entrance::Network { .. }, _) => {
                gate.locate(caller, self.locate(places))?
            }
        };
        gate::permit(&asker, &request)?;
        self.caller = Some(asker.caller);
        Ok(Some(request))
    }

    /// What was refused to it; nothing if it comes from outside of all sessions, or only looked.
    fn attempt(&self) -> Option<Attempt> {
        let by = match self.side? {
            Side::Outside => return None,
            Side::Session(member) => member.session.to_string(),
            Side::Check => "check".to_owned(),
            Side::Unknown => "unknown".to_owned(),
        };
        let act = self.act?.to_owned();
        Some(Attempt { by, act })
    }

    /// Finds out where it comes from.
    fn locate(&mut self, places: &Places) -> Side {
        let side = match (self.entrance, &self.peer) {
            (Entrance::Socket { side: Some(side) }, _) => side,
            (Entrance::Socket { side: None }, Some(peer)) => {
                sender::side_of(peer, &self.own, places)
            }
            (Entrance::Socket { side: None }, None) => Side::Unknown,
            (Entrance::Network { port }, _) => {
                let peer = self.stream.network_peer();
                peer.map_or(Side::Unknown, |it| {
                    sender::side_of_port(it, port, &self.own, places)
                })
            }
        };
        self.side = Some(side);
        side
    }

    /// Which session it sends for.
    pub(super) fn origin(&self, places: &Places) -> Origin {
        sender::origin_of(self.side.unwrap_or(Side::Unknown), places)
    }

    /// Who asked.
    pub(super) const fn caller(&self) -> Option<&Caller> {
        self.caller.as_ref()
    }

    pub(super) fn answer(&mut self, body: &impl Serialize) {
        self.say(200, body);
    }

    pub(super) fn refuse(&mut self, refusal: &Refusal) {
        self.say(refusal.status, &json!({ "error": refusal.message }));
    }

    fn say(&mut self, status: u16, body: &impl Serialize) {
        let body = serde_json::to_vec(body).expect("an answer has only text as keys");
        self.outgoing.extend(http::answer(status, &body));
        self.phase = Phase::Answered;
        self.flush();
    }

    pub(super) fn await_errand(&mut self, number: u64) {
        self.phase = Phase::AwaitingErrand(number);
    }

    pub(super) fn awaits_errand(&self, number: u64) -> bool {
        matches!(self.phase, Phase::AwaitingErrand(own) if own == number)
    }

    pub(super) fn await_end(&mut self) {
        self.phase = Phase::AwaitingEnd;
    }

    pub(super) fn attach(&mut self, attachment: Attachment) {
        self.view(Viewer::at_terminal(attachment), &http::answer(101, &[]));
    }

    /// Gets a line for every picture from now on.
    pub(super) fn follow(&mut self) {
        self.view(Viewer::of_lines(), &http::stream());
    }

    /// Gets every event from now on.
    pub(super) fn follow_events(&mut self, feed: EventFeed) {
        self.outgoing.extend(http::event_stream());
        self.phase = Phase::Following(Box::new(feed));
        self.flush();
    }

    /// Tells one who follows what has happened up to this event, as fast as they take it.
    pub(super) fn feed(&mut self, last: u64) {
        while self.outgoing.is_empty()
            && let Phase::Following(feed) = &mut self.phase
        {
            let told = feed.next(last);
            if told.is_empty() {
                return;
            }
            self.outgoing.extend(told);
            self.flush();
        }
    }

    fn view(&mut self, viewer: Viewer, greeting: &[u8]) {
        self.outgoing.extend(greeting);
        self.phase = Phase::Viewing(Box::new(viewer));
        self.flush();
    }

    /// The screen has changed.
    pub(super) const fn outdate(&mut self) {
        if let Phase::Viewing(viewer) = &mut self.phase {
            viewer.outdate();
        }
    }

    /// The screen is another one: it is drawn from the beginning.
    pub(super) fn forget_frame(&mut self) {
        if let Phase::Viewing(viewer) = &mut self.phase {
            viewer.forget_frame();
        }
    }

    /// When it is to be drawn for.
    pub(super) fn next_frame(&self) -> Option<Nanos> {
        let due = self.viewer()?.next_picture();
        due.filter(|_| self.outgoing.is_empty())
    }

    /// Draws the screen for a viewer that has taken all before.
    pub(super) fn draw(&mut self, screen: &Screen, now: Nanos) {
        if self.next_frame().is_none_or(|due| now < due) {
            return;
        }
        if let Phase::Viewing(viewer) = &mut self.phase {
            self.outgoing.extend(viewer.picture_of(screen, now));
        }
        self.flush();
    }

    fn flush(&mut self) {
        while !self.outgoing.is_empty() {
            match self.stream.write(&self.outgoing) {
                Ok(length @ 1..) => drop(self.outgoing.drain(..length)),
                Err(error) if is_temporary(&error) => return,
                Ok(0) | Err(_) => {
                    self.phase = Phase::Gone;
                    return;
                }
            }
        }
        if matches!(self.phase, Phase::Answered) {
            self.phase = Phase::Gone;
        }
    }

    /// The last that it hears from us. One who does not take it in time misses it.
    pub(super) fn part(&mut self, stopped: &Stopped, screen: &Screen, now: Nanos) {
        match &mut self.phase {
            Phase::AwaitingEnd => self.answer(stopped),
            Phase::Viewing(viewer) => {
                let picture = viewer.picture_of(screen, now);
                self.outgoing.extend(picture);
            }
            Phase::Asking { .. }
            | Phase::Answered
            | Phase::AwaitingErrand(_)
            | Phase::Following(_)
            | Phase::Gone => {}
        }
        if self.stream.wait_to_write(PARTING_TAKES).is_ok() {
            // Nobody is left to hear of a failure.
            self.stream.write_all(&self.outgoing).ok();
        }
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
