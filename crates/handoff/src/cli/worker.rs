//! `handoff worker`: takes ready tasks down the road, several at a time.

mod place;
mod report;

use std::ffi::OsString;
use std::path::PathBuf;

use handoff_agents::{Agent, AgentName};
use handoff_api::ExitCode;
use handoff_core::Action;
use handoff_engine::{Crew, Shift};
use handoff_store::StoreError;

use self::place::Place;
use self::report::Reporter;
use super::session::Spawner;
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

/// How many tasks are worked on at once when nobody says otherwise.
const SLOTS: usize = 3;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Take one task, then stop.
    #[arg(long, conflicts_with = "until_empty")]
    once: bool,
    /// Stop when nothing is ready and nothing runs.
    #[arg(long)]
    until_empty: bool,
    /// How many tasks are worked on at the same time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    slots: Option<u16>,
    /// The agent for tasks that ask for none of their own; one of `handoff agents`.
    #[arg(long, value_name = "NAME", required_unless_present = "script")]
    agent: Option<AgentName>,
    /// The script that the built-in agent plays.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["agent", "arguments"])]
    script: Option<PathBuf>,
    /// What the agent gets.
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let shift = args.shift();
    let slots = args.slots.map_or(SLOTS, usize::from);
    let (agent, arguments) = args.agent()?;
    let spawner = Spawner::new(agent, arguments, ctx)?;
    let mut desk = Desk::open(ctx)?;
    desk.caller.may(Action::Claim).map_err(StoreError::from)?;
    let clock = ctx.clock()?;
    let crew = Crew::new(Place::new(ctx, spawner), slots, shift);
    let mut reporter = Reporter::new(shift);
    let mut workshop = desk.workshop(ctx, &*clock);
    let mut untold = None;
    crew.work(&mut workshop, |news| {
        let told = reporter.tell(news, ctx);
        told.map_err(|failure| {
            untold = Some(failure);
            handoff_engine::EngineError::Unheard
        })
    })
    .map_err(|error| untold.take().unwrap_or_else(|| Failure::from(error)))?;
    reporter.finish(ctx)
}

impl Args {
    const fn shift(&self) -> Shift {
        match (self.once, self.until_empty) {
            (true, _) => Shift::Once,
            (false, true) => Shift::UntilEmpty,
            (false, false) => Shift::Always,
        }
    }

    /// The agent and what it gets.
    fn agent(self) -> Result<(AgentName, Vec<OsString>), Failure> {
        let Some(script) = self.script else {
            let agent = self.agent.expect("clap demands one of both");
            return Ok((agent, self.arguments));
        };
        let script = std::path::absolute(&script).map_err(|error| {
            Failure::failed(format!("cannot find `{}`", script.display())).because(&error)
        })?;
        // A script that cannot be played would cost the task an attempt.
        handoff_scripted::load(&script).map_err(|error| {
            Failure::usage("`--script` names nothing that can be played").because(&error)
        })?;
        let scripted = Agent::built_in(Agent::SCRIPTED).expect("it is built in");
        Ok((scripted.name, vec![script.into_os_string()]))
    }
}
