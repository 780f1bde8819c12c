//! What the commands of git say.

use schemars::JsonSchema;
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
    /// They are, and in this worktree alone git runs others.
    Overridden,
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
    /// Whether it is of this very version.
    pub is_current: bool,
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

/// The trees of a repository.
#[derive(Debug, Serialize)]
pub struct WorktreesDocument {
    /// The main one first.
    pub worktrees: Vec<WorktreeRow>,
}

/// A tree.
#[derive(Debug, Serialize)]
pub struct WorktreeRow {
    /// Its root.
    pub path: String,
    /// What is checked out in it; none if that is no branch.
    pub branch: Option<String>,
    /// The task it was made for; none if it is not one of ours.
    pub task: Option<String>,
    /// The number of the attempt.
    pub attempt: Option<u64>,
    /// Whether that attempt goes on.
    pub is_live: Option<bool>,
    /// Whether a worker made it ahead, and nobody works in it yet.
    pub is_spare: bool,
}

impl WorktreesDocument {
    /// The schema of `worktree list`.
    pub const SCHEMA: &str = "handoff.worktrees/1";
}

/// What `worktree prune` did.
#[derive(Debug, Serialize)]
pub struct PruneDocument {
    /// How many trees are gone.
    pub removed: usize,
    /// Those that stay as they are.
    pub stuck: Vec<StuckWorktree>,
    /// Files that git ignores, and that are gone with their tree.
    pub ignored: Vec<String>,
}

/// A tree that could not be removed.
#[derive(Debug, Serialize)]
pub struct StuckWorktree {
    /// Its root.
    pub path: String,
    /// Why.
    pub reason: String,
}

impl PruneDocument {
    /// The schema of `worktree prune`.
    pub const SCHEMA: &str = "handoff.worktree-prune/1";
}

/// What was saved of a task.
#[derive(Debug, Serialize)]
pub struct RescueDocument {
    /// What is committed and not landed, then what was saved uncommitted; of each the oldest first.
    pub saved: Vec<SavedRow>,
    /// The branch that was made at the last of them.
    pub branch: Option<String>,
}

/// Saved work of one attempt.
#[derive(Debug, Serialize)]
pub struct SavedRow {
    /// The ref.
    pub name: String,
    /// The commit.
    pub commit: String,
    /// What it changes.
    pub paths: Vec<String>,
}

impl RescueDocument {
    /// The schema of `rescue`.
    pub const SCHEMA: &str = "handoff.rescue/1";
}

/// What `land` did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LandingDocument {
    /// What landed.
    pub branch: String,
    /// Where.
    pub into: String,
    /// Where that was.
    pub from: String,
    /// Where it is.
    pub to: String,
    /// How many commits that are.
    pub commits: u64,
}

impl LandingDocument {
    /// The schema of `land`.
    pub const SCHEMA: &str = "handoff.landing/1";
}

/// The last commit of a branch that was verified good.
#[derive(Debug, Serialize)]
pub struct BaselineDocument {
    /// The branch.
    pub branch: String,
    /// The commit.
    pub commit: String,
    /// By which command; none if somebody just said so.
    pub command: Option<String>,
    /// When.
    pub at: String,
    /// By whom.
    pub by: String,
    /// How many commits HEAD has on top of it, which nobody proved; none if HEAD does not contain it.
    pub ahead: Option<u32>,
    /// The commit that the next attempt begins at.
    pub next_start: String,
}

impl BaselineDocument {
    /// The schema of `baseline`.
    pub const SCHEMA: &str = "handoff.baseline/1";
}
