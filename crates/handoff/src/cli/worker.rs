//! `handoff worker`: takes ready tasks down the road, several at a time.

mod detach;
mod log;
mod moved;
mod panel;
mod place;
mod report;
mod stop;
mod unit;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_agents::{Agent, AgentName};
use handoff_api::{ExitCode, RestDocument, WorkersDocument};
use handoff_core::Action;
use handoff_engine::{Capacity, Crew, EngineError, News, Shift};
use handoff_operations::worker::LivingWorker;
use handoff_operations::{Failure, Project, Span, sandbox_policy};
use handoff_store::StoreError;

pub(super) use self::detach::come_up;
use self::panel::Panel;
use self::place::Place;
use self::report::Reporter;
use super::crier::Crier;
use super::session::Spawner;
use crate::context::Context;
use crate::output::rest_lines;
pub(super) use handoff_operations::worker::living;

/// How many tasks are worked on at once when nobody says otherwise.
const SLOTS: usize = 3;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    shift: ShiftArgs,
    /// How many tasks are worked on at the same time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    slots: Option<u16>,
    /// The agent for tasks that ask for none of their own; one of `handoff agents`.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
    /// The script that the built-in agent plays.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["agent", "arguments"])]
    script: Option<PathBuf>,
    /// Work in the background.
    #[arg(long)]
    detach: bool,
    #[arg(long, hide = true)]
    in_background: bool,
    /// What the agent gets.
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show which workers of this project live.
    List,
    /// Tell a worker to stop; its agents go on, and the next one takes them over.
    Stop(stop::StopArgs),
    /// Have the machine keep a worker for this project alive.
    Install(unit::InstallArgs),
    /// Take that back.
    Uninstall(unit::UninstallArgs),
}

/// How long it works; without an option until it is ended.
#[derive(Debug, Clone, Copy, clap::Args)]
struct ShiftArgs {
    /// Take one task, then stop.
    #[arg(long, conflicts_with = "until_empty")]
    once: bool,
    /// Stop when nothing is ready and nothing runs.
    #[arg(long)]
    until_empty: bool,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match &args.command {
        Some(Command::List) => return list(ctx),
        Some(Command::Stop(args)) => return stop::stop(args, ctx),
        Some(Command::Install(args)) => return unit::install(args, ctx),
        Some(Command::Uninstall(args)) => return unit::uninstall(args, ctx),
        None => {}
    }
    ctx.stay();
    let shift = args.shift.shift();
    let (is_detached, in_background) = (args.detach, args.in_background);
    let config = ctx.config()?.worker;
    let slots = args.slots.map_or_else(|| slots(ctx), |it| Ok(it.into()))?;
    let (limits, stagger, opener) = (config.limits, config.stagger, config.spawn);
    let (agent, arguments) = args.agent(config.agent)?;
    let capacity = Capacity {
        slots,
        usual: Some(agent.clone()),
        limits: limits
            .into_iter()
            .map(|(name, most)| (name, most.get().into()))
            .collect(),
        stagger: stagger.map_or(Duration::ZERO, Span::duration),
    };
    let crier = Crier::hire(ctx)?;
    let spawner = Spawner::new(agent, arguments, opener, crier.clone(), ctx)?;
    let openings = spawner.openings();
    let mut desk = Project::open(ctx)?;
    desk.caller.may(Action::Claim).map_err(StoreError::from)?;
    if is_detached {
        return detach::start(desk.id, ctx);
    }
    if let Some(off) = sandbox_policy::off_for_tasks(ctx)? {
        let why = off.reason();
        ctx.out.note(format!(
            "Sessions of tasks are in no sandbox here: {why}. They can change whatever you can."
        ))?;
    }
    let clock = ctx.clock()?;
    let panel = Panel::of(ctx)?;
    let crew = Crew::new(Place::new(ctx, spawner), capacity, shift);
    let crew = crew.ticking(panel.is_some().then_some(panel::TICK));
    let mut reporter = Reporter::new(shift, panel);
    let mut workshop = desk.workshop(ctx, &*clock)?;
    let crew = crew.signed_in(&workshop)?;
    let mut log = in_background
        .then(|| detach::settle(crew.id(), workshop.project, ctx))
        .transpose()?;
    let mut untold = None;
    let worked = crew.work(&mut workshop, |news| {
        if !matches!(news, News::Passing) {
            crier.look();
        }
        if let Some(log) = &mut log {
            log.keep_short();
        }
        let told = reporter.tell(news, ctx);
        told.map_err(|failure| {
            untold = Some(failure);
            handoff_engine::EngineError::Unheard
        })
    });
    openings.wait();
    crier.dismiss();
    let worked = match worked {
        Err(gone @ EngineError::RepositoryGone(_)) => {
            let project = workshop.project;
            return Err(moved::follow(&gone, project, ctx));
        }
        worked => worked,
    };
    worked.map_err(|error| untold.take().unwrap_or_else(|| Failure::from(error)))?;
    reporter.finish(ctx)
}

