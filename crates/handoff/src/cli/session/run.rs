//! `handoff run`: starts an agent as a session.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_agents::{Agent, AgentName, Pointer};
use handoff_api::{ExitCode, SessionDocument};
use handoff_core::{Action, Role, SessionId, SessionName};
use handoff_process::Size;
use handoff_session::control::Attachment;
use handoff_session::holder::{Address, Loopback};
use handoff_session::message::{Finish, Order, Urgency};
use handoff_session::{Client, Confinement, Known, Standing, catalogue};

use super::address::{places, unreadable};
use super::assignment::Assignment;
use super::babysitter;
use super::document::documents;
use super::launch::{Launch, own_program, require_program};
use super::patience::Patience;
use super::random_name::random_name;
use super::roster;
use super::tmux::{WindowName, open_window};
use super::viewer::{self, Left};
use super::watch_args::WatchArgs;
use crate::context::Context;
use crate::desk::{caller, ensure_project};
use crate::failure::Failure;
use crate::output::{Tone, plain};
use crate::walls;

/// What a start takes at most when nobody says otherwise.
const START_TAKES: Duration = Duration::from_secs(30);
pub(super) const MIB: u64 = 1024 * 1024;

#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// One of `handoff agents`, or any program for a terminal.
    #[arg(required_unless_present_any = ["tmux", "watch"])]
    agent: Option<OsString>,
    /// What to call the session; without it a name is made up.
    #[arg(long, value_name = "NAME")]
    id: Option<SessionName>,
    /// What it is for, for whoever lists sessions.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Where it runs; without it here.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Do not sit down at its terminal.
    #[arg(long)]
    detach: bool,
    /// Sit down at its terminal in a new window of tmux, called like the session or NAME.
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    tmux: Option<Option<WindowName>>,
    /// How long its start may take, in seconds or as `1m`.
    #[arg(long, value_name = "SEC")]
    timeout: Option<Patience>,
    /// How much of what it prints is kept, twice, in MiB; 0 keeps everything.
    #[arg(long, value_name = "MIB")]
    log_limit: Option<u64>,
    /// Its first message; with `--task` what is said after the brief.
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,
    /// Claim this task for it; the brief is its first message, and the lease lasts as long as the session.
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Let it change the linked worktree it works in, and nothing else (`worktree`), or whatever you can (`none`).
    #[arg(long, value_name = "WHERE")]
    sandbox: Option<Confinement>,
    #[command(flatten)]
    watch: WatchArgs,
    /// Listen on this name of the machine as well: `localhost`, `127.0.0.1` or `::1`.
    #[arg(long, value_name = "HOST")]
    host: Option<Loopback>,
    /// Listen on this port as well, or on any that is free (0); `ps --json` says where its token is.
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// What the agent gets.
    #[arg(last = true)]
    arguments: Vec<OsString>,
    #[arg(skip)]
    wording: Wording,
}

/// Whose words the first message is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Wording {
    /// Those of whoever starts the session.
    #[default]
    Own,
    /// A text that was put together to be read.
    Prose,
}

/// Keeps this much of what is printed, twice, when nobody says otherwise.
pub(super) const LOG_LIMIT: u64 = 64;

impl Args {
    /// For a session that is begun by another command.
    pub(crate) fn new(
        agent: OsString,
        seat: &SeatArgs,
        context: String,
        description: String,
    ) -> Self {
        Self {
            agent: Some(agent),
            id: seat.id.clone(),
            detach: seat.detach,
            context: Some(context),
            description: Some(description),
            wording: Wording::Prose,
            ..Self::default()
        }
    }
}

impl Args {
    /// `run --tmux codex` and `run --watch codex`: what looks like the value of an option is the agent, where there is no other.
    pub(super) fn settled(mut self) -> Result<Self, Failure> {
        if self.agent.is_some() {
            return Ok(self);
        }
        let window = self.tmux.as_ref().and_then(Option::as_ref);
        let window = window.map(|name| OsString::from(name.as_str()));
        let path = self
            .watch
            .old_path()
            .map(|path| path.as_os_str().to_owned());
        let agent = match (window, path) {
            (Some(agent), None) => {
                self.tmux = Some(None);
                agent
            }
            (None, Some(agent)) => {
                self.watch.forget_old_path();
                agent
            }
            (Some(_), Some(_)) | (None, None) => {
                return Err(Failure::usage("there is no agent to run")
                    .hint("name it first: `handoff run AGENT`"));
            }
        };
        self.agent = Some(agent);
        Ok(self)
    }

