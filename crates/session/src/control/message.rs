//! What is asked and what is answered. Requests become types here; nothing behind this reads text.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use handoff_agents::Block;
use handoff_agents::hook::HookReport;
use handoff_core::{Action, Caller, MessageId, Relation, SessionId, SessionName};
use handoff_process::{SignalName, Size};
use serde::{Deserialize, Serialize};

use super::errand::Errand;
use super::http::Head;
use super::reach::Reach;
use crate::dialog::Dialog;
use crate::last_word::{self, LastWord};
use crate::message::{self, MessageDraft, Urgency};
use crate::paste;
use crate::record::Ending;
use crate::state::{Phase, Source};

/// The longest reply: a line of the journal has all of it.
pub const LONGEST_REPLY: usize = 64 * 1024;
/// The longest description of what was refused.
const LONGEST_ATTEMPT: usize = 200;
/// How many lines of a transcript are told, if nobody says, and at most.
const DEFAULT_LINES: u64 = 200;
const MOST_LINES: u64 = 10_000;
/// The longest time that an agent gets to leave by itself.
const LONGEST_GRACE: Duration = Duration::from_secs(3600);

/// Everything that can be asked for: what the tests of the gate knock at.
pub const ROUTES: [(&str, &str); 22] = [
    ("GET", "/v1/caller"),
    ("GET", "/v1/status"),
    ("GET", "/v1/screen"),
    ("GET", "/v1/screens"),
    ("GET", "/v1/messages"),
    ("GET", "/v1/events"),
    ("GET", "/v1/transcript"),
    ("GET", "/v1/dialog"),
    ("GET", "/v1/attach?mode=read"),
    ("GET", "/v1/attach?mode=write"),
    ("POST", "/v1/input"),
    ("POST", "/v1/messages"),
    ("POST", "/v1/interrupt"),
    ("POST", "/v1/hook"),
    ("POST", "/v1/answer"),
    ("POST", "/v1/replies"),
    ("POST", "/v1/last-word"),
    ("POST", "/v1/errand"),
    ("POST", "/v1/refused"),
    ("POST", "/v1/signal"),
    ("POST", "/v1/resize"),
    ("POST", "/v1/stop"),
];

/// What is asked of a holder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Who the one that asks is to this holder.
    Caller,
    Status,
    Screen,
    /// The screen, again each time that it changes.
    Screens,
    /// The messages to the session, and how far each has come.
    Messages,
    /// What has happened after this event, and what happens.
    Events {
        after: u64,
    },
    /// So many of the last lines that were printed.
    Transcript {
        lines: usize,
    },
    Input(Vec<u8>),
    Send(MessageDraft),
    Interrupt,
    /// What a hook of the agent told.
    Report(HookReport),
    /// The question that the agent asks.
    Dialog,
    Answer(Reply),
    /// What the session says last of its task.
    LastWord(LastWord),
    /// What the session says to whoever started it.
    Reply(String),
    /// What a session in a sandbox has done outside.
    Errand(Errand),
    /// What a session tried and was refused before this holder was asked.
    Refused(String),
    Signal {
        signal: SignalName,
        to: Reach,
    },
    Resize(Size),
    Stop {
        grace: Duration,
    },
    Attach(Attachment),
}

/// What one who attaches wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attachment {
    Look,
    /// To type as well; refused while somebody else does.
    Write,
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub status: u16,
    pub message: String,
}

/// Who the one that asks is to a holder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recognised {
    pub caller: Caller,
    /// The session that was asked.
    pub session: SessionId,
    pub name: SessionName,
}

/// What is known of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub state: Phase,
    /// What a blocked agent waits for.
    pub kind: Option<Block>,
    /// What says so.
    pub source: Source,
    /// For how long it is so.
    pub age_ms: u64,
    /// Since when the agent has printed nothing.
    pub silent_ms: Option<u64>,
    pub title: String,
    pub rows: u16,
    pub columns: u16,
    /// Bytes that the agent printed.
    pub printed: u64,
    /// Bytes of those that are in no transcript, because the disk was full.
    pub missing: u64,
    pub viewers: usize,
    /// What the agent calls its own record of the conversation, once that was looked at.
    #[serde(default)]
    pub conversation: Option<String>,
}

/// A message that is on record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    pub message: MessageId,
    /// Whether this request brought it; an earlier one with the same key may have.
    pub is_new: bool,
}

