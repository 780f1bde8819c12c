//! Beginning a session. The engine knows when, where and what for; how an agent is started is for whoever hands this in.

use std::error::Error;
use std::path::Path;

use handoff_agents::Block;
use handoff_core::{AgentName, SessionId, SessionName, Task, Timestamp};

/// Why a session did not begin.
pub type SpawnError = Box<dyn Error + Send + Sync>;

/// What begins sessions.
pub trait Spawn {
    /// Begins a session, and returns when its agent runs: from then on its holder has the session's lock, and its record
    /// says how it ended. The prompt is in the session's directory already.
    fn spawn(&self, order: &Order<'_>) -> Result<(), SpawnError>;

    /// Which agent will work on a task, as far as that is known.
    fn agent(&self, task: &Task) -> Option<AgentName> {
        task.spec.agent.clone()
    }

    /// Tells a person what an agent asks, where there is a way to. The same may be told more than once, and nobody waits for it.
    fn tell_question(&self, _question: &Question<'_>) {}

    /// Whether a person sits at the sessions: then it is for them to see that they go on, and to take their time.
    fn is_attended(&self) -> bool {
        false
    }
}

/// An agent asks something that only a person can answer. Whatever else needs one is in the ledger ([`crate::needs`]).
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// In which task.
    pub task: &'a Task,
    /// In which session.
    pub session: SessionId,
    /// What it is about: a permission, a login.
    pub kind: Block,
    /// The number of the event that says so, in the journal of the session: the same question has the same one.
    pub number: u64,
    /// Since when.
    pub at: Timestamp,
}

/// A session to be begun.
#[derive(Debug)]
pub struct Order<'a> {
    /// Its id.
    pub session: SessionId,
    /// What people call it.
    pub name: SessionName,
    /// What it works on: the lease is the task's newest.
    pub task: &'a Task,
    /// Where it works.
    pub worktree: &'a Path,
    /// What it is told first.
    pub prompt: &'a str,
    /// Who it is to be, in a sentence, if that is said: the prompt says it too.
    pub role: Option<&'a str>,
}

/// `<task>-<fence>`, as far as a name goes.
pub(crate) fn session_name(task: &Task) -> SessionName {
    let number = format!("-{}", task.fence);
    let room = handoff_core::name::MAX_LEN - number.len();
    let name = task.spec.name.as_str();
    let name = format!("{}{number}", &name[..name.floor_char_boundary(room)]);
    name.parse()
        .expect("the beginning of a name and a number make a name")
}
