//! `events.jsonl`: what happened to a session, one JSON object a line.
//!
//! Every line has `schema_version`, `seq` (1, 2, 3 …), `ts`, `id` and `type`; fields are added and never change their meaning.
//! The file is opened for each event, written by one call and closed: closing is what wakes those who watch it.

use std::io;
use std::path::{Path, PathBuf};

use handoff_agents::{Block, Usage};
use handoff_core::{MessageId, SessionId, SessionName, Timestamp};
use serde::{Deserialize, Serialize};

use crate::confinement::{Confinement, SandboxOff};
use crate::last_word::LastWord;
use crate::line_file::{self, Durability};
use crate::message::Evidence;
use crate::outcome::Outcome;
use crate::place;
use crate::record::Ending;
use crate::state::{Phase, Source};

/// Something that happened to a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The agent runs.
    Started {
        pid: u32,
        agent: String,
        cwd: PathBuf,
        /// What holds it.
        #[serde(default)]
        sandbox: Confinement,
        /// The version of Landlock that does, or could.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        landlock: Option<u32>,
        /// Why nothing holds the session of a task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox_off: Option<SandboxOff>,
    },
    /// The agent does something else now.
    StateChanged {
        state: Phase,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<Block>,
        source: Source,
    },
    /// Somebody sends a message.
    Send {
        message: MessageId,
        /// Its beginning.
        msg: String,
        msg_truncated: bool,
        forced: bool,
    },
    /// The agent has taken a message.
    Delivered {
        message: MessageId,
        evidence: Evidence,
        turn: u64,
    },
    /// A choice was made in a dialog.
    Answered {
        choice: String,
        /// Whether the choice was made; if not, the keys did nothing, or the question went away before.
        is_taken: bool,
    },
    /// The session says something to whoever started it.
    Replied { msg: String },
    /// The session says that its task is done, or that it needs a person for it.
    Reported {
        #[serde(flatten)]
        word: LastWord,
    },
    /// The agent begins to work.
    TurnStarted { turn: u64 },
    /// It waits for the next message.
    TurnEnded {
        turn: u64,
        /// The message that began it, if it was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageId>,
        #[serde(flatten)]
        outcome: Outcome,
        /// What it took, where the agent keeps a record of that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// What a turn took, where that comes on record only after its end.
    Usage { turn: u64, usage: Usage },
    /// The agent waits for a person.
    Blocked { kind: Block, source: Source },
    /// The agent has printed nothing for a while.
    LogIdle { silent_s: u64 },
    /// The agent prints again, after so many seconds.
    LogActive { silent_s: u64 },
    /// So many of the first bytes that it printed are kept no longer.
    LogCut { dropped: u64 },
    /// Nothing of the agent moves; so many messages to go on were sent before.
    Stalled { silent_s: u64, resumes: u32 },
    /// The watch has sent a message to go on.
    Resumed { resume: u32, of: u32 },
    /// The watch has given up.
    Escalated { resumes: u32 },
    /// Somebody has sent a signal, and these got it.
    Signalled { signal: String, processes: Vec<u32> },
    /// A session, or what is run as a check, was refused something that is for a person; so often by now.
    Refused { by: String, act: String, times: u64 },
    /// A file that the agent is to be told of has changed.
    FileChanged { path: PathBuf },
    /// The agent has ended, and everything that it started.
    Exited {
        #[serde(flatten)]
        exit: Ending,
    },
    /// A type of a later version.
    #[serde(other)]
    Other,
}

impl Event {
    /// What a turn took, if it says so.
    pub const fn usage(&self) -> Option<&Usage> {
        let (Self::TurnEnded {
            usage: Some(usage), ..
        }
        | Self::Usage { usage, .. }) = self
        else {
            return None;
        };
        Some(usage)
    }

    /// How much of the transcript is kept no longer, if it says so.
    const fn dropped(&self) -> Option<u64> {
        let Self::LogCut { dropped } = self else {
            return None;
        };
        Some(*dropped)
    }

    /// The state that it says.
    const fn published(&self) -> Option<(Phase, Option<Block>)> {
        match self {
            Self::StateChanged { state, kind, .. } => Some((*state, *kind)),
            Self::Started { .. }
            | Self::Send { .. }
            | Self::Delivered { .. }
            | Self::Answered { .. }
            | Self::Replied { .. }
            | Self::Reported { .. }
            | Self::TurnStarted { .. }
            | Self::TurnEnded { .. }
            | Self::Usage { .. }
            | Self::Blocked { .. }
            | Self::LogIdle { .. }
            | Self::LogActive { .. }
            | Self::LogCut { .. }
            | Self::Stalled { .. }
            | Self::Resumed { .. }
            | Self::Escalated { .. }
            | Self::Signalled { .. }
            | Self::Refused { .. }
            | Self::FileChanged { .. }
            | Self::Exited { .. }
            | Self::Other => None,
        }
    }
}

/// The words of all types, as `docs/events.md` explains them.
pub const TYPES: [&str; 21] = [
    "started",
    "state_changed",
    "send",
    "delivered",
    "answered",
    "replied",
    "reported",
    "turn_started",
    "turn_ended",
    "usage",
    "blocked",
    "log_idle",
    "log_active",
    "log_cut",
    "stalled",
    "resumed",
    "escalated",
    "signalled",
    "refused",
    "file_changed",
    "exited",
];

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub schema_version: u32,
    pub seq: u64,
    pub ts: Timestamp,
    /// The name of the session.
    pub id: SessionName,
    pub session: SessionId,
    #[serde(flatten)]
    pub event: Event,
}