/// How many tasks are worked on at once here.
pub(super) fn slots(ctx: &Context) -> Result<usize, Failure> {
    let slots = ctx.config()?.worker.slots;
    Ok(slots.map_or(SLOTS, |it| it.get().into()))
}

fn list(ctx: &mut Context) -> Result<ExitCode, Failure> {
    let usual = ctx.config()?.worker.agent;
    let (living, rests) = match Project::peek(ctx)? {
        Some(mut desk) => (living(&desk, ctx)?, desk.rests(usual.as_ref())?),
        None => (vec![], vec![]),
    };
    if ctx.out.is_json() {
        let workers = living.iter().map(LivingWorker::document).collect();
        ctx.out.document(
            WorkersDocument::SCHEMA,
            WorkersDocument {
                workers,
                rests: rests.iter().map(RestDocument::of).collect(),
            },
        )?;
        return Ok(ExitCode::Done);
    }
    for line in rest_lines(&rests) {
        ctx.out.note(line)?;
    }
    if living.is_empty() {
        ctx.out
            .note("No worker lives here. Start one: `handoff worker --agent NAME`.")?;
    } else {
        for worker in living {
            ctx.out.line(worker.line())?;
        }
    }
    Ok(ExitCode::Done)
}

impl ShiftArgs {
    const fn shift(self) -> Shift {
        match (self.once, self.until_empty) {
            (true, _) => Shift::Once,
            (false, true) => Shift::UntilEmpty,
            (false, false) => Shift::Always,
        }
    }
}

impl Args {
    /// The agent and what it gets.
    fn agent(self, usual: Option<AgentName>) -> Result<(AgentName, Vec<OsString>), Failure> {
        if let Some(script) = &self.script {
            return scripted(script);
        }
        Ok((named(self.agent.or(usual))?, self.arguments))
    }
}

/// The agent that somebody chose, or is the usual one.
pub(super) fn named(agent: Option<AgentName>) -> Result<AgentName, Failure> {
    agent.ok_or_else(|| {
        Failure::usage("which agent is to work? none is named, and none is the usual one")
            .hint("name one of `handoff agents`: `--agent NAME`")
            .hint("or set `[worker] agent` in your configuration")
    })
}

/// The built-in agent with its script. One that cannot be played would cost a task an attempt.
pub(super) fn scripted(script: &Path) -> Result<(AgentName, Vec<OsString>), Failure> {
    let script = std::path::absolute(script).map_err(|error| {
        Failure::failed(format!("cannot find `{}`", script.display())).because(&error)
    })?;
    handoff_scripted::load(&script).map_err(|error| {
        Failure::usage("`--script` names nothing that can be played").because(&error)
    })?;
    let scripted = Agent::built_in(Agent::SCRIPTED).expect("it is built in");
    Ok((scripted.name, vec![script.into_os_string()]))
}
