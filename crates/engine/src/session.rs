//! One agent at work on one task, as a child process. (The terminal, the inbox and the holder process of its own come
//! with sessions.)

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use handoff_core::task::Command;
use handoff_core::{SessionId, Task};
use handoff_process::{Exit, Program};

use crate::error::EngineError;
use crate::places::Attempt;
use crate::referee::tail;
use crate::workshop::Workshop;

/// How to start the agent.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Program and arguments.
    pub argv: Vec<OsString>,
}

/// What came of a session: nothing to object to, or why not.
pub(crate) type Objection = Option<String>;

/// Starts the agent in its worktree and waits for it.
pub(crate) fn run(
    workshop: &mut Workshop<'_>,
    launch: &Launch,
    task: &Task,
    session: SessionId,
    worktree: &Path,
) -> Result<Objection, EngineError> {
    let prompt = workshop.places.session(session).join("prompt.md");
    let program = program(workshop, launch, task, session, worktree, prompt);
    let mut child = handoff_process::start(&program)?;
    let fence = task.fence;
    workshop.tell(task, Command::Start { fence, session }, "start")?;
    Ok(match workshop.wait(&mut child, task, None)? {
        Exit::Code(0) => None,
        Exit::Code(code) => Some(format!("the agent exited with {code}{}", tail(&child))),
        Exit::Signal(signal) => Some(format!("the agent was ended by signal {signal}")),
        Exit::TimedOut => Some("the agent took too long".to_owned()),
    })
}

fn program(
    workshop: &Workshop<'_>,
    launch: &Launch,
    task: &Task,
    session: SessionId,
    worktree: &Path,
    prompt: PathBuf,
) -> Program {
    let attempt = Attempt::of(task);
    let own = [
        ("HANDOFF_SESSION", session.to_string().into()),
        ("HANDOFF_ROLE", "main".into()),
        ("HANDOFF_TASK", task.spec.name.to_string().into()),
        ("HANDOFF_TASK_ID", task.id.to_string().into()),
        ("HANDOFF_FENCE", attempt.fence.to_string().into()),
        ("HANDOFF_ATTEMPT", attempt.fence.to_string().into()),
        ("HANDOFF_PROMPT_FILE", OsString::from(prompt)),
        (
            "HANDOFF_STORE_KIND",
            workshop.store.info().kind.to_string().into(),
        ),
    ];
    let mut environment = workshop.environment.clone();
    environment.extend(own.map(|(name, value)| (OsString::from(name), value)));
    let (name, arguments) = launch.argv.split_first().expect("a launch names a program");
    Program {
        environment,
        ..Program::new(name, worktree).with_arguments(arguments)
    }
}
