//! The process that holds a session: one thread that sleeps until the agent prints or ends, somebody asks, or a verdict is due.
//!
//! It must be a process of its own, with nothing else in it: it becomes the parent of whatever the agent leaves behind, and ends
//! all its descendants when the agent ends.

mod answering;
mod choosing;
mod concluding;
mod confining;
mod delivering;
mod ending;
mod errands;
mod following;
mod glance;
mod guest;
mod interrupting;
mod looking;
mod network;
mod opening;
mod post;
mod reception;
mod rhythm;
mod seeing;
mod signalling;
mod socket;
mod starter;
mod stopping;
mod stream;
mod viewer;
mod watching;

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd as _;
use std::rc::Rc;
use std::time::Duration;

use handoff_agents::TextBox;
use handoff_core::time::{Clock, Nanos};
use handoff_files::{Dir, Lock};
use handoff_process::terminal::Reading;
use handoff_process::{Identity, Summoned, Summons, Terminal, tree};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::attempts::{Attempt, Attempts};
use crate::catalogue;
use crate::control::Gate;
use crate::delivery::is_dialog;
use crate::journal::{Event, Journal};
use crate::native::Native;
use crate::notice::Notice;
use crate::place::Places;
use crate::record::{Record, RecordError};
use crate::screen::Screen;
use crate::signs::Signs;
use crate::state::Judge;
use crate::transcript::{Cut, Transcript};

use errands::Errands;
use glance::Glance;
use guest::{Guest, Heard};
use network::Network;
pub use network::{Address, Loopback, LoopbackError, NetworkError};
pub use opening::{OpenError, Opening};
use post::Post;
use rhythm::{Audience, Rhythm};
use socket::Socket;
use stopping::{Step, Stopping};
use watching::Lookout;

/// How much is read before anything else gets its turn.
const MOUTHFUL: usize = 64 * 1024;
/// What the kernel hands over at a time, where there is as much. Less was the last of it; to ask once more costs as much as to read.
const PIECE: usize = 4095;
/// What was typed and not taken yet.
const MOST_INPUT: usize = 1024 * 1024;
/// What is typed ahead of the answers to a program's questions to its terminal.
const MOST_REPLIES: usize = 8 * 1024;
/// How often orphans that ended are looked for while the agent is at work.
const REAP_INTERVAL: Duration = Duration::from_secs(60);

/// A session and everything that belongs to it.
pub struct Holder<'a> {
    clock: &'a dyn Clock,
    places: Places,
    directory: Dir,
    record: Record,
    journal: Journal,
    transcript: Transcript,
    terminal: Terminal,
    screen: Screen,
    signs: Signs,
    glance: Glance,
    reading: Rhythm,
    judge: Judge,
    input: VecDeque<u8>,
    post: Post,
    lookout: Lookout,
    native: Option<Native>,
    socket: Socket,
    network: Option<Network>,
    gate: Gate,
    /// This process and those above it.
    own: Rc<[Identity]>,
    guests: Vec<Guest>,
    attempts: Attempts,
    errands: Errands,
    stopping: Stopping,
    summons: Summons,
    printed_at: Option<Nanos>,
    reaped_at: Nanos,
    buffer: Vec<u8>,
    /// Says that the session lives, and what its agent does.
    life: Lock,
    /// What it says.
    noticed: Option<Notice>,
    /// Says that its name is taken.
    _name: Lock,
}

