//! The sessions of these tests: real holders on real terminals, which this test program plays when it is told to.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use handoff_agents::Agent;
use handoff_core::{Fence, SessionId, SessionName, TaskId, TaskName};
use handoff_engine::{Order, Spawn, SpawnError};
use handoff_process::{Program, Report, Size, SystemClock, detach};
use handoff_session::environment::Work;
use handoff_session::transcript::Limit;
use handoff_session::{Holder, Opening, Places};
use serde::{Deserialize, Serialize};

const PART: &str = "HANDOFF_TEST_PART";

/// What the one who plays the holder is told.
#[derive(Serialize, Deserialize)]
struct Part {
    home: PathBuf,
    session: SessionId,
    name: SessionName,
    project: handoff_core::ProjectId,
    task: TaskName,
    task_id: TaskId,
    fence: Fence,
    script: PathBuf,
}

/// Agents that are shell scripts.
pub(crate) struct Shell {
    pub(crate) home: PathBuf,
    pub(crate) script: PathBuf,
    pub(crate) environment: BTreeMap<OsString, OsString>,
}

impl Spawn for Shell {
    fn spawn(&self, order: &Order<'_>) -> Result<(), SpawnError> {
        let part = Part {
            home: self.home.clone(),
            session: order.session,
            name: order.name.clone(),
            project: order.task.project,
            task: order.task.spec.name.clone(),
            task_id: order.task.id,
            fence: order.task.fence,
            script: self.script.clone(),
        };
        let words = ["--exact", "holder::plays_the_holder", "--ignored"];
        let mut program =
            Program::new(std::env::current_exe()?, order.worktree).with_arguments(words);
        program.environment = self.environment.clone();
        let part = serde_json::to_string(&part)?;
        program.environment.insert(PART.into(), part.into());
        let said = detach(&program)?.report(Duration::from_secs(20))?;
        match said {
            Report::Said(_) => Ok(()),
            Report::TimedOut => Err("the holder did not come up".into()),
        }
    }
}

#[test]
#[ignore = "it is a part in other tests"]
#[expect(
    clippy::disallowed_methods,
    reason = "the part is assigned by a variable"
)]
fn plays_the_holder() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let part: Part = serde_json::from_str(&part).unwrap();
    let clock = SystemClock::read().unwrap();
    let holder = Holder::open(opening(part), &clock).unwrap();
    // Closing it is what the one who started us waits for.
    let nothing = File::options().write(true).open("/dev/null").unwrap();
    rustix::stdio::dup2_stdout(nothing).unwrap();
    holder.run().unwrap();
}

#[expect(
    clippy::disallowed_methods,
    reason = "what the holder was started with is what its agent gets"
)]
fn opening(part: Part) -> Opening {
    let cwd = std::env::current_dir().unwrap();
    let arguments = ["-eu".into(), part.script.into_os_string()];
    let mut program = Program::new("/bin/sh", cwd).with_arguments(arguments);
    program.environment = std::env::vars_os()
        .filter(|(name, _)| name != PART)
        .collect();
    Opening {
        answers_children: false,
        sandbox_off: None,
        bounds: None,
        places: Places::new(part.home),
        runtime_dir: None,
        network: None,
        id: part.session,
        project: part.project,
        name: part.name,
        agent: Agent::built_in(Agent::GENERIC).unwrap(),
        role: handoff_core::Role::Main,
        work: Some(Work {
            task: part.task,
            id: part.task_id,
            fence: part.fence,
            batch: None,
        }),
        own_program: "handoff".into(),
        program,
        ledger: BTreeMap::new(),
        description: None,
        policy: None,
        files: vec![],
        size: Size::DETACHED,
        limit: Limit::Off,
        warden: None,
    }
}