    /// What is run. [`Self::settled`] has seen to it that there is something.
    fn agent(&self) -> &OsStr {
        self.agent.as_deref().unwrap_or_default()
    }

    /// For a session that goes on with what another one left, with its task if it had one.
    pub(crate) fn resuming(agent: OsString, id: Option<SessionName>, detach: bool) -> Self {
        Self {
            agent: Some(agent),
            id,
            detach,
            wording: Wording::Prose,
            ..Self::default()
        }
    }

    /// The task that it works on, and what is said besides the brief.
    pub(crate) fn with_task(self, task: String, context: String) -> Self {
        Self {
            task: Some(task),
            context: Some(context),
            ..self
        }
    }
}

/// Where one sits down at a session that another command begins.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SeatArgs {
    /// With `--run`: what to call the session.
    #[arg(long, value_name = "NAME", requires = "run")]
    id: Option<SessionName>,
    /// With `--run`: do not sit down at its terminal.
    #[arg(long, requires = "run")]
    detach: bool,
}

pub(crate) fn run(args: &Args, ctx: &mut Context) -> Result<u8, Failure> {
    run_and(args, ctx, || ())
}

/// The same, with something to be done when the session has heard what it is for, and before anybody sits down at it.
pub(crate) fn run_and(
    args: &Args,
    ctx: &mut Context,
    briefed: impl FnOnce(),
) -> Result<u8, Failure> {
    caller(&ctx.ambient)?.may(Action::Start)?;
    let terminal = match args.seat() {
        Seat::Here => Some(own_terminal(ctx)?),
        Seat::Window => require_program(OsStr::new("tmux"), ctx.cwd()?, ctx).map(|()| None)?,
        Seat::Nowhere | Seat::Beside => None,
    };
    let assignment = args.task.as_deref().map(|task| Assignment::find(task, ctx));
    let assignment = assignment.transpose()?;
    let launch = prepare(args, terminal, assignment.as_ref(), ctx)?;
    let timeout = args.timeout.map_or(START_TAKES, |patience| patience.0);
    launch.start(timeout, ctx)?;
    let known = find(launch.id, ctx)?;
    brief(args, &known, assignment, ctx)?;
    briefed();
    sit_down(args, &launch, &known, ctx)
}

/// Begins a session that another command tells what it is for when it lives. If it cannot, the session is ended.
pub(crate) fn begin(
    args: &Args,
    ctx: &mut Context,
    brief: impl FnOnce(&Known, &Context) -> Result<(), Failure>,
) -> Result<u8, Failure> {
    caller(&ctx.ambient)?.may(Action::Start)?;
    let terminal = match args.seat() {
        Seat::Here => Some(own_terminal(ctx)?),
        Seat::Window | Seat::Nowhere | Seat::Beside => None,
    };
    let launch = prepare(args, terminal, None, ctx)?;
    let timeout = args.timeout.map_or(START_TAKES, |patience| patience.0);
    launch.start(timeout, ctx)?;
    let known = find(launch.id, ctx)?;
    match brief(&known, ctx) {
        Ok(()) => sit_down(args, &launch, &known, ctx),
        Err(failure) => {
            // It has heard of nothing yet; what is left of it is listed.
            Client::new(&known.record.socket).stop(Duration::ZERO).ok();
            Err(failure)
        }
    }
}

/// Gives the session its task and its first message.
fn brief(
    args: &Args,
    known: &Known,
    assignment: Option<Assignment>,
    ctx: &Context,
) -> Result<(), Failure> {
    let text = match assignment {
        Some(mut assignment) => {
            if let Err(failure) = assignment.claim(known.record.id, ctx) {
                // It has heard of nothing yet; what is left of it is listed.
                Client::new(&known.record.socket).stop(Duration::ZERO).ok();
                return Err(failure);
            }
            let more = args.context.as_deref().unwrap_or_default();
            Some(
                format!("{}\n{more}", assignment.message())
                    .trim_end()
                    .to_owned()
                    + "\n",
            )
        }
        None => args.context.clone(),
    };
    match text {
        Some(text) => send_first(text, known),
        None => Ok(()),
    }
}

