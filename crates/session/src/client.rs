//! Asking a holder, without a runtime: one connection, one request, one answer.

mod screens;

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_agents::hook::HookReport;
use handoff_files::{Dir, DirError};
use handoff_process::{SignalName, Size};
use rustix::net::sockopt::socket_peercred;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::control::http::{self, Head, Headers};
use crate::control::{
    Asking, Attachment, Choosing, Errand, HttpError, Interrupted, Reach, Recognised, Reply,
    Returned, Screenshot, Sent, Signalled, Status, Stopped,
};
use crate::last_word::LastWord;
use crate::message::Order;
use crate::token::Token;

pub use screens::Screens;

/// A living holder answers in milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);
/// What a holder takes to end a session beyond what the agent gets, at most: TERM, KILL, and what the kernel takes for it.
const ENDING_TAKES: Duration = Duration::from_secs(10);
/// Room for an answer about a session, so that it is read in one go.
const USUAL_ANSWER: usize = 4096;
/// The longest answer: a screen of a million characters with colours.
const LONGEST_ANSWER: u64 = 64 * 1024 * 1024;

/// A way to one holder.
#[derive(Debug, Clone)]
pub struct Client {
    socket: PathBuf,
    token: Option<Token>,
}

/// A holder that was asked for its status.
#[derive(Debug)]
pub struct Asked(UnixStream);

