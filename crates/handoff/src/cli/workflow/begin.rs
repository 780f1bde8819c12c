//! `handoff workflow run` and `resume`: begins a run or goes on with one, and takes it to its end.

use std::ffi::OsString;
use std::path::PathBuf;

use handoff_agents::AgentName;
use handoff_api::ExitCode;
use handoff_core::run::{Run, RunSpec, RunState};
use handoff_core::task::Brief;
use handoff_core::workflow::Workflow;
use handoff_core::{FeatureName, RunId, RunName, WorkflowName};
use handoff_engine::reconcile;
use handoff_operations::{Failure, Project};
use handoff_store::queue::Change;
use handoff_store::{StoreError, read, runs};

use super::seat::Asked;
use super::source::Source;
use super::{handover, progress, seat, status};
use crate::cli::crier::Crier;
use crate::cli::feature;
use crate::cli::package::receive::PolicyArg;
use crate::cli::queue::KeyArg;
use crate::cli::worker;
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which workflow; see `handoff workflow list`.
    workflow: WorkflowName,
    /// What is wanted, in your words; of a feature, what its documents say.
    #[arg(long, short, value_name = "TEXT", required_unless_present = "feature")]
    goal: Option<Brief>,
    /// What to call the run; also the last part of its branch.
    #[arg(long, value_name = "NAME")]
    name: Option<RunName>,
    /// The feature that it is for.
    #[arg(long)]
    feature: Option<FeatureName>,
    /// Sit at each session as it works, and be asked before the run goes on to the next phase.
    #[arg(long, conflicts_with = "detach")]
    interactive: bool,
    #[command(flatten)]
    hands: Hands,
    #[command(flatten)]
    key: KeyArg,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// Its name or id, or the package that it was paused with.
    run: String,
    /// Of a package: what becomes of keys of the run's context that were changed since.
    #[arg(long, value_enum, default_value_t = PolicyArg::Refuse)]
    policy: PolicyArg,
    #[command(flatten)]
    hands: Hands,
    #[command(flatten)]
    key: KeyArg,
}

/// Who works.
#[derive(Debug, clap::Args)]
struct Hands {
    /// The agent of phases that name none; one of `handoff agents`.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
    /// The script that the built-in agent plays.
    #[arg(long, value_name = "PATH", conflicts_with = "agent")]
    script: Option<PathBuf>,
    /// Begin, and leave the work to a worker.
    #[arg(long)]
    detach: bool,
}

impl Hands {
    /// The agent and what it gets.
    fn agent(&self, usual: Option<AgentName>) -> Result<(AgentName, Vec<OsString>), Failure> {
        match &self.script {
            Some(script) => worker::scripted(script),
            None => Ok((worker::named(self.agent.clone().or(usual))?, vec![])),
        }
    }
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if args.interactive {
        seat::require(ctx)?;
    }
    let source = Source::named(&args.workflow, ctx)?;
    let workflow = source.workflow()?;
    if !source.is_trusted(ctx)? {
        let name = &args.workflow;
        return Err(Failure::new(
            ExitCode::Forbidden,
            format!("the commands of workflow `{name}` are not trusted"),
        )
        .hint(format!(
            "read it: `handoff workflow show {name}`, then `handoff workflow trust {name}`"
        )));
    }
    let goal = goal(args.goal, args.feature.as_ref(), ctx)?;
    if !args.hands.detach {
        // A run that nobody here can work on is not begun.
        let (agent, arguments) = args.hands.agent(ctx.config()?.worker.agent)?;
        progress::spawner(agent, arguments, Crier::hire(ctx)?, ctx)?;
    }
    let mut desk = Project::open(ctx)?;
    let clock = ctx.clock()?;
    let workshop = desk.workshop(ctx, &*clock)?;
    let base = workshop.git.head(workshop.repository).map_err(|error| {
        Failure::failed("a run begins with a commit, and there is none").because(&error)
    })?;
    drop(workshop);
    let spec = RunSpec {
        name: match args.name {
            Some(name) => name,
            None => fresh_name(&mut desk, &workflow)?,
        },
        workflow,
        goal,
        feature: args.feature,
        agent: args.hands.agent.clone(),
        base,
        is_interactive: args.interactive,
    };
    let change = Change::BeginRun {
        id: RunId::from_uuid(handoff_process::mint()),
        project: desk.id,
        spec: Box::new(spec),
    };
    let recorded = desk.submit(change, args.key.key)?;
    let run = recorded.receipt.answer.into_run();
    let run = run.ok_or_else(|| Failure::new(ExitCode::Internal, "the answer is not a run"))?;
    drop(desk);
    go_on(&run, &args.hands, ctx)
}