/// What an agent asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asking {
    /// What it waits for a person about.
    pub kind: Block,
    /// None if it asks in a way that is not understood.
    pub dialog: Option<Dialog>,
}

/// A choice in the dialog that was seen: another one is not answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    pub dialog: Dialog,
    /// The place of the choice, from zero.
    pub choice: usize,
}

/// A choice is being made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choosing {
    /// The number of the last event before that.
    pub seq: u64,
}

/// The keys that end a turn are pressed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interrupted {
    /// The turn that they are meant for.
    pub turn: u64,
    /// The number of the last event before that.
    pub seq: u64,
    /// Whether they leave a panel instead, and no turn.
    #[serde(default)]
    pub is_panel: bool,
}

/// A signal was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signalled {
    /// The processes that got it.
    pub processes: Vec<u32>,
}

/// How a session was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    #[serde(flatten)]
    pub exit: Ending,
    /// What it took: `exit_keys`, `term` or `kill`, or nothing because it ended by itself.
    pub by: Option<String>,
    /// Processes that could not be ended.
    pub left: Vec<u32>,
}

#[derive(Deserialize)]
struct InputBody {
    text: Option<String>,
    base64: Option<String>,
}

#[derive(Deserialize)]
struct ReplyBody {
    text: String,
}

#[derive(Deserialize)]
struct SignalBody {
    signal: String,
    #[serde(default)]
    to: Reach,
}

#[derive(Deserialize)]
struct ResizeBody {
    rows: u16,
    columns: u16,
}

#[derive(Deserialize)]
struct StopBody {
    #[serde(default = "usual_grace_ms")]
    grace_ms: u64,
}

/// What a person gets who names no time.
const fn usual_grace_ms() -> u64 {
    5000
}

impl Request {
    /// Reads a request that has arrived whole.
    pub fn parse(head: &Head, body: &[u8]) -> Result<Self, Refusal> {
        let [method, target, version] = head.first.as_slice() else {
            return Err(refusal(400, "the first line is no request"));
        };
        if version != "HTTP/1.1" {
            return Err(refusal(400, "only HTTP/1.1 is spoken here"));
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match (method.as_str(), path) {
            ("GET", "/v1/events") => {
                let after = number(query, "after")?;
                return Ok(Self::Events {
                    after: after.unwrap_or(0),
                });
            }
            ("GET", "/v1/transcript") => {
                let lines = number(query, "lines")?.unwrap_or(DEFAULT_LINES);
                let lines = usize::try_from(lines.min(MOST_LINES)).unwrap_or(0);
                return Ok(Self::Transcript { lines });
            }
            _ => {}
        }
        match (method.as_str(), target.as_str()) {
            ("GET", "/v1/messages") => Ok(Self::Messages),
            ("GET", "/v1/caller") => Ok(Self::Caller),
            ("GET", "/v1/status") => Ok(Self::Status),
            ("GET", "/v1/screen") => Ok(Self::Screen),
            ("GET", "/v1/screens") => Ok(Self::Screens),
            ("GET", "/v1/dialog") => Ok(Self::Dialog),
            ("GET", "/v1/attach?mode=read") => Ok(Self::Attach(Attachment::Look)),
            ("GET", "/v1/attach?mode=write") => Ok(Self::Attach(Attachment::Write)),
            ("POST", "/v1/input") => input(read(body)?),
            ("POST", "/v1/messages") => send(read(body)?),
            ("POST", "/v1/interrupt") => Ok(Self::Interrupt),
            ("POST", "/v1/hook") => read(body).map(Self::Report),
            ("POST", "/v1/answer") => read(body).map(Self::Answer),
            ("POST", "/v1/replies") => reply(&read(body)?),
            ("POST", "/v1/last-word") => last_word(body),
            ("POST", "/v1/errand") => read(body).map(Self::Errand),
            ("POST", "/v1/refused") => refused(&read(body)?),
            ("POST", "/v1/signal") => signal(&read(body)?),
            ("POST", "/v1/resize") => resize(&read(body)?),
            ("POST", "/v1/stop") if body.is_empty() => Ok(stop(&read(b"{}")?)),
            ("POST", "/v1/stop") => Ok(stop(&read(body)?)),
            ("GET" | "POST", _) => Err(refusal(404, "there is nothing of that name")),
            _ => Err(refusal(405, "only GET and POST are spoken here")),
        }
    }

    /// What the table of callers calls it, for one to whom the session that is asked is this.
    pub fn action(&self, relation: Relation, is_granted: bool) -> Action {
        match self {
            Self::Caller
            | Self::Status
            | Self::Screen
            | Self::Screens
            | Self::Messages
            | Self::Events { .. }
            | Self::Transcript { .. }
            | Self::Dialog
            | Self::Attach(Attachment::Look) => Action::Read,
            Self::Send(order) if order.urgency == Urgency::Force => Action::Supervise(relation),
            Self::Send(_) | Self::Refused(_) => Action::Tell,
            Self::Reply(_) | Self::LastWord(_) | Self::Errand(_) | Self::Report(_) => {
                Action::Speak(relation)
            }
            Self::Interrupt | Self::Signal { .. } | Self::Resize(_) | Self::Stop { .. } => {
                Action::Supervise(relation)
            }
            Self::Input(_) | Self::Answer(_) | Self::Attach(Attachment::Write) => Action::Answer {
                relation,
                is_granted,
            },
        }
    }

    /// Whether the answer is the same for everybody who may read.
    pub fn is_plain_look(&self) -> bool {
        *self != Self::Caller && self.action(Relation::Beside, false) == Action::Read
    }

    /// Its name, as a record of refusals has it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Status => "status",
            Self::Screen | Self::Screens => "screen",
            Self::Messages => "messages",
            Self::Events { .. } => "events",
            Self::Transcript { .. } => "transcript",
            Self::Input(_) => "input",
            Self::Send(_) => "send",
            Self::Interrupt => "interrupt",
            Self::Report(_) => "hook",
            Self::Dialog => "dialog",
            Self::Answer(_) => "answer",
            Self::LastWord(_) => "last-word",
            Self::Reply(_) => "reply",
            Self::Errand(_) => "errand",
            Self::Refused(_) => "refused",
            Self::Signal { .. } => "signal",
            Self::Resize(_) => "resize",
            Self::Stop { .. } => "stop",
            Self::Attach(_) => "attach",
        }
    }
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| refusal(400, &format!("wrong body: {error}")))
}

