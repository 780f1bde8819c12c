//! Listens to the server that an agent has of its own, on a port of this machine, with the password of this session.
//!
//! The port is found among those that the session's processes listen on: choosing one beforehand would race with everybody else
//! who looks for one.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use handoff_agents::Conversation;
use handoff_agents::conversation::Format;
use handoff_core::time::Nanos;
use handoff_process::{listening_ports, tree};
use rustix::event::{PollFd, PollFlags};

use super::event_intake::EventIntake;
use crate::status_report::StatusReport;

/// How often the server is looked for.
const TRY_INTERVAL: Duration = Duration::from_millis(250);
/// An agent without a server after so many looks has none: nobody looks for ever.
const TRIES: u32 = 240;
/// How long an answer is waited for. Whoever asks while the server still starts is never answered.
const ANSWER_TAKES: Duration = Duration::from_secs(3);
/// A port of this machine answers at once or not at all.
const CONNECTING_TAKES: Duration = Duration::from_millis(100);
/// The user that opencode expects.
const USER: &str = "opencode";

/// What an agent's own server tells.
pub(super) struct EventStream {
    password: Option<String>,
    tries: u32,
    /// When the server is looked for again; while it has not answered, when it is asked again.
    try_at: Nanos,
    connection: Option<(TcpStream, EventIntake)>,
    conversation: Conversation,
}

impl EventStream {
    pub(super) fn new(format: Format, password: Option<String>) -> Self {
        Self {
            password,
            tries: 0,
            try_at: Nanos(0),
            connection: None,
            conversation: Conversation::new(format),
        }
    }

    pub(super) const fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    pub(super) fn poll_fd(&self) -> Option<PollFd<'_>> {
        let (socket, _) = self.connection.as_ref()?;
        Some(PollFd::new(socket, PollFlags::IN))
    }

    /// Whether the server tells us.
    pub(super) fn is_heard(&self) -> bool {
        (self.connection.as_ref()).is_some_and(|(_, intake)| intake.is_answered())
    }

    /// When to look for the server although nothing happens.
    pub(super) fn look_again(&self) -> Option<Nanos> {
        (!self.is_heard() && self.tries < TRIES).then_some(self.try_at)
    }

    /// What has come since the last look.
    pub(super) fn look(&mut self, now: Nanos) -> Vec<StatusReport> {
        if self.look_again().is_some_and(|due| now >= due) {
            self.connection = self.connect();
            let is_asked = self.connection.is_some();
            self.try_at = now.after(if is_asked { ANSWER_TAKES } else { TRY_INTERVAL });
            self.tries += 1;
        }
        let before = self.conversation.turns();
        let was = self.conversation.hint();
        if !self.listen() {
            return vec![];
        }
        if self.connection.is_none() {
            // Nothing that it said before holds for what comes now.
            return vec![StatusReport::Cleared];
        }
        let is = self.conversation.hint();
        let has_begun = self.conversation.turns() > before;
        super::reports(was, is, has_begun)
    }

    fn connect(&self) -> Option<(TcpStream, EventIntake)> {
        let processes: Vec<u32> = tree::descendants(&[])
            .ok()?
            .iter()
            .map(|it| it.pid)
            .collect();
        let ports = listening_ports(&processes);
        // Whatever else the agent has started listens later: its own server is tried first, and the others in turn.
        let port = ports.get(usize::try_from(self.tries).ok()? % ports.len().max(1))?;
        self.ask(*port).ok()
    }

    fn ask(&self, port: u16) -> io::Result<(TcpStream, EventIntake)> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut socket = TcpStream::connect_timeout(&address, CONNECTING_TAKES)?;
        let password = self.password.iter().map(|password| {
            let pair = STANDARD.encode(format!("{USER}:{password}"));
            format!("Authorization: Basic {pair}\r\n")
        });
        let password: String = password.collect();
        let request = format!(
            "GET /event HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n{password}\r\n"
        );
        socket.write_all(request.as_bytes())?;
        socket.set_nonblocking(true)?;
        Ok((socket, EventIntake::default()))
    }

    /// Takes what has come; whether that was anything. One who ends, or says something else, is let go.
    fn listen(&mut self) -> bool {
        let Some((socket, intake)) = &mut self.connection else {
            return false;
        };
        let mut buffer = [0; 16 * 1024];
        let mut has_come = false;
        loop {
            let taken = match socket.read(&mut buffer) {
                Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => intake.take(&buffer[..length], &mut |event: &str| {
                    self.conversation.take(event);
                }),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return has_come,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
                Err(error) => Err(error),
            };
            has_come = true;
            if taken.is_err() {
                self.connection = None;
                return true;
            }
        }
    }
}