/// A holder had to give up.
#[derive(Debug, thiserror::Error)]
pub enum HolderError {
    #[error("cannot wait for the agent")]
    Wait(#[source] io::Error),
    #[error("cannot read what the agent prints")]
    Read(#[source] io::Error),
    #[error("cannot tell how the agent ended")]
    Exit(#[source] io::Error),
    #[error("cannot find the processes of the session")]
    Tree(#[source] io::Error),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("cannot write the journal")]
    Journal(#[source] io::Error),
}

/// How much of what is printed is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Draught {
    /// What is at hand; what is still on its way through the kernel may wait.
    Handy,
    /// Everything that was printed before.
    Whole,
}

/// What there is to do after a sleep.
struct Ready {
    process: PollFlags,
    line: PollFlags,
    /// Somebody knocks at the socket or the port.
    doors: PollFlags,
    /// A signal asks the session to end.
    summons: PollFlags,
    guests: Vec<PollFlags>,
}

impl Holder<'_> {
    /// Holds the session until the agent has ended and nothing of it is left.
    pub fn run(mut self) -> Result<(), HolderError> {
        self.give_notice();
        loop {
            let ready = self.sleep().map_err(HolderError::Wait)?;
            let now = self.now();
            if !ready
                .line
                .intersection(PollFlags::IN | PollFlags::HUP)
                .is_empty()
            {
                self.read_mouthful(Draught::Handy, now)
                    .map_err(HolderError::Read)?;
            }
            self.inform(now);
            self.serve(&ready.guests, now);
            if !ready.doors.is_empty() {
                self.welcome(now);
            }
            self.tell_errands();
            self.type_pending();
            if !ready.summons.is_empty() && self.summons.take() == Summoned::Yes {
                self.stopping.hasten();
            }
            self.step_stop(now)?;
            self.look_at_terminal(now);
            self.publish(now)?;
            self.choose(now);
            self.look_out(now);
            self.deliver(now);
            self.feed();
            self.draw(now);
            self.reap(now);
            if !ready.process.is_empty() {
                return self.finish();
            }
        }
    }

    fn now(&self) -> Nanos {
        self.clock.awake()
    }

    fn sleep(&self) -> io::Result<Ready> {
        let mut line = match self.reading.rest_until(self.now()) {
            Some(_) => PollFlags::empty(),
            None => PollFlags::IN,
        };
        if !self.input.is_empty() {
            line |= PollFlags::OUT;
        }
        let mut fds = vec![
            PollFd::from_borrowed_fd(self.terminal.process(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.terminal.line(), line),
            PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.summons.as_fd(), PollFlags::IN),
        ];
        fds.extend(self.guests.iter().map(Guest::poll_fd));
        let network = self.network.iter();
        fds.extend(network.map(|it| PollFd::from_borrowed_fd(it.as_fd(), PollFlags::IN)));
        fds.extend(self.lookout.poll_fds());
        fds.extend(self.native.iter().flat_map(Native::poll_fds));
        fds.extend(self.errands.poll_fds());
        let now = self.now();
        let timeout = self
            .next_look()
            .and_then(|at| Timespec::try_from(at.since(now)).ok());
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let (guests, others) = fds[4..].split_at(self.guests.len());
        let network = others.iter().take(self.network.iter().len());
        let knocks = network.fold(PollFlags::empty(), |flags, it| flags | it.revents());
        Ok(Ready {
            process: fds[0].revents(),
            line: fds[1].revents(),
            doors: fds[2].revents() | knocks,
            summons: fds[3].revents(),
            guests: guests.iter().map(PollFd::revents).collect(),
        })
    }

    /// When something is due although nothing happens. Nothing is, most of the time.
    fn next_look(&self) -> Option<Nanos> {
        let frames = self.guests.iter().filter_map(Guest::next_frame);
        let others = [
            self.judge.look_again(),
            self.stopping.look_again(),
            self.stands_still_at(),
            self.post.look_again(),
            self.lookout.look_again(),
            self.native.as_ref().and_then(Native::look_again),
            self.glance.look_again(),
            self.reading.rest_until(self.now()),
        ];
        others.into_iter().flatten().chain(frames).min()
    }

    fn read_mouthful(&mut self, draught: Draught, now: Nanos) -> io::Result<usize> {
        let mut filled = 0;
        while filled < self.buffer.len()
            && let Reading::Some(length) = self.terminal.read(&mut self.buffer[filled..])?
        {
            filled += length;
            if draught == Draught::Handy && length < PIECE && self.reading.is_slow() {
                break;
            }
        }
        if filled > 0 {
            let audience = if self.guests.iter().any(Guest::is_seated) {
                Audience::Somebody
            } else {
                Audience::Nobody
            };
            self.reading.took(filled, audience, now);
            self.printed(filled, now);
        }
        Ok(filled)
    }

    fn printed(&mut self, length: usize, now: Nanos) {
        let bytes = &self.buffer[..length];
        let cut = self.transcript.append(bytes);
        self.post.gain.printed(bytes);
        let aside = self.screen.print(bytes);
        // One who asks all the time and never reads the answers gets no more of them.
        if self.input.len() < MOST_REPLIES {
            self.input.extend(aside.replies);
        }
        self.glance.outdate();
        for report in aside.reports {
            self.post.reported(report);
            self.post.said(report);
            self.signs.reported(report);
        }
        self.post.painted(now);
        self.printed_at = Some(now);
        self.end_silence(now);
        self.guests.iter_mut().for_each(Guest::outdate);
        if let Cut::At(dropped) = cut {
            self.tell(Event::LogCut { dropped });
        }
    }

    fn type_pending(&mut self) {
        while !self.input.is_empty() {
            let (first, _) = self.input.as_slices();
            match self.terminal.write(first) {
                // Full: the rest goes when it takes more. Broken: the process will tell.
                Ok(0) | Err(_) => return,
                Ok(length) => drop(self.input.drain(..length)),
            }
        }
    }

    fn publish(&mut self, now: Nanos) -> Result<(), HolderError> {
        let silent = self.printed_at.map(|at| now.since(at));
        let seen = self.signs.verdict_after(silent.unwrap_or_default());
        let news = self.judge.hear(seen, now);
        self.give_notice();
        let Some(verdict) = news else {
            return Ok(());
        };
        let event = Event::StateChanged {
            state: verdict.state.phase(),
            kind: verdict.state.block(),
            source: verdict.source,
        };
        self.note(event)?;
        match verdict.state.block() {
            Some(kind) => self.note(Event::Blocked {
                kind,
                source: verdict.source,
            }),
            None => Ok(()),
        }
    }

    /// Says at the lock what is published, also where only its source is another one.
    fn give_notice(&mut self) {
        let notice = Notice::of(self.judge.published(), self.judge.since());
        if self.noticed != Some(notice) {
            // Where it cannot be written there is none, and whoever wants to know asks.
            self.life.note(&notice.to_text()).ok();
            self.noticed = Some(notice);
        }
    }

    /// A disk that is full must not end an agent at work; its end alone must be on record.
    fn note(&mut self, event: Event) -> Result<(), HolderError> {
        let is_end = matches!(event, Event::Exited { .. });
        match self.journal.append(event, self.clock.now().wall) {
            Err(error) if is_end => Err(HolderError::Journal(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn serve(&mut self, ready: &[PollFlags], now: Nanos) {
        for (index, flags) in ready.iter().enumerate() {
            if flags.is_empty() {
                continue;
            }
            match self.guests[index].listen(&self.gate, &self.places) {
                Heard::Nothing => {}
                Heard::Typed(bytes) => self.accept_input(&bytes),
                Heard::Refused(attempt) => self.note_attempt(attempt),
                Heard::Asked(request) => {
                    // Outside while it is served: the others are looked at meanwhile.
                    let mut guest = self.guests.remove(index);
                    self.answer(&mut guest, &request, now);
                    self.guests.insert(index, guest);
                }
            }
        }
        self.guests.retain(|guest| !guest.is_gone());
    }

    /// Something that a session was refused is told to people.
    fn note_attempt(&mut self, attempt: Attempt) {
        if let Some((Attempt { by, act }, times)) = self.attempts.count(attempt) {
            self.tell(Event::Refused { by, act, times });
        }
    }

    /// In a dialog keys choose, and no text of them is left.
    fn accept_input(&mut self, bytes: &[u8]) {
        let is_choosing = is_dialog(self.judge.published().state) && is_dialog(self.signs.newest());
        let is_stop = bytes == self.signs.adapter().stop_keys().as_bytes();
        if is_stop && !is_dialog(self.signs.newest()) {
            self.post.turns.stopped();
        }
        if !is_choosing {
            self.post.keyboard.typed(bytes);
            self.note_line(bytes);
        }
        let room = MOST_INPUT.saturating_sub(self.input.len());
        self.input.extend(&bytes[..bytes.len().min(room)]);
    }

    /// A line that goes to an editor which reads.
    fn note_line(&mut self, bytes: &[u8]) {
        let is_editor = self.signs.adapter().text_box() == TextBox::Editor;
        if is_editor && self.screen.is_paste_bracketed() && bytes.contains(&b'\r') {
            self.post.sent_off = Some(self.screen.readings_ended());
        }
    }

    fn draw(&mut self, now: Nanos) {
        for guest in &mut self.guests {
            guest.draw(&self.screen, now);
        }
    }

    fn step_stop(&mut self, now: Nanos) -> Result<(), HolderError> {
        let force = match self.stopping.step(now) {
            Step::Wait | Step::TypeKeys => return Ok(()),
            Step::Ask => tree::Force::Ask,
            Step::Kill => tree::Force::Kill,
        };
        let spared = catalogue::holders(&self.places);
        let processes = tree::descendants(&spared).map_err(HolderError::Tree)?;
        tree::signal(&processes, force);
        Ok(())
    }

    fn reap(&mut self, now: Nanos) {
        if now.since(self.reaped_at) >= REAP_INTERVAL {
            let agent = self.terminal.identity().pid;
            let kept: Vec<u32> = self.errands.processes().chain([agent]).collect();
            tree::reap_orphans(&kept);
            self.reaped_at = now;
        }
    }
}
