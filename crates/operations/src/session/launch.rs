//! Starting the holder of a session, and hearing from it whether the agent runs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_agents::AgentName;
use handoff_api::ExitCode;
use handoff_core::{ProjectId, Role, SessionId, SessionName};
use handoff_process::{Program, Report, Size, detach};
use handoff_session::environment::Work;
use handoff_session::holder::Address;
use handoff_session::side::{self, Side};
use handoff_session::{Bounds, SandboxOff};
use serde::{Deserialize, Serialize};

use super::care::Care;
use crate::failure::Failure;
use crate::guard_place;
use crate::program::own_program;
use crate::project::discover_from;
use crate::ref_monitor::Vigil;
use crate::workplace::Workplace;

/// What a holder says once, when it has begun or could not.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Greeting {
    Ready,
    Taken,
    Failed {
        message: String,
        causes: Vec<String>,
    },
}

/// A session to be started.
pub struct Launch {
    pub id: SessionId,
    pub project: ProjectId,
    pub name: SessionName,
    pub agent: AgentName,
    pub argv: Vec<OsString>,
    pub description: Option<String>,
    pub cwd: PathBuf,
    pub size: Size,
    pub log_limit: u64,
    /// Where it listens besides its socket.
    pub network: Option<Address>,
    pub care: Care,
    pub role: Role,
    pub work: Option<Work>,
    /// The walls around the agent; none leaves it as free as we are.
    pub bounds: Option<Bounds>,
    /// Why there are none, for the session of a task.
    pub sandbox_off: Option<SandboxOff>,
}

impl Launch {
    /// Starts it, and returns when the agent runs.
    pub fn start(&self, timeout: Duration, here: &Workplace) -> Result<(), Failure> {
        let cannot = || Failure::failed(format!("cannot start the session `{}`", self.name));
        let program = self.holder(here)?;
        let vigil = self.vigil(here);
        let mut holder = detach(&program).map_err(|error| cannot().because(&error))?;
        let report = holder
            .report(timeout)
            .map_err(|error| cannot().because(&error))?;
        let Report::Said(said) = report else {
            // It may have ended by itself in the last moment; then there is nothing to end.
            holder.end().ok();
            let text = format!("the session `{}` did not start in time", self.name);
            return Err(Failure::new(ExitCode::TimedOut, text));
        };
        match serde_json::from_slice(&said) {
            Ok(Greeting::Ready) => {
                if let Some(vigil) = vigil {
                    vigil.keep(self.id);
                }
                Ok(())
            }
            Ok(Greeting::Taken) => Err(self.taken()),
            Ok(Greeting::Failed { message, causes }) => {
                let mut failure = cannot();
                failure.causes.push(message);
                failure.causes.extend(causes);
                Err(failure)
            }
            Err(error) => Err(cannot().because(&error)),
        }
    }

    /// What is needed to notice refs that it moves past our hooks; none for one that a person started for themselves. A session with
    /// a task has no business with refs, whatever its role: the tool commits its work.
    fn vigil(&self, here: &Workplace) -> Option<Vigil> {
        if self.role != Role::SubTask && self.work.is_none() {
            return None;
        }
        Vigil::before(discover_from(&self.cwd).ok()?, here)
    }

    fn taken(&self) -> Failure {
        let name = &self.name;
        let text = format!("a session called `{name}` lives already in this project");
        Failure::new(ExitCode::Conflict, text)
            .hint(format!("sit down at it: `handoff attach --id {name}`"))
            .hint("or choose another name with `--id`")
    }

    fn holder(&self, here: &Workplace) -> Result<Program, Failure> {
        let own = own_program(here)?;
        let mut program = Program::new(own, &self.cwd).with_arguments([side::HOLDER_COMMAND]);
        let options: [(&str, OsString); 7] = [
            ("--session", self.id.to_string().into()),
            ("--project", self.project.to_string().into()),
            ("--name", self.name.to_string().into()),
            ("--agent", self.agent.to_string().into()),
            ("--rows", self.size.rows.to_string().into()),
            ("--columns", self.size.columns.to_string().into()),
            ("--log-limit", self.log_limit.to_string().into()),
        ];
        for (option, value) in options {
            program.arguments.extend([option.into(), value]);
        }
        program.arguments.extend(self.surroundings());
        if may_answer_children(here)? {
            program.arguments.push(side::ANSWERS_ARGUMENT.into());
        }
        if let Some(Address { host, port }) = self.network {
            let options = [format!("--host={}", host.name()), format!("--port={port}")];
            program.arguments.extend(options.map(OsString::from));
        }
        if let Some(description) = &self.description {
            let option = format!("--description={description}");
            program.arguments.push(option.into());
        }
        program.arguments.push("--".into());
        program.arguments.extend(self.argv.iter().cloned());
        program.environment = here.ambient.environment.clone();
        make_reachable(own, &mut program.environment);
        if self.role == Role::SubTask {
            // It teaches; what it cannot keep anybody from is kept by others.
            guard_place::equip(&mut program.environment, here).unwrap_or_default();
        }
        Ok(program)
    }
}

impl Launch {
    /// What it works on and what its holder looks after, as options.
    fn surroundings(&self) -> Vec<OsString> {
        let mut options: Vec<OsString> = vec![format!("--role={}", self.role.word()).into()];
        if let Some(work) = &self.work {
            options.push(format!("--task={}", work.task).into());
            options.push(format!("--task-id={}", work.id).into());
            options.push(format!("--fence={}", work.fence).into());
            options.extend(work.batch.map(|batch| format!("--batch={batch}").into()));
        }
        if let Some(policy) = &self.care.policy {
            options.push(format!("--stall-after-ms={}", policy.stall_after.as_millis()).into());
            options.push(format!("--max-resumes={}", policy.max_resumes).into());
        }
        if let Some(bounds) = &self.bounds {
            options.extend([
                side::SANDBOX_ARGUMENT.into(),
                "--root".into(),
                bounds.root.clone().into(),
            ]);
            options.extend(["--common-dir".into(), bounds.common_dir.clone().into()]);
            let scratch = bounds.scratch.iter();
            options.extend(scratch.flat_map(|it| [OsString::from("--write"), it.into()]));
        }
        let off = self.sandbox_off;
        options.extend(off.map(|it| format!("--sandbox-off={}", it.word()).into()));
        for file in &self.care.files {
            options.extend(["--watch-file".into(), file.into()]);
        }
        options
    }
}

/// Whether a session that is started here may answer the dialogs of those that it starts: as the person's settings say, or as
/// for the session that starts it. What settings a session names counts for nothing.
fn may_answer_children(here: &Workplace) -> Result<bool, Failure> {
    match here.ambient.side() {
        Side::Outside => Ok(here.config()?.sessions.may_answer_children),
        Side::Session(member) => Ok(member.may_answer),
        Side::Check | Side::Unknown => Ok(false),
    }
}

/// A session finishes by calling this program. Where it has no name yet, because nobody installed it, it gets one at the end of
/// PATH, before which everything else comes.
fn make_reachable(own: &Path, environment: &mut BTreeMap<OsString, OsString>) {
    let path = environment.get(OsStr::new("PATH")).cloned();
    let path = path.unwrap_or_default();
    let mut places: Vec<_> = std::env::split_paths(&path).collect();
    let is_there = places.iter().any(|it| it.join("handoff").is_file());
    if is_there || own.file_name() != Some(OsStr::new("handoff")) {
        return;
    }
    places.extend(own.parent().map(Path::to_owned));
    if let Ok(path) = std::env::join_paths(places) {
        environment.insert("PATH".into(), path);
    }
}