/// The journal that a holder writes.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    seq: u64,
    name: SessionName,
    session: SessionId,
}

impl Journal {
    pub fn new(directory: &Path, session: SessionId, name: SessionName) -> Self {
        Self {
            path: place::journal(directory),
            seq: 0,
            name,
            session,
        }
    }

    /// The number of the last event.
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// Adds an event that somebody was promised: it is on the disk.
    pub fn append_durably(&mut self, event: Event, ts: Timestamp) -> io::Result<()> {
        self.add(event, ts, Durability::Now)
    }

    /// Adds an event.
    pub fn append(&mut self, event: Event, ts: Timestamp) -> io::Result<()> {
        self.add(event, ts, Durability::Later)
    }

    fn add(&mut self, event: Event, ts: Timestamp, durability: Durability) -> io::Result<()> {
        let entry = Entry {
            schema_version: 1,
            seq: self.seq + 1,
            ts,
            id: self.name.clone(),
            session: self.session,
            event,
        };
        line_file::append(&self.path, &entry, durability)?;
        self.seq += 1;
        Ok(())
    }
}

/// Everything that happened so far. A line that is cut off is not there yet.
pub fn read(directory: &Path) -> io::Result<Vec<Entry>> {
    parse(&line_file::read(&place::journal(directory))?)
}

/// The same from the bytes of such a file.
pub fn parse(bytes: &[u8]) -> io::Result<Vec<Entry>> {
    line_file::whole_lines(bytes)
        .map(|line| Ok(serde_json::from_slice(line)?))
        .collect()
}

/// The state that was published last; none before the first change.
pub fn last_state(directory: &Path) -> io::Result<Option<(Phase, Option<Block>)>> {
    last(directory, Event::published)
}

/// How much of what was printed was not kept, by what was said last of it; none if all is there.
pub fn last_dropped(directory: &Path) -> io::Result<Option<u64>> {
    last(directory, Event::dropped)
}

/// What was refused last: by whom, what, and how often by then. Few lines are of that kind, so only those are read.
pub fn last_refused(directory: &Path) -> io::Result<Option<(String, String, u64)>> {
    const MARK: &[u8] = b"\"type\":\"refused\"";
    let bytes = line_file::read(&place::journal(directory))?;
    let is_marked = |line: &&[u8]| line.windows(MARK.len()).any(|it| it == MARK);
    let mut entries = line_file::whole_lines(&bytes)
        .rev()
        .filter(is_marked)
        .filter_map(|line| serde_json::from_slice::<Entry>(line).ok());
    Ok(entries.find_map(|entry| {
        let Event::Refused { by, act, times } = entry.event else {
            return None;
        };
        Some((by, act, times))
    }))
}

/// What the newest entry says that says something. A line that cannot be read says nothing.
fn last<T>(directory: &Path, said: impl Fn(&Event) -> Option<T>) -> io::Result<Option<T>> {
    let bytes = line_file::read(&place::journal(directory))?;
    Ok(line_file::whole_lines(&bytes)
        .rev()
        .filter_map(|line| serde_json::from_slice::<Entry>(line).ok())
        .find_map(|entry| said(&entry.event)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(place: &Path) -> Journal {
        let session = "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".parse().unwrap();
        Journal::new(place, session, "impl".parse().unwrap())
    }

    #[test]
    fn a_line_has_what_the_contract_says() {
        let place = tempfile::TempDir::new().unwrap();
        let mut journal = journal(place.path());
        let at: Timestamp = "2026-01-02T03:04:05.5Z".parse().unwrap();
        let changed = |state| Event::StateChanged {
            state,
            kind: None,
            source: Source::Screen,
        };
        journal.append(changed(Phase::Busy), at).unwrap();
        journal.append(changed(Phase::Prompt), at).unwrap();
        let exited = Event::Exited {
            exit: Ending::Code(3),
        };
        journal.append(exited, at).unwrap();
        let text = std::fs::read_to_string(place::journal(place.path())).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[2],
            "{\"schema_version\":1,\"seq\":3,\"ts\":\"2026-01-02T03:04:05.5Z\",\"id\":\"impl\",\
             \"session\":\"ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60\",\"type\":\"exited\",\"code\":3}"
        );
        assert_eq!(
            last_state(place.path()).unwrap(),
            Some((Phase::Prompt, None))
        );
    }

    #[test]
    fn a_line_that_cannot_be_read_does_not_hide_what_was_dropped() {
        let place = tempfile::TempDir::new().unwrap();
        let mut journal = journal(place.path());
        let at: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        journal.append(Event::LogCut { dropped: 7 }, at).unwrap();
        let file = place::journal(place.path());
        let mut bytes = std::fs::read(&file).unwrap();
        bytes.extend(b"{\"seq\":\n");
        std::fs::write(&file, bytes).unwrap();
        assert!(read(place.path()).is_err());
        assert_eq!(last_dropped(place.path()).unwrap(), Some(7));
    }

    #[test]
    fn a_type_of_a_later_version_is_no_error() {
        let line = "{\"schema_version\":1,\"seq\":1,\"ts\":\"2026-01-02T03:04:05Z\",\"id\":\"a\",\
                    \"session\":\"ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60\",\"type\":\"danced\",\"steps\":3}";
        let entry: Entry = serde_json::from_str(line).unwrap();
        assert_eq!(entry.event, Event::Other);
    }
}
