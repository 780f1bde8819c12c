//! Starting an agent as a session.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_agents::{Agent, AgentName, Pointer};
use handoff_api::{ExitCode, SessionDocument};
use handoff_core::{Action, Role, SessionId, SessionName};
use handoff_process::Size;
use handoff_session::holder::{Address, Loopback};
use handoff_session::message::{Finish, Order, TextSense, Urgency};
use handoff_session::stall::Policy;
use handoff_session::{Client, Confinement, Known, catalogue};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::address::{places, unreadable};
use super::assignment::Assignment;
use super::care::Care;
use super::document::documents;
use super::launch::Launch;
use super::random_name::random_name;
use crate::agent_catalogue;
use crate::failure::Failure;
use crate::operation::{Effect, Needs, Operation, Takes, permit};
use crate::program::{own_program, require_program};
use crate::project::ensure_project;
use crate::sandbox_policy;
use crate::span::Span;
use crate::workplace::Workplace;

/// What a start takes at most when nobody says otherwise.
const START_TAKES: Duration = Duration::from_secs(30);
/// Keeps this much of what is printed, twice, in MiB, when nobody says otherwise.
pub const LOG_LIMIT: u64 = 64;
pub const MIB: u64 = 1024 * 1024;

/// Start an agent, or any program for a terminal, as a session that outlives whoever starts it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartSession {
    /// One of `handoff agents`, or any program for a terminal.
    #[serde(deserialize_with = "word")]
    #[schemars(with = "String")]
    pub agent: OsString,
    /// What the agent gets.
    #[serde(default, deserialize_with = "words")]
    #[schemars(with = "Vec<String>")]
    pub arguments: Vec<OsString>,
    /// What to call the session; without it a name is made up.
    #[serde(default)]
    pub name: Option<SessionName>,
    /// What it is for, for whoever lists sessions.
    #[serde(default)]
    pub description: Option<String>,
    /// Where it runs; without it where the caller is.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// Its first message; with `task` what is said after the brief.
    #[serde(default)]
    pub context: Option<String>,
    /// Claim this task for it; the brief is its first message, and the lease lasts as long as the session.
    #[serde(default)]
    pub task: Option<String>,
    /// Let it change the linked worktree it works in, and nothing else (`worktree`), or whatever the caller can (`none`).
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub sandbox: Option<Confinement>,
    /// How long its start may take, such as `30s`.
    #[serde(default)]
    pub timeout: Option<Span>,
    /// How much of what it prints is kept, twice, in MiB; 0 keeps everything.
    #[serde(default)]
    pub log_limit: Option<u64>,
    /// How long nothing may move before it is taken for stuck, such as `8m`; without it nobody looks.
    #[serde(default)]
    pub stall_after: Option<Span>,
    /// How often a stuck agent is told to go on before it is given up. This alone has somebody look, too.
    #[serde(default)]
    pub max_resumes: Option<u32>,
    /// Tell it when one of these files changes, which need not exist yet.
    #[serde(default)]
    pub watch_files: Vec<PathBuf>,
    /// Listen on this name of the machine as well.
    #[serde(skip)]
    pub host: Option<Loopback>,
    /// Listen on this port as well, or on any that is free (0).
    #[serde(default)]
    pub port: Option<u16>,
    /// The size of the terminal that somebody sits down at.
    #[serde(skip)]
    pub size: Option<Size>,
    /// Whose words the first message is.
    #[serde(skip)]
    pub wording: Wording,
}

/// Whose words the first message is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Wording {
    /// Those of whoever starts the session.
    #[default]
    Own,
    /// A text that was put together to be read.
    Prose,
}

impl Operation for StartSession {
    type Response = SessionDocument;

    const NAME: &'static str = "start_session";
    const EFFECT: Effect = Effect::Changes;
    const NEEDS: Needs = Needs::Action(Action::Start);
    const TAKES: Takes = Takes::Waits;

    fn perform(self, here: &Workplace) -> Result<SessionDocument, Failure> {
        let known = self.start(here)?;
        document(&known, here)
    }
}

