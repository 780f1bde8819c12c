//! Beginning a session. The engine knows when, where and what for; how an agent is started is for whoever hands this in.

use std::error::Error;
use std::path::Path;

use handoff_core::task::Reason;
use handoff_core::{AgentName, SessionId, SessionName, Task};

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

    /// Tells a person that they are needed, where there is a way to. The same may be told more than once.
    fn summon(&self, _call: &Call<'_>) {}

    /// Whether a person sits at the sessions: then it is for them to see that they go on, and to take their time.
    fn is_attended(&self) -> bool {
        false
    }
}

/// A person is needed.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// For which task.
    pub task: &'a Task,
    /// In which session.
    pub session: SessionId,
    /// What for.
    pub need: Need<'a>,
}

/// What a person is needed for.
#[derive(Debug, Clone, Copy)]
pub enum Need<'a> {
    /// The agent asks something: a permission, a login, whatever the word says.
    Answer(&'static str),
    /// The session cannot go on: this is what it needs.
    Help(&'a Reason),
    /// It did not work: this is why.
    Look(&'a Reason),
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
