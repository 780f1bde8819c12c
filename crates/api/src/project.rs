//! What goes on in a project.

use schemars::JsonSchema;
use serde::Serialize;

use crate::batch::BatchRow;

/// What goes on in a project, besides its feature.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ProjectDocument {
    /// What waits for a person.
    pub needs: Vec<NeedDocument>,
    /// The sessions that live, the oldest first.
    pub sessions: Vec<SessionRow>,
    /// The tasks that have not ended.
    pub tasks: CensusDocument,
    /// What is paused, and would not go on by itself.
    pub paused: Vec<PausedRow>,
    /// How many workers live here to take tasks.
    pub workers: usize,
    /// Why sessions of tasks are held by nothing here: `settings` or `kernel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_off: Option<&'static str>,
    /// The batches that have not ended, the oldest first.
    pub batches: Vec<BatchRow>,
    /// The runs that have not ended, the oldest first.
    pub runs: Vec<RunRow>,
}

/// Something that is paused.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PausedRow {
    /// `task` or `batch`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// The package that it goes on from.
    pub package: String,
    /// What lets it go on.
    pub command: String,
}

/// Something that waits for a person.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NeedDocument {
    /// `task`, `run` or `session`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// What is needed, or what went wrong.
    pub why: String,
    /// What shows it, or does something about it.
    pub command: String,
}

/// A session in a few words.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionRow {
    /// What people call it.
    pub name: String,
    /// The agent in it.
    pub agent: String,
    /// What it does.
    pub state: String,
    /// What a blocked one waits for.
    pub kind: Option<String>,
    /// The task that it works on.
    pub task: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Why nothing holds the session of a task: `task`, `settings`, `kernel` or `agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_off: Option<&'static str>,
}

/// How many tasks have not ended.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct CensusDocument {
    /// Others must come to something first.
    pub waiting: usize,
    /// Ready.
    pub queued: usize,
    /// Not handed out until somebody says so.
    pub held: usize,
    /// Somebody works on them.
    pub at_work: usize,
    /// Whether there are more than were counted.
    pub has_more: bool,
}

/// A run in a few words.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunRow {
    /// What people call it.
    pub name: String,
    /// Of which workflow.
    pub workflow: String,
    /// What becomes of it.
    pub state: &'static str,
    /// The phase at which it is.
    pub phase: String,
    /// Which attempt at it.
    pub attempt: u32,
    /// How many phases are proved.
    pub proved: usize,
}

impl ProjectDocument {
    /// Whether nothing goes on.
    pub fn is_quiet(&self) -> bool {
        let CensusDocument {
            waiting,
            queued,
            held,
            at_work,
            has_more: _,
        } = self.tasks;
        let is_idle = [waiting, queued, held, at_work] == [0; 4];
        let rows = [
            self.needs.len(),
            self.sessions.len(),
            self.batches.len(),
            self.runs.len(),
        ];
        is_idle && rows == [0; 4]
    }
}
