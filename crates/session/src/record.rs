//! `session.json`: what a session is, and how it ended. Written whole before its agent starts, when that has started and when it
//! ends, by its holder only.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use handoff_core::time::Nanos;
use handoff_core::{Fence, ProjectId, SessionId, SessionName, TaskId, TaskName, Timestamp};
use handoff_files::{Dir, DirError, Mode, WriteError, atomic};
use handoff_process::{Exit, Identity, Size};
use serde::{Deserialize, Serialize};

use crate::confinement::{Confinement, SandboxOff};

const FILE: &str = "session.json";
/// What the end of a session adds to its record. That much is kept free at the end of one that lives: a disk that has filled up
/// since must not keep the end from being told.
const ROOM: usize = 1024;
/// A record is a page at most; anything longer is none of ours.
const LONGEST: u64 = 1024 * 1024;

/// What a session is, and how it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub schema_version: u32,
    pub id: SessionId,
    pub name: SessionName,
    pub project: ProjectId,
    /// The name of the adapter.
    pub agent: String,
    /// Program and arguments, as far as they are text.
    pub command: Vec<String>,
    pub description: Option<String>,
    /// The task that it works on.
    #[serde(default)]
    pub task: Option<TaskName>,
    #[serde(default)]
    pub task_id: Option<TaskId>,
    /// By which right it works on that.
    #[serde(default)]
    pub fence: Option<Fence>,
    /// The session that started it, established from the processes above its holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<SessionId>,
    pub cwd: PathBuf,
    pub socket: PathBuf,
    /// Where it listens besides the socket.
    #[serde(default)]
    pub host: Option<String>,
    #[serde(default)]
    pub port: Option<u16>,
    pub holder: Process,
    /// Who stands behind the holder.
    pub warden: Option<u32>,
    pub child: Process,
    pub rows: u16,
    pub columns: u16,
    pub started_at: Timestamp,
    pub ended: Option<Ended>,
    /// Whether something holds it.
    #[serde(default)]
    pub confinement: Confinement,
    /// Why nothing holds the session of a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_off: Option<SandboxOff>,
}

/// A process of this boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    /// When it started, in the kernel's ticks: a later process with the same number is another one.
    pub start_ticks: u64,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    pub at: Timestamp,
    #[serde(flatten)]
    pub exit: Ending,
    /// Processes that could not be ended.
    pub left: Vec<u32>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Code(i32),
    Signal(i32),
}

/// A record could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("cannot read the record of a session")]
    Read(#[source] DirError),
    #[error("`{0}` is not the record of a session")]
    Damaged(PathBuf, #[source] serde_json::Error),
    #[error("cannot write the record of a session")]
    Write(#[source] WriteError),
}

impl Record {
    pub const VERSION: u32 = 1;

    /// The record in this directory; none if there is none, as for a session without a terminal.
    pub fn read(directory: &Dir) -> Result<Option<Self>, RecordError> {
        let bytes = match directory.read(FILE, LONGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(RecordError::Read(error)),
        };
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| RecordError::Damaged(directory.path().join(FILE), error))
    }

    pub fn write(&self, directory: &Dir) -> Result<(), RecordError> {
        let mut bytes = self.text();
        if self.ended.is_none() {
            bytes.resize(bytes.len() + ROOM, b' ');
        }
        bytes.push(b'\n');
        atomic::replace(directory, FILE, &bytes, Mode::Private).map_err(RecordError::Write)
    }

    /// Takes back what was written of a session that never began.
    pub(crate) fn remove(directory: &Dir) -> Result<(), DirError> {
        directory.remove(FILE)
    }

    /// Writes the end of a session, in place of what is there if the disk has no room for both.
    pub fn write_end(&self, directory: &Dir) -> Result<(), RecordError> {
        match self.write(directory) {
            Err(RecordError::Write(error)) if error.is_out_of_space() => self
                .overwrite(&directory.path().join(FILE))
                .map_err(|_no_room_either| RecordError::Write(error)),
            written => written,
        }
    }

    fn overwrite(&self, path: &Path) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(path)?;
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        let mut bytes = self.text();
        if bytes.len() >= length {
            return Err(io::ErrorKind::StorageFull.into());
        }
        bytes.resize(length - 1, b' ');
        bytes.push(b'\n');
        file.write_all(&bytes)?;
        file.sync_data()
    }

    fn text(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("a record has only text as keys")
    }

    pub fn size(&self) -> Size {
        Size {
            rows: self.rows,
            columns: self.columns,
        }
    }
}

impl Ending {
    /// What a shell would call it.
    pub fn exit_code(self) -> u8 {
        let number = match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        };
        u8::try_from(number & 0xff).expect("eight bits are left")
    }
}

impl TryFrom<Exit> for Ending {
    type Error = io::Error;

    fn try_from(exit: Exit) -> io::Result<Self> {
        match exit {
            Exit::Code(code) => Ok(Self::Code(code)),
            Exit::Signal(signal) => Ok(Self::Signal(signal)),
            Exit::TimedOut => Err(io::Error::other("a program that still runs has no ending")),
        }
    }
}

impl Process {
    /// When it started, on the clock that goes on while the machine sleeps. The kernel tells it to the hundredth of a second.
    pub fn started(self) -> Nanos {
        let hundredths = i64::try_from(self.start_ticks).unwrap_or(i64::MAX);
        Nanos(hundredths.saturating_mul(10_000_000))
    }
}

impl From<Process> for Identity {
    fn from(process: Process) -> Self {
        Self {
            pid: process.pid,
            started: process.start_ticks,
        }
    }
}

impl From<Identity> for Process {
    fn from(identity: Identity) -> Self {
        Self {
            pid: identity.pid,
            start_ticks: identity.started,
        }
    }
}