pub(crate) fn send_first(text: String, known: &Known) -> Result<(), Failure> {
    let key = format!("{}/first", known.record.id);
    let order = Order {
        text,
        key: key.parse().expect("an id and a word make a key"),
        finish: Finish::Submit,
        urgency: Urgency::Wait,
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

fn sit_down(args: &Args, launch: &Launch, known: &Known, ctx: &mut Context) -> Result<u8, Failure> {
    let is_watched = launch.care.policy.is_some();
    match args.seat() {
        Seat::Nowhere => show(known, None, ctx),
        Seat::Beside => {
            show(known, None, ctx)?;
            babysitter::stay(known, ctx)
        }
        Seat::Window => {
            let own = WindowName::from(&known.record.name);
            let name = args.tmux.clone().flatten().unwrap_or(own);
            let target = open_window(known, &name, ctx)?;
            let shown = show(known, Some(target), ctx)?;
            if is_watched && !args.detach {
                babysitter::stay(known, ctx)
            } else {
                Ok(shown)
            }
        }
        Seat::Here => match viewer::view(known, Attachment::Write, ctx)? {
            Left::Detached => viewer::say_detached(known, ctx),
            Left::Ended => viewer::ended(&find(launch.id, ctx)?),
        },
    }
}

/// Where a person sits down at the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seat {
    Here,
    /// In a window of tmux.
    Window,
    /// Nobody sits at it, but somebody stays and hears how it goes.
    Beside,
    Nowhere,
}

impl Args {
    fn seat(&self) -> Seat {
        match (&self.tmux, self.detach) {
            (Some(_), _) => Seat::Window,
            (None, true) => Seat::Nowhere,
            (None, false) if self.watch.is_watching() => Seat::Beside,
            (None, false) => Seat::Here,
        }
    }
}

/// How large the terminal is that a person sits at.
fn own_terminal(ctx: &Context) -> Result<Size, Failure> {
    let size = viewer::size().filter(|_| !ctx.out.is_json());
    size.ok_or_else(|| {
        Failure::usage("there is no terminal to sit down at")
            .hint("start it in the background: add `--detach`")
    })
}

fn prepare(
    args: &Args,
    terminal: Option<Size>,
    assignment: Option<&Assignment>,
    ctx: &Context,
) -> Result<Launch, Failure> {
    let cwd = directory(args, ctx)?;
    let (agent, pointer, argv) = command(args, ctx)?;
    if pointer == Pointer::Source {
        refuse_prose(args)?;
    }
    require_program(&argv[0], &cwd, ctx)?;
    let (role, bounds) = match walls::confinement(args.sandbox, ctx)? {
        Confinement::None => (Role::Main, None),
        Confinement::Worktree => (Role::SubTask, Some(walls::of_agent(&agent, &cwd, ctx)?)),
    };
    let uuid = handoff_process::mint();
    Ok(Launch {
        id: SessionId::from_uuid(uuid),
        project: ensure_project(&cwd, ctx)?,
        name: args.id.clone().unwrap_or_else(|| random_name(uuid)),
        agent: agent.name,
        argv,
        role,
        bounds,
        description: args.description.clone(),
        size: terminal.unwrap_or(Size::DETACHED),
        log_limit: args.log_limit.unwrap_or(LOG_LIMIT).saturating_mul(MIB),
        network: network(args),
        care: args.watch.care(&cwd)?,
        work: assignment.map(Assignment::work),
        cwd,
    })
}

/// Nobody listens who was not asked to.
fn network(args: &Args) -> Option<Address> {
    let is_wanted = args.host.is_some() || args.port.is_some();
    is_wanted.then(|| Address {
        host: args.host.unwrap_or_default(),
        port: args.port.unwrap_or(0),
    })
}

fn directory(args: &Args, ctx: &Context) -> Result<PathBuf, Failure> {
    let here = ctx.cwd()?;
    let path = args
        .cwd
        .as_ref()
        .map_or_else(|| here.to_owned(), |path| here.join(path));
    path.canonicalize()
        .ok()
        .filter(|path| path.is_dir())
        .ok_or_else(|| {
            let text = format!("`{}` is not a directory", path.display());
            Failure::new(ExitCode::NotFound, text)
        })
}

/// The agent and the command line: a name that is no agent's is a program.
fn command(args: &Args, ctx: &Context) -> Result<(Agent, Pointer, Vec<OsString>), Failure> {
    let own = own_program(ctx)?;
    let name: Option<AgentName> = args.agent().to_str().and_then(|name| name.parse().ok());
    let named = name.filter(|name| name.as_str() != Agent::GENERIC);
    if let Some(name) = named
        && let Some(described) = roster::find(&name, ctx)?
    {
        let agent = described.agent;
        let argv = agent.argv(own, &args.arguments);
        let pointer = agent.adapter.input.pointer;
        return Ok((agent, pointer, argv));
    }
    let words = [&[args.agent().to_owned()], args.arguments.as_slice()].concat();
    let generic = Agent::built_in(Agent::GENERIC).expect("it is built in");
    let argv = generic.argv(own, &words);
    let pointer = built_in_pointer(args.agent()).unwrap_or(generic.adapter.input.pointer);
    Ok((generic, pointer, argv))
}

/// A shell is one by its path too.
fn built_in_pointer(program: &OsStr) -> Option<Pointer> {
    let name = Path::new(program).file_name()?.to_str()?;
    let agent = Agent::built_in(name)?;
    Some(agent.adapter.input.pointer)
}

/// A shell runs what it is told, so that it is told only what somebody meant as a command.
fn refuse_prose(args: &Args) -> Result<(), Failure> {
    let what = match (&args.task, args.wording) {
        (Some(_), _) => "the brief of a task",
        (None, Wording::Prose) => "a prompt",
        (None, Wording::Own) if args.watch.has_files() => "what is said of a file",
        (None, Wording::Own) => return Ok(()),
    };
    let agent = args.agent().display();
    let text = format!("`{agent}` is a shell and would run {what} as commands");
    Err(Failure::usage(text).hint("choose one that reads: `handoff agents`"))
}

pub(super) fn find(id: SessionId, ctx: &Context) -> Result<Known, Failure> {
    let known = catalogue::by_id(&places(ctx)?, id).map_err(|error| unreadable(&error))?;
    known.ok_or_else(|| Failure::failed("the session has left no record"))
}

fn show(known: &Known, window: Option<String>, ctx: &mut Context) -> Result<u8, Failure> {
    let now = ctx.clock()?.now();
    if ctx.out.is_json() {
        for mut document in documents(std::slice::from_ref(known), &now) {
            document.tmux_target = window.clone();
            ctx.out.document(SessionDocument::SCHEMA, document)?;
        }
        return Ok(ExitCode::Done.number());
    }
    let name = &known.record.name;
    let state = match known.standing {
        Standing::Live => ctx.out.styled(Tone::Active, "runs"),
        Standing::Ended | Standing::Lost => ctx.out.styled(Tone::Attention, "has ended already"),
    };
    ctx.out.line(format!("{name} {state}"))?;
    let way = match window {
        None => format!("Sit down at it: `handoff attach --id {name}`."),
        Some(target) => format!("Its window of tmux: {}.", plain(&target)),
    };
    ctx.out.note(way)?;
    Ok(ExitCode::Done.number())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    /// The agent, where one sits, and whether it is watched.
    fn settled(words: &str) -> Result<(String, Seat, bool), ()> {
        let words = std::iter::once("run").chain(words.split_whitespace());
        let args = Line::try_parse_from(words).map_err(drop)?.args;
        let args = args.settled().map_err(drop)?;
        let agent = args.agent().to_str().expect("it was text").to_owned();
        Ok((agent, args.seat(), args.watch.is_watching()))
    }

    #[test]
    fn an_agent_is_found_also_behind_an_option_that_may_have_a_value() {
        let of = |agent: &str, seat, is_watched| Ok((agent.to_owned(), seat, is_watched));
        let table = [
            ("codex", of("codex", Seat::Here, false)),
            ("codex --tmux", of("codex", Seat::Window, false)),
            ("codex --tmux cx", of("codex", Seat::Window, false)),
            ("--tmux codex", of("codex", Seat::Window, false)),
            ("--watch codex", of("codex", Seat::Beside, true)),
            (
                "--watch --preset plan codex",
                of("codex", Seat::Beside, true),
            ),
            ("--watch codex --tmux", of("codex", Seat::Window, true)),
            (
                "--watch file codex --detach",
                of("codex", Seat::Nowhere, false),
            ),
            ("--watch file --tmux codex", Err(())),
            ("--watch", Err(())),
            ("--tmux", Err(())),
            ("", Err(())),
        ];
        for (words, expected) in table {
            assert_eq!(settled(words), expected, "{words}");
        }
    }
}
