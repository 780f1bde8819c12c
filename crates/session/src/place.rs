//! Where the files of sessions lie. Names of files are enough to find everything: nothing is registered anywhere.

use std::path::{Path, PathBuf};

use handoff_core::{ProjectId, SessionId, SessionName};

/// The state directory, seen by the sessions in it.
#[derive(Debug, Clone)]
pub struct Places {
    home: PathBuf,
}

impl Places {
    pub fn new(home: PathBuf) -> Self {
        Self { home }
    }

    /// The directories of all sessions.
    pub fn sessions(&self) -> PathBuf {
        self.home.join("sessions")
    }

    /// The directory of a session.
    pub fn session(&self, session: SessionId) -> PathBuf {
        self.sessions().join(session.to_string())
    }

    /// Where the names of a project's sessions are taken: beside each name, which holds the id of its newest session, lies
    /// the lock that its living holder has.
    pub fn names(&self, project: ProjectId) -> PathBuf {
        self.home.join("names").join(project.to_string())
    }

    /// The lock on a name.
    pub fn name_lock(&self, project: ProjectId, name: &SessionName) -> PathBuf {
        self.names(project).join(format!("{name}.lock"))
    }

    /// The directories for temporary files of sessions in a sandbox.
    pub fn all_private(&self) -> PathBuf {
        self.home.join("tmp")
    }

    /// That of one session.
    pub fn private(&self, session: SessionId) -> PathBuf {
        self.all_private().join(session.to_string())
    }

    /// Where sockets lie if the user has no directory for them.
    pub fn own_sockets(&self) -> PathBuf {
        self.home.join("run")
    }
}

/// The lock that says that a holder lives.
pub fn holder_lock(session: &Path) -> PathBuf {
    session.join("holder.lock")
}

/// The lock of the process that renews the lease of a session. It is there as soon as somebody has to.
pub fn keeper_lock(session: &Path) -> PathBuf {
    session.join("keeper.lock")
}

/// The file that is there when the lease of a session is no longer its own.
pub const LOST_LEASE: &str = "lease.lost";

/// The file with the token of a session's port, while it has one.
pub const NETWORK_TOKEN: &str = "port.token";

/// What the agent is told first, where somebody has written it down before.
pub fn prompt(session: &Path) -> PathBuf {
    session.join("prompt.md")
}

/// What happened.
pub fn journal(session: &Path) -> PathBuf {
    session.join("events.jsonl")
}

/// What was said to it.
pub fn inbox(session: &Path) -> PathBuf {
    session.join("inbox.jsonl")
}

/// Messages that were too long to be typed.
pub fn long_messages(session: &Path) -> PathBuf {
    session.join("messages")
}

/// What the agent printed.
pub fn transcript(session: &Path) -> PathBuf {
    session.join("transcript.log")
}

/// What it printed before that.
pub fn older_transcript(session: &Path) -> PathBuf {
    session.join("transcript.1.log")
}

/// Settings of the session's own for its agent.
pub const AGENT_SETTINGS: &str = "agent-settings.json";
