//! Sessions that a worker begins: the same as those of `run`, without anybody sitting down at them.

use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

use handoff_agents::adapter::Prompt;
use handoff_agents::{Agent, AgentName, Pointer};
use handoff_core::{SessionId, Task};
use handoff_engine::{Order, Question, Spawn, SpawnError};
use handoff_operations::opener::Opener;
use handoff_operations::program::{own_program, require_program};
use handoff_operations::session::Care;
use handoff_operations::session::launch::Launch;
use handoff_operations::session::start::{LOG_LIMIT, MIB, find, send_first};
use handoff_operations::{Failure, agent_catalogue, sandbox_policy};
use handoff_process::Size;
use handoff_session::environment::Work;
use handoff_session::stall::Policy;

use super::openings::Openings;
use crate::ambient::Invocation;
use crate::cli::crier::Crier;
use crate::context::Context;
use crate::output::plain;

/// What a start takes at most. A machine that is busy with other agents is slow.
const START_TAKES: Duration = Duration::from_secs(30);
/// How much of a brief describes a session.
const DESCRIPTION: usize = 80;

/// Begins the sessions of a worker.
pub(crate) struct Spawner {
    invocation: Invocation,
    /// For tasks that ask for no agent of their own.
    agent: AgentName,
    arguments: Vec<OsString>,
    opener: Opener,
    openings: Openings,
    crier: Crier,
    /// Whether a person sits at what it begins.
    pub(crate) is_attended: bool,
}

impl Spawner {
    fn context(&self) -> Context {
        Context::quiet(self.invocation.clone())
    }

    /// Refuses an agent, or something to show it in, that is not known or not there, before a task is claimed for it.
    pub(crate) fn new(
        agent: AgentName,
        arguments: Vec<OsString>,
        opener: Opener,
        crier: Crier,
        ctx: &Context,
    ) -> Result<Self, Failure> {
        let spawner = Self {
            invocation: ctx.invocation(),
            agent,
            arguments,
            opener,
            openings: Openings::default(),
            crier,
            is_attended: false,
        };
        spawner.opener.require(ctx)?;
        require_agent(&spawner.agent, ctx)?;
        Ok(spawner)
    }

    /// What is started for a task.
    fn command(
        &self,
        wanted: Option<&AgentName>,
        role: Option<&str>,
        ctx: &Context,
    ) -> Result<(Agent, Vec<OsString>), Failure> {
        let name = wanted.unwrap_or(&self.agent);
        let agent = agent_catalogue::require(name, ctx)?.agent;
        // What was meant for one agent means something else to another.
        let arguments = if *name == self.agent {
            self.arguments.as_slice()
        } else {
            &[]
        };
        let mut words = role.map_or_else(Vec::new, |role| agent.playing(role));
        words.extend_from_slice(arguments);
        let argv = agent.argv(own_program(ctx)?, &words);
        Ok((agent, argv))
    }

    fn begin(&self, order: &Order<'_>) -> Result<(), Failure> {
        let ctx = self.context();
        let spec = &order.task.spec;
        let (agent, argv) = self.command(spec.agent.as_ref(), order.role, &ctx)?;
        refuse_shell(&agent)?;
        require_program(&argv[0], order.worktree, &ctx)?;
        let prompt = agent.adapter.launch.prompt;
        let sandbox_off = sandbox_policy::off_for(spec, &agent, &ctx)?;
        let bounds = match sandbox_off {
            Some(_) => None,
            None => Some(sandbox_policy::of_agent(&agent, order.worktree, &ctx)?),
        };
        let launch = Launch {
            id: order.session,
            project: order.task.project,
            name: order.name.clone(),
            agent: agent.name,
            argv,
            description: Some(first_line(spec.brief.as_str())),
            cwd: order.worktree.to_owned(),
            size: Size::DETACHED,
            log_limit: LOG_LIMIT * MIB,
            network: None,
            care: Care {
                // Whoever sits at it sees whether it moves.
                policy: (!self.is_attended).then(Policy::default),
                files: vec![],
            },
            role: spec.role(),
            bounds,
            sandbox_off,
            work: Some(work(order)),
        };
        launch.start(START_TAKES, &ctx)?;
        self.show(order.session);
        match prompt {
            Prompt::File => Ok(()),
            Prompt::Message => send_first(order.prompt.to_owned(), &find(order.session, &ctx)?),
        }
    }
}

impl Spawner {
    /// Opens what a person wants to see it in, beside it. The session lives without; that there is none is said.
    fn show(&self, session: SessionId) {
        if self.opener == Opener::Detached {
            return;
        }
        let (opener, invocation) = (self.opener.clone(), self.invocation.clone());
        self.openings.begin(move || {
            let mut ctx = Context::quiet(invocation);
            let opened = find(session, &ctx).and_then(|known| opener.open(&known, &ctx));
            if let Err(failure) = opened {
                let causes = failure.causes.join(": ");
                let text = format!("{}: {causes}", failure.message);
                ctx.out.interject(&plain(&text)).ok();
            }
        });
    }

    /// What is being opened for sessions.
    pub(crate) fn openings(&self) -> Openings {
        self.openings.clone()
    }
}

/// Refuses an agent that no worker could begin a session with: not known, not there, or a shell.
pub(in crate::cli) fn require_agent(name: &AgentName, ctx: &Context) -> Result<(), Failure> {
    let agent = agent_catalogue::require(name, ctx)?.agent;
    refuse_shell(&agent)?;
    let argv = agent.argv(own_program(ctx)?, &[]);
    require_program(&argv[0], ctx.cwd()?, ctx)
}

fn work(order: &Order<'_>) -> Work {
    let task = order.task;
    Work {
        task: task.spec.name.clone(),
        id: task.id,
        fence: task.fence,
        batch: task.spec.part.and_then(handoff_core::task::Part::batch),
    }
}

/// A shell would run the prompt as commands.
fn refuse_shell(agent: &Agent) -> Result<(), Failure> {
    if agent.adapter.input.pointer != Pointer::Source {
        return Ok(());
    }
    let text = format!(
        "`{}` is a shell and would run a prompt as commands",
        agent.name
    );
    Err(Failure::usage(text).hint("choose one that reads: `handoff agents`"))
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().take(DESCRIPTION).collect()
}

impl Spawn for Spawner {
    fn spawn(&self, order: &Order<'_>) -> Result<(), SpawnError> {
        self.begin(order).map_err(|failure| Refused(failure).into())
    }

    fn agent(&self, task: &Task) -> Option<AgentName> {
        Some(task.spec.agent.as_ref().unwrap_or(&self.agent).clone())
    }

    fn tell_question(&self, question: &Question<'_>) {
        self.crier.ask(question);
    }

    fn is_attended(&self) -> bool {
        self.is_attended
    }
}

/// A failure as the engine records it: what, and why.
#[derive(Debug)]
struct Refused(Failure);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        let mut causes = self.0.causes.iter();
        causes.try_for_each(|cause| write!(f, ": {cause}"))
    }
}

impl std::error::Error for Refused {}