/// A session as it is now.
pub fn document(known: &Known, here: &Workplace) -> Result<SessionDocument, Failure> {
    let now = here.clock()?.now();
    let mut documents = documents(std::slice::from_ref(known), &now);
    let document = documents.pop();
    document.ok_or_else(|| Failure::failed("the session has left no record"))
}

impl StartSession {
    /// Starts it, and returns when it has heard what it is for.
    pub fn start(&self, here: &Workplace) -> Result<Known, Failure> {
        permit::<Self>(here)?;
        let assignment = self.task.as_deref();
        let assignment = assignment.map(|task| Assignment::find(task, here));
        let assignment = assignment.transpose()?;
        let known = self.launch(assignment.as_ref(), here)?;
        self.brief(&known, assignment, here)?;
        Ok(known)
    }

    /// Starts one that the caller tells what it is for. If that cannot be done, the session is ended.
    pub fn start_and(
        &self,
        here: &Workplace,
        brief: impl FnOnce(&Known) -> Result<(), Failure>,
    ) -> Result<Known, Failure> {
        permit::<Self>(here)?;
        let known = self.launch(None, here)?;
        match brief(&known) {
            Ok(()) => Ok(known),
            Err(failure) => {
                end_unbriefed(&known);
                Err(failure)
            }
        }
    }

    fn launch(&self, assignment: Option<&Assignment>, here: &Workplace) -> Result<Known, Failure> {
        let launch = self.prepare(assignment, here)?;
        let timeout = self.timeout.map_or(START_TAKES, Span::duration);
        launch.start(timeout, here)?;
        find(launch.id, here)
    }

    fn prepare(
        &self,
        assignment: Option<&Assignment>,
        here: &Workplace,
    ) -> Result<Launch, Failure> {
        let cwd = self.directory(here)?;
        let (agent, pointer, argv) = self.command(here)?;
        if pointer == Pointer::Source {
            self.refuse_prose()?;
        }
        require_program(&argv[0], &cwd, here)?;
        let (role, bounds) = match sandbox_policy::confinement(self.sandbox, here)? {
            Confinement::None => (Role::Main, None),
            Confinement::Worktree => (
                Role::SubTask,
                Some(sandbox_policy::of_agent(&agent, &cwd, here)?),
            ),
        };
        let uuid = handoff_process::mint();
        Ok(Launch {
            id: SessionId::from_uuid(uuid),
            project: ensure_project(&cwd, here)?,
            name: self.name.clone().unwrap_or_else(|| random_name(uuid)),
            agent: agent.name,
            argv,
            role,
            bounds,
            sandbox_off: None,
            description: self.description.clone(),
            size: self.size.unwrap_or(Size::DETACHED),
            log_limit: self.log_limit.unwrap_or(LOG_LIMIT).saturating_mul(MIB),
            network: self.network(),
            care: self.care(&cwd)?,
            work: assignment.map(Assignment::work),
            cwd,
        })
    }

    /// Nobody listens who was not asked to.
    fn network(&self) -> Option<Address> {
        let is_wanted = self.host.is_some() || self.port.is_some();
        is_wanted.then(|| Address {
            host: self.host.unwrap_or_default(),
            port: self.port.unwrap_or(0),
        })
    }

    /// What is looked after, with files from `cwd` on.
    fn care(&self, cwd: &Path) -> Result<Care, Failure> {
        let usual = Policy::default();
        let is_watched = self.stall_after.is_some() || self.max_resumes.is_some();
        let policy = is_watched.then(|| Policy {
            stall_after: self.stall_after.map_or(usual.stall_after, Span::duration),
            max_resumes: self.max_resumes.unwrap_or(usual.max_resumes),
        });
        let files = self.watch_files.iter().map(|path| Care::file(path, cwd));
        let files = files.collect::<Result<_, _>>()?;
        Ok(Care { policy, files })
    }

    fn directory(&self, here: &Workplace) -> Result<PathBuf, Failure> {
        let start = here.cwd()?;
        let path = self.cwd.as_ref();
        let path = path.map_or_else(|| start.to_owned(), |path| start.join(path));
        // Whatever keeps it from being one, the answer is the same.
        let real = path.canonicalize().ok().filter(|path| path.is_dir());
        real.ok_or_else(|| {
            let text = format!("`{}` is not a directory", path.display());
            Failure::new(ExitCode::NotFound, text)
        })
    }