fn input(body: InputBody) -> Result<Request, Refusal> {
    match (body.text, body.base64) {
        (Some(text), None) => Ok(Request::Input(text.into_bytes())),
        (None, Some(base64)) => STANDARD
            .decode(base64)
            .map(Request::Input)
            .map_err(|error| refusal(400, &format!("wrong base64: {error}"))),
        (Some(_), Some(_)) | (None, None) => {
            Err(refusal(400, "one of `text` and `base64` is needed"))
        }
    }
}

/// The number of this name in a query, which has nothing else.
fn number(query: &str, name: &str) -> Result<Option<u64>, Refusal> {
    if query.is_empty() {
        return Ok(None);
    }
    let value = query.strip_prefix(name).and_then(|it| it.strip_prefix('='));
    let number = value.and_then(|value| value.parse().ok());
    let wrong = || refusal(400, &format!("only `{name}=NUMBER` is understood there"));
    number.map(Some).ok_or_else(wrong)
}

fn send(order: MessageDraft) -> Result<Request, Refusal> {
    if paste::clean(&order.text).is_empty() {
        return Err(refusal(400, "the message has no text"));
    }
    if order.text.len() > message::LONGEST {
        return Err(refusal(413, "the message is too long"));
    }
    Ok(Request::Send(order))
}

fn reply(body: &ReplyBody) -> Result<Request, Refusal> {
    let text = paste::clean(&body.text);
    match text.len() {
        0 => Err(refusal(400, "the reply has no text")),
        1..=LONGEST_REPLY => Ok(Request::Reply(text)),
        _ => Err(refusal(413, "the reply is too long")),
    }
}

/// Only a command of ours sends it: it is short.
fn refused(body: &ReplyBody) -> Result<Request, Refusal> {
    let text = paste::clean(&body.text);
    match text.len() {
        1..=LONGEST_ATTEMPT => Ok(Request::Refused(text)),
        _ => Err(refusal(400, "that is no short text")),
    }
}

fn last_word(body: &[u8]) -> Result<Request, Refusal> {
    if body.len() > last_word::LONGEST {
        return Err(refusal(413, "that is too long to be written down"));
    }
    read(body).map(Request::LastWord)
}

