//! What the commands of git say.

use serde::Serialize;

/// What `safe-commit` did.
#[derive(Debug, Serialize)]
pub struct CommitDocument {
    /// The commit.
    pub commit: String,
    /// What it stands on; none if it is the first.
    pub parent: Option<String>,
    /// The branch that has it now; none if HEAD is detached.
    pub branch: Option<String>,
    /// The paths that it changes; what is not UTF-8 in them is replaced.
    pub paths: Vec<String>,
    /// Whether the index of the tree knows of it: `current`, or `behind` until the next command.
    pub index: IndexWord,
    /// What the hooks said.
    pub hooks_said: String,
}

impl CommitDocument {
    /// The schema of `safe-commit`.
    pub const SCHEMA: &str = "handoff.commit/1";
}

/// Whether an index knows of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexWord {
    /// It does.
    Current,
    /// Another git has it locked.
    Behind,
}

/// Whether our hooks are what git runs.
#[derive(Debug, Serialize)]
pub struct HooksDocument {
    /// In a word.
    pub state: HooksWord,
    /// If they are installed, where the others are that they call; if something displaced them, where that is.
    pub directory: Option<String>,
    /// Refs that moved past our hooks while a watched session lived; each is told once.
    pub foreign: Vec<ForeignMoveDocument>,
}

/// A ref that moved past our hooks.
#[derive(Debug, Serialize)]
pub struct ForeignMoveDocument {
    /// Which.
    pub name: String,
    /// Where it was; zeros if it was nowhere.
    pub old: String,
    /// Where it is; zeros if it is gone.
    pub new: String,
    /// The watched sessions that lived at the time.
    pub sessions: Vec<String>,
}

/// The state of our hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HooksWord {
    /// They are not there.
    Absent,
    /// They are.
    Installed,
    /// They were, and git runs others now.
    Displaced,
}

impl HooksDocument {
    /// The schema of `hooks`.
    pub const SCHEMA: &str = "handoff.hooks/1";
}

/// The guard.
#[derive(Debug, Serialize)]
pub struct GuardDocument {
    /// Whether it is there.
    pub is_installed: bool,
    /// The directory to put first in PATH.
    pub directory: String,
    /// Whether that is so here.
    pub is_first: bool,
    /// The git behind it.
    pub git: Option<String>,
}

impl GuardDocument {
    /// The schema of `git-guard`.
    pub const SCHEMA: &str = "handoff.guard/1";
}

/// What the guard says to a command of git.
#[derive(Debug, Serialize)]
pub struct GuardVerdictDocument {
    /// Whether it lets it pass.
    pub is_allowed: bool,
    /// What it refuses.
    pub refused: Option<String>,
    /// What to do instead.
    pub instead: Option<&'static str>,
}

impl GuardVerdictDocument {
    /// The schema of `git-guard explain`.
    pub const SCHEMA: &str = "handoff.guard-verdict/1";
}