    /// The agent and the command line: a name that is no agent's is a program.
    fn command(&self, here: &Workplace) -> Result<(Agent, Pointer, Vec<OsString>), Failure> {
        let own = own_program(here)?;
        let name: Option<AgentName> = self.agent.to_str().and_then(|name| name.parse().ok());
        let named = name.filter(|name| name.as_str() != Agent::GENERIC);
        if let Some(name) = named
            && let Some(described) = agent_catalogue::find(&name, here)?
        {
            let agent = described.agent;
            let argv = agent.argv(own, &self.arguments);
            let pointer = agent.adapter.input.pointer;
            return Ok((agent, pointer, argv));
        }
        let words = [std::slice::from_ref(&self.agent), self.arguments.as_slice()].concat();
        let generic = Agent::built_in(Agent::GENERIC).expect("it is built in");
        let argv = generic.argv(own, &words);
        let pointer = built_in_pointer(&self.agent).unwrap_or(generic.adapter.input.pointer);
        Ok((generic, pointer, argv))
    }

    /// A shell runs what it is told, so that it is told only what somebody meant as a command.
    fn refuse_prose(&self) -> Result<(), Failure> {
        let what = match (&self.task, self.wording) {
            (Some(_), _) => "the brief of a task",
            (None, Wording::Prose) => "a prompt",
            (None, Wording::Own) if !self.watch_files.is_empty() => "what is said of a file",
            (None, Wording::Own) => return Ok(()),
        };
        let agent = self.agent.display();
        let text = format!("`{agent}` is a shell and would run {what} as commands");
        Err(Failure::usage(text).hint("choose one that reads: `handoff agents`"))
    }

    /// Gives the session its task and its first message.
    fn brief(
        &self,
        known: &Known,
        assignment: Option<Assignment>,
        here: &Workplace,
    ) -> Result<(), Failure> {
        let text = match assignment {
            Some(mut assignment) => {
                if let Err(failure) = assignment.claim(known.record.id, here) {
                    end_unbriefed(known);
                    return Err(failure);
                }
                let more = self.context.as_deref().unwrap_or_default();
                let text = format!("{}\n{more}", assignment.message());
                Some(text.trim_end().to_owned() + "\n")
            }
            None => self.context.clone(),
        };
        match text {
            Some(text) => send_first(text, known),
            None => Ok(()),
        }
    }
}

/// It has heard of nothing yet. If it cannot be ended, what is left of it is listed.
fn end_unbriefed(known: &Known) {
    Client::new(&known.record.socket).stop(Duration::ZERO).ok();
}

/// A shell is one by its path too.
fn built_in_pointer(program: &OsStr) -> Option<Pointer> {
    let name = Path::new(program).file_name()?.to_str()?;
    let agent = Agent::built_in(name)?;
    Some(agent.adapter.input.pointer)
}

/// The first message to a session, which is the same however often it is given.
pub fn send_first(text: String, known: &Known) -> Result<(), Failure> {
    let key = format!("{}/first", known.record.id);
    let order = Order {
        text,
        key: key.parse().expect("an id and a word make a key"),
        finish: Finish::Submit,
        urgency: Urgency::Wait,
        sense: TextSense::Words,
        expires_after: None,
    };
    let sent = Client::new(&known.record.socket).send_message(&order);
    sent.map(drop).map_err(|error| {
        let name = &known.record.name;
        Failure::failed(format!("`{name}` runs, but has not got its first message"))
            .because(&error)
            .hint(format!(
                "see whether it still does: `handoff ps --id {name}`"
            ))
    })
}

/// A session that was started here.
pub fn find(id: SessionId, here: &Workplace) -> Result<Known, Failure> {
    let known = catalogue::by_id(&places(here)?, id).map_err(|error| unreadable(&error))?;
    known.ok_or_else(|| Failure::failed("the session has left no record"))
}

fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OsString, D::Error> {
    String::deserialize(deserializer).map(OsString::from)
}

fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<OsString>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    Ok(words.into_iter().map(OsString::from).collect())
}