fn signal(body: &SignalBody) -> Result<Request, Refusal> {
    let signal = body.signal.parse();
    let signal = signal.map_err(|error| refusal(400, &format!("wrong signal: {error}")))?;
    Ok(Request::Signal {
        signal,
        to: body.to,
    })
}

fn resize(body: &ResizeBody) -> Result<Request, Refusal> {
    let size = Size {
        rows: body.rows,
        columns: body.columns,
    };
    if !size.is_possible() {
        let text = "a terminal has 1 to 1000 rows and columns, and at most 250,000 characters";
        return Err(refusal(400, text));
    }
    Ok(Request::Resize(size))
}

fn stop(body: &StopBody) -> Request {
    let grace = Duration::from_millis(body.grace_ms).min(LONGEST_GRACE);
    Request::Stop { grace }
}

pub(crate) fn refusal(status: u16, message: &str) -> Refusal {
    Refusal {
        status,
        message: message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str, body: &str) -> Result<Request, u16> {
        let text = format!("{line} HTTP/1.1\r\n\r\n");
        let head = Head::parse(text.as_bytes()).unwrap().unwrap();
        Request::parse(&head, body.as_bytes()).map_err(|refusal| refusal.status)
    }

    #[test]
    fn every_route_leads_somewhere() {
        for (method, target) in ROUTES {
            let got = parsed(&format!("{method} {target}"), "");
            assert!(!matches!(got, Err(404 | 405)), "{method} {target}");
        }
    }

    #[test]
    fn each_request_means_what_the_table_says() {
        let grace = |millis| Duration::from_millis(millis);
        let size = Size {
            rows: 2,
            columns: 3,
        };
        let table = [
            ("GET /v1/caller", "", Ok(Request::Caller)),
            ("GET /v1/status", "", Ok(Request::Status)),
            ("GET /v1/screen", "", Ok(Request::Screen)),
            (
                "POST /v1/input",
                r#"{"text":"é\r"}"#,
                Ok(Request::Input("é\r".into())),
            ),
            (
                "POST /v1/input",
                r#"{"base64":"AP8="}"#,
                Ok(Request::Input(vec![0, 255])),
            ),
            ("POST /v1/input", r#"{"base64":"!"}"#, Err(400)),
            ("POST /v1/input", "{}", Err(400)),
            (
                "POST /v1/input",
                r#"{"text":"a","base64":"AA=="}"#,
                Err(400),
            ),
            (
                "POST /v1/signal",
                r#"{"signal":"SIGUSR1"}"#,
                Ok(Request::Signal {
                    signal: "USR1".parse().unwrap(),
                    to: Reach::Agent,
                }),
            ),
            (
                "POST /v1/signal",
                r#"{"signal":"int","to":"all"}"#,
                Ok(Request::Signal {
                    signal: "INT".parse().unwrap(),
                    to: Reach::All,
                }),
            ),
            ("POST /v1/signal", r#"{"signal":"STOP"}"#, Err(400)),
            (
                "POST /v1/signal",
                r#"{"signal":"INT","to":"init"}"#,
                Err(400),
            ),
            (
                "POST /v1/resize",
                r#"{"rows":2,"columns":3}"#,
                Ok(Request::Resize(size)),
            ),
            ("POST /v1/resize", r#"{"rows":0,"columns":3}"#, Err(400)),
            ("POST /v1/resize", r#"{"rows":2,"columns":60000}"#, Err(400)),
            (
                "POST /v1/stop",
                r#"{"grace_ms":7}"#,
                Ok(Request::Stop { grace: grace(7) }),
            ),
            ("POST /v1/stop", r#"{"grace_ms":-1}"#, Err(400)),
            (
                "GET /v1/attach?mode=read",
                "",
                Ok(Request::Attach(Attachment::Look)),
            ),
            (
                "GET /v1/attach?mode=write",
                "",
                Ok(Request::Attach(Attachment::Write)),
            ),
            ("GET /v1/attach", "", Err(404)),
            ("GET /v1/stop", "", Err(404)),
            ("DELETE /v1/status", "", Err(405)),
            ("GET", "", Err(400)),
        ];
        for (line, body, expected) in table {
            assert_eq!(parsed(line, body), expected, "{line} {body}");
        }
    }
}