/// A holder could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("cannot look into the directory of the socket")]
    Directory(#[source] DirError),
    #[error("cannot reach the holder at `{0}`")]
    Connect(PathBuf, #[source] io::Error),
    #[error("the socket `{0}` belongs to somebody else")]
    Stranger(PathBuf),
    #[error("cannot put the question into words")]
    Ask(#[source] serde_json::Error),
    #[error("the holder did not answer")]
    Talk(#[source] io::Error),
    #[error("the holder answered something else than HTTP")]
    Http(#[from] HttpError),
    #[error("the holder answered something unexpected")]
    Answer(#[source] serde_json::Error),
    #[error("the holder refused: {message}")]
    Refused { status: u16, message: String },
}

impl ClientError {
    /// Whether the holder took the question and said nothing: it hangs.
    pub fn is_silence(&self) -> bool {
        match self {
            Self::Talk(error) => matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
            ),
            Self::Directory(_)
            | Self::Connect(..)
            | Self::Stranger(_)
            | Self::Ask(_)
            | Self::Http(_)
            | Self::Answer(_)
            | Self::Refused { .. } => false,
        }
    }
}

impl Client {
    pub fn new(socket: impl Into<PathBuf>) -> Self {
        Self {
            socket: socket.into(),
            token: None,
        }
    }

    /// Asks as the one whom this token belongs to, and not as the person whose socket it is.
    #[must_use]
    pub fn with_token(self, token: Token) -> Self {
        Self {
            token: Some(token),
            ..self
        }
    }

    /// Who we are to this holder.
    pub fn caller(&self) -> Result<Recognised, ClientError> {
        self.ask("GET", "/v1/caller", &[], Some(PATIENCE))
    }

    pub fn status(&self) -> Result<Status, ClientError> {
        self.ask_status()?.status()
    }

    /// Asks for the status and does not wait for it: many holders can be asked before the first has answered.
    pub fn ask_status(&self) -> Result<Asked, ClientError> {
        self.send("GET", "/v1/status", &[], Some(PATIENCE))
            .map(Asked)
    }

    pub fn screen(&self) -> Result<Screenshot, ClientError> {
        self.ask("GET", "/v1/screen", &[], Some(PATIENCE))
    }

    /// Types these bytes.
    pub fn input(&self, text: &str) -> Result<(), ClientError> {
        let body = json!({ "text": text }).to_string();
        self.ask::<serde_json::Value>("POST", "/v1/input", body.as_bytes(), Some(PATIENCE))
            .map(drop)
    }

    /// Has a message written down, to be typed when the agent waits for one.
    pub fn send_message(&self, order: &Order) -> Result<Sent, ClientError> {
        let body = serde_json::to_vec(order).map_err(ClientError::Ask)?;
        self.ask("POST", "/v1/messages", &body, Some(PATIENCE))
    }

    /// Tells of something that we were refused.
    pub fn report_refused(&self, act: &str) -> Result<(), ClientError> {
        let body = json!({ "text": act }).to_string();
        self.ask::<serde_json::Value>("POST", "/v1/refused", body.as_bytes(), Some(PATIENCE))
            .map(drop)
    }

    /// What the agent asks a person.
    pub fn asking(&self) -> Result<Asking, ClientError> {
        self.ask("GET", "/v1/dialog", &[], Some(PATIENCE))
    }

    /// Has a choice made, if the same is still asked.
    pub fn reply(&self, reply: &Reply) -> Result<Choosing, ClientError> {
        let body = serde_json::to_vec(reply).map_err(ClientError::Ask)?;
        self.ask("POST", "/v1/answer", &body, Some(PATIENCE))
    }

    /// Tells what a hook of the agent told.
    pub fn report(&self, report: &HookReport) -> Result<(), ClientError> {
        let body = serde_json::to_vec(report).map_err(ClientError::Ask)?;
        self.ask::<serde_json::Value>("POST", "/v1/hook", &body, Some(PATIENCE))
            .map(drop)
    }

    /// Says something to whoever started this session, and returns the number of the event.
    pub fn reply_to_starter(&self, text: &str) -> Result<u64, ClientError> {
        let body = json!({ "text": text }).to_string();
        let told: serde_json::Value =
            self.ask("POST", "/v1/replies", body.as_bytes(), Some(PATIENCE))?;
        Ok(told["seq"].as_u64().unwrap_or_default())
    }

    /// Says the last of a session's task, and returns the number of the event.
    pub fn say_last(&self, word: &LastWord) -> Result<u64, ClientError> {
        let body = serde_json::to_vec(word).map_err(ClientError::Ask)?;
        let told: serde_json::Value = self.ask("POST", "/v1/last-word", &body, Some(PATIENCE))?;
        Ok(told["seq"].as_u64().unwrap_or_default())
    }

    /// Has a command run outside of the sandbox that this session is in, for as long as it takes.
    pub fn errand(&self, errand: &Errand) -> Result<Returned, ClientError> {
        let body = serde_json::to_vec(errand).map_err(ClientError::Ask)?;
        self.ask("POST", "/v1/errand", &body, None)
    }

    /// Has the keys pressed that end a turn.
    pub fn interrupt(&self) -> Result<Interrupted, ClientError> {
        self.ask("POST", "/v1/interrupt", &[], Some(PATIENCE))
    }

    /// Sends a signal to what the holder has started.
    pub fn signal(&self, signal: SignalName, to: Reach) -> Result<Signalled, ClientError> {
        let body = json!({ "signal": signal.word(), "to": to }).to_string();
        self.ask("POST", "/v1/signal", body.as_bytes(), Some(PATIENCE))
    }

    pub fn resize(&self, size: Size) -> Result<(), ClientError> {
        let body = json!({ "rows": size.rows, "columns": size.columns }).to_string();
        self.ask::<serde_json::Value>("POST", "/v1/resize", body.as_bytes(), Some(PATIENCE))
            .map(drop)
    }

    /// Ends the session, and returns when nothing of it is left. It gets `grace` to leave by itself.
    /// One that takes much longer than that hangs.
    pub fn stop(&self, grace: Duration) -> Result<Stopped, ClientError> {
        let millis = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        let body = json!({ "grace_ms": millis }).to_string();
        let patience = grace.saturating_add(ENDING_TAKES);
        self.ask("POST", "/v1/stop", body.as_bytes(), Some(patience))
    }

    /// Becomes a viewer: what comes is drawn, what is sent is typed.
    pub fn attach(&self, attachment: Attachment) -> Result<UnixStream, ClientError> {
        self.begin_stream(match attachment {
            Attachment::Look => "/v1/attach?mode=read",
            Attachment::Write => "/v1/attach?mode=write",
        })
    }

    /// What the terminal shows now, and again each time that it changes.
    pub fn screens(&self) -> Result<Screens, ClientError> {
        self.begin_stream("/v1/screens").map(Screens::new)
    }

    /// Asks for something that goes on, and returns when it begins.
    fn begin_stream(&self, target: &str) -> Result<UnixStream, ClientError> {
        let mut stream = self.connect(Some(PATIENCE))?;
        let bytes = http::request("GET", target, self.token.as_ref(), &[]);
        stream.write_all(&bytes).map_err(ClientError::Talk)?;
        let mut received = vec![];
        let head = loop {
            if let Some(head) = Head::parse(&received)? {
                break head;
            }
            // One at a time: what follows the head is what was asked for.
            let mut byte = [0];
            stream.read_exact(&mut byte).map_err(ClientError::Talk)?;
            received.push(byte[0]);
        };
        if matches!(status_of(&head)?, 101 | 200) {
            stream.set_read_timeout(None).map_err(ClientError::Talk)?;
            return Ok(stream);
        }
        stream
            .take(LONGEST_ANSWER)
            .read_to_end(&mut received)
            .map_err(ClientError::Talk)?;
        Err(refused(&head, &received))
    }

    fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        target: &str,
        body: &[u8],
        patience: Option<Duration>,
    ) -> Result<T, ClientError> {
        hear(self.send(method, target, body, patience)?)
    }

    fn send(
        &self,
        method: &str,
        target: &str,
        body: &[u8],
        patience: Option<Duration>,
    ) -> Result<UnixStream, ClientError> {
        let mut stream = self.connect(patience)?;
        let bytes = http::request(method, target, self.token.as_ref(), body);
        stream.write_all(&bytes).map_err(ClientError::Talk)?;
        Ok(stream)
    }

    fn connect(&self, patience: Option<Duration>) -> Result<UnixStream, ClientError> {
        let failed = |error| ClientError::Connect(self.socket.clone(), error);
        let directory = self.socket.parent().unwrap_or(Path::new("/"));
        let directory = Dir::open(directory).map_err(ClientError::Directory)?;
        let name = self.socket.file_name().unwrap_or_default();
        let stream = UnixStream::connect(short(&directory).join(name)).map_err(failed)?;
        let peer = socket_peercred(&stream).map_err(|errno| failed(errno.into()))?;
        if peer.uid != rustix::process::geteuid() {
            return Err(ClientError::Stranger(self.socket.clone()));
        }
        stream.set_read_timeout(patience).map_err(failed)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        Ok(stream)
    }
}

impl Asked {
    /// Waits for the answer.
    pub fn status(self) -> Result<Status, ClientError> {
        hear(self.0)
    }
}

fn hear<T: DeserializeOwned>(stream: UnixStream) -> Result<T, ClientError> {
    let mut received = Vec::with_capacity(USUAL_ANSWER);
    stream
        .take(LONGEST_ANSWER)
        .read_to_end(&mut received)
        .map_err(ClientError::Talk)?;
    let head = parse_answer(&received)?;
    if status_of(&head)? != 200 {
        return Err(refused(&head, &received));
    }
    let body = received.get(head.length..).unwrap_or_default();
    serde_json::from_slice(body).map_err(ClientError::Answer)
}

/// A path to an open directory that is short, however long its own is: the address of a socket has 108 bytes.
pub(crate) fn short(directory: &Dir) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", directory.as_fd().as_raw_fd()))
}

/// An answer's body may be longer than a request's: its end is the end of the connection.
fn parse_answer(received: &[u8]) -> Result<Head, ClientError> {
    let end = received
        .windows(4)
        .position(|it| it == b"\r\n\r\n")
        .ok_or(HttpError::Malformed)?;
    let text = String::from_utf8_lossy(&received[..end]);
    let first = text.lines().next().unwrap_or_default();
    Ok(Head {
        first: first.split(' ').map(str::to_owned).collect(),
        length: end + 4,
        headers: Headers::default(),
    })
}

fn status_of(head: &Head) -> Result<u16, ClientError> {
    let status = head.first.get(1).and_then(|word| word.parse().ok());
    Ok(status.ok_or(HttpError::Malformed)?)
}

fn refused(head: &Head, received: &[u8]) -> ClientError {
    let body = received.get(head.length..).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    ClientError::Refused {
        status: status_of(head).unwrap_or(0),
        message: value["error"].as_str().unwrap_or("no reason").to_owned(),
    }
}