/// What is wanted: what the person says, or what they wrote of the feature.
fn goal(
    said: Option<Brief>,
    feature: Option<&FeatureName>,
    ctx: &Context,
) -> Result<Brief, Failure> {
    let Some(name) = feature else {
        return said.ok_or_else(|| Failure::usage("say what is wanted: `--goal TEXT`"));
    };
    let written = feature::purpose(name, ctx)?;
    match said {
        Some(said) => Ok(said),
        None => written.parse().map_err(|error| {
            let text = format!("the documents of feature `{name}` do not say what is wanted");
            Failure::usage(text)
                .because(&error)
                .hint("write its `FEATURE.md`, or say it: `--goal TEXT`")
        }),
    }
}

/// The workflow's own name, with the first number that is free.
fn fresh_name(desk: &mut Project, workflow: &Workflow) -> Result<RunName, Failure> {
    let project = desk.id;
    let is_free = |desk: &mut Project, name: &RunName| {
        let found = read(&mut *desk.store, |tx| runs::named(tx, project, name));
        matches!(found, Err(StoreError::NotFound { .. }))
    };
    let stem: String = workflow.name.as_str().chars().take(24).collect();
    for number in 1..100_000 {
        let name: RunName = format!("{stem}-{number}").parse().map_err(|error| {
            Failure::usage("say what to call the run: `--name NAME`").because(&error)
        })?;
        if is_free(desk, &name) {
            return Ok(name);
        }
    }
    Err(Failure::usage("say what to call the run: `--name NAME`"))
}

pub(super) fn resume(args: ResumeArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    let run = handover::find(&args.run, args.policy, &mut desk, ctx)?;
    let run = handover::go_on(run, args.key.key, &mut desk)?;
    drop(desk);
    go_on(&run, &args.hands, ctx)
}

/// Whoever took it to where it is may have been killed before git showed that, and before they had tidied up.
fn show_in_git(run: &Run, ctx: &Context) -> Result<(), Failure> {
    let mut desk = Project::open(ctx)?;
    let clock = ctx.clock()?;
    let mut workshop = desk.workshop(ctx, &*clock)?;
    reconcile::all(&mut workshop)?;
    Ok(handoff_engine::phase::show_in_git(&mut workshop, run)?)
}

/// Works on the run until it needs nobody any more, or a person.
fn go_on(run: &Run, hands: &Hands, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let is_under_way = matches!(
        run.state,
        RunState::Working { .. } | RunState::FannedOut { .. }
    );
    if !is_under_way {
        show_in_git(run, ctx)?;
        match seat::ask(run, ctx)? {
            Some(Asked::Decided) => return go_on(&progress::reload(run.id, ctx)?, hands, ctx),
            Some(Asked::Left) => return Ok(progress::outcome(run)),
            None => return progress::finish(run, ctx),
        }
    }
    if hands.detach {
        return status::tell(&status::document(run, ctx)?, ctx);
    }
    let usual = ctx.config()?.worker.agent;
    let (agent, arguments) = hands.agent(usual.or_else(|| run.spec.agent.clone()))?;
    progress::to_the_end(run, agent, arguments, ctx)
}
