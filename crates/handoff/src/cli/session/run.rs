//! `handoff run`: starts an agent as a session.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use handoff_api::{ExitCode, SessionDocument};
use handoff_core::SessionName;
use handoff_operations::operation::permit;
use handoff_operations::program::require_program;
use handoff_operations::session::start::{document, find};
use handoff_operations::session::{StartSession, Wording};
use handoff_operations::tmux::{WindowName, open_window};
use handoff_operations::{Failure, Span};
use handoff_process::Size;
use handoff_session::control::Attachment;
use handoff_session::holder::Loopback;
use handoff_session::{Confinement, Known, Standing};

use super::babysitter;
use super::patience::Patience;
use super::viewer::{self, Left};
use super::watch_args::WatchArgs;
use crate::context::Context;
use crate::output::{Tone, plain};

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
    let start = args.start(ctx)?;
    let known = start.start(ctx)?;
    briefed();
    sit_down(args, &known, ctx)
}

/// Begins a session that another command tells what it is for when it lives. If it cannot, the session is ended.
pub(crate) fn begin(
    args: &Args,
    ctx: &mut Context,
    brief: impl FnOnce(&Known, &Context) -> Result<(), Failure>,
) -> Result<u8, Failure> {
    let start = args.start(ctx)?;
    let known = start.start_and(ctx, |known| brief(known, ctx))?;
    sit_down(args, &known, ctx)
}

fn sit_down(args: &Args, known: &Known, ctx: &mut Context) -> Result<u8, Failure> {
    let is_watched = args.watch.is_watching();
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
            Left::Ended => viewer::ended(&find(known.record.id, ctx)?),
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
    /// What is started, and where somebody sits down at it. Refused before anything is made.
    fn start(&self, ctx: &Context) -> Result<StartSession, Failure> {
        permit::<StartSession>(ctx)?;
        let size = match self.seat() {
            Seat::Here => Some(own_terminal(ctx)?),
            Seat::Window => {
                require_program(OsStr::new("tmux"), ctx.cwd()?, ctx)?;
                None
            }
            Seat::Nowhere | Seat::Beside => None,
        };
        let mut start = StartSession {
            agent: self.agent().to_owned(),
            arguments: self.arguments.clone(),
            name: self.id.clone(),
            description: self.description.clone(),
            cwd: self.cwd.clone(),
            context: self.context.clone(),
            task: self.task.clone(),
            sandbox: self.sandbox,
            timeout: self.timeout.map(|patience| Span::new(patience.0)),
            log_limit: self.log_limit,
            host: self.host,
            port: self.port,
            size,
            wording: self.wording,
            ..StartSession::default()
        };
        self.watch.fill(&mut start)?;
        Ok(start)
    }

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

fn show(known: &Known, window: Option<String>, ctx: &mut Context) -> Result<u8, Failure> {
    if ctx.out.is_json() {
        let mut document = document(known, ctx)?;
        document.tmux_target = window;
        ctx.out.document(SessionDocument::SCHEMA, document)?;
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
