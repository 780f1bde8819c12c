//! Sessions as JSON.

use handoff_core::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionDocument {
    /// Its identity.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Where it belongs.
    pub project: String,
    /// The adapter that reads it.
    pub agent: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Where it runs.
    pub cwd: String,
    /// `starting`, `prompt`, `busy`, `blocked`, `exited`, `lost` or `unknown`.
    pub state: String,
    /// What a blocked agent waits for.
    pub kind: Option<String>,
    /// What says so.
    pub source: Option<String>,
    /// For how long it is so.
    pub state_age_seconds: Option<f64>,
    /// The last that was known of a session whose holder died.
    pub last_state: Option<String>,
    /// The process of the agent.
    pub pid: u32,
    /// The process of the holder.
    pub holder_pid: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What the agent exited with, or 128 and the signal.
    pub exit_code: Option<u8>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// When the agent printed last.
    pub log_mtime: Option<Timestamp>,
    /// For how many seconds it has printed nothing.
    pub log_idle_s: Option<u64>,
    /// What it printed.
    pub output_log_path: String,
    /// What happened to it.
    pub events_log_path: String,
    /// Where its holder listens.
    pub socket: String,
    /// Where it listens besides, if that was asked for.
    pub host: Option<String>,
    /// On which port.
    pub port: Option<u16>,
    /// The private file with the token that the port demands.
    pub port_token_path: Option<String>,
    /// The task that it works on.
    pub task: Option<String>,
    /// How its right to that stands, if somebody has to renew it: in the ledger of a team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<TenureDocument>,
    /// What holds it: `worktree` or `none`.
    pub sandbox: &'static str,
    /// Why nothing holds the session of a task: `task`, `settings`, `kernel` or `agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_off: Option<&'static str>,
    /// The window of tmux that was opened for it, when it is started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tmux_target: Option<String>,
}

/// How the lease of a living session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TenureDocument {
    /// It is renewed.
    Kept,
    /// Whoever renewed it was gone; somebody else does since now.
    Relieved,
    /// Nobody renews it.
    Unkept,
    /// The task is over, or anybody's.
    Lost,
}

impl SessionDocument {
    /// The schema of a session.
    pub const SCHEMA: &str = "handoff.session/1";
}

/// The sessions of a project, or all.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionsDocument {
    /// The oldest first.
    pub sessions: Vec<SessionDocument>,
    /// What a person should know of leases that somebody has to renew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl SessionsDocument {
    /// The schema of a list of sessions.
    pub const SCHEMA: &str = "handoff.sessions/1";
}

/// What a session's terminal shows.
#[derive(Debug, Serialize)]
pub struct PaneDocument {
    /// The session.
    pub session: String,
    /// The height of the terminal.
    pub rows: u16,
    /// The width of the terminal.
    pub columns: u16,
    /// Where the cursor is, counted from zero.
    pub cursor_row: u16,
    /// The same for its column.
    pub cursor_column: u16,
    /// The title that the agent set.
    pub title: String,
    /// Whether it is the screen of a full-screen program.
    pub is_alternate: bool,
    /// Its rows.
    pub lines: Vec<String>,
}

impl PaneDocument {
    /// The schema of a screen.
    pub const SCHEMA: &str = "handoff.pane/1";
}

/// A line that an agent printed.
#[derive(Debug, Serialize)]
pub struct LogLineDocument {
    /// Its text.
    pub line: String,
}

impl LogLineDocument {
    /// The schema of a line.
    pub const SCHEMA: &str = "handoff.log-line/1";
}

/// What was printed before the first line and is kept no longer.
#[derive(Debug, Serialize)]
pub struct LogGapDocument {
    /// How many bytes.
    pub dropped_bytes: u64,
}

impl LogGapDocument {
    /// The schema of a gap.
    pub const SCHEMA: &str = "handoff.log-gap/1";
}

/// How a session ended.
#[derive(Debug, Serialize)]
pub struct SessionEndDocument {
    /// The session.
    pub session: String,
    /// What people call it.
    pub name: String,
    /// What the agent exited with, or 128 and the signal.
    pub exit_code: u8,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it took: `exit_keys`, `term` or `kill`; nothing if it ended by itself.
    pub by: Option<String>,
    /// Processes that could not be ended.
    pub left: Vec<u32>,
}

impl SessionEndDocument {
    /// The schema of an end.
    pub const SCHEMA: &str = "handoff.session-end/1";
}

/// The schema of an event of a session.
pub const SESSION_EVENT_SCHEMA: &str = "handoff.session-event/1";
