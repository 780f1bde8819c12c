//! `handoff dump`: the baton for the next session, or a whole batch of them.

mod last_word;
mod misplaced;
mod rehearsal;

use std::path::PathBuf;

use clap::ValueEnum;
use handoff_api::ExitCode;
use handoff_core::batch::BatchPart;
use handoff_core::task::{
    Brief, Command, Dependency, Reason, Summary, TaskSpec, TextError, Until, VerifyCommand,
    dependencies,
};
use handoff_core::{Caller, Confinement, IdempotencyKey, TaskId, TaskName};
use handoff_operations::project::{discover, fence, project_here};
use handoff_operations::task::demands;
use handoff_operations::{Failure, Project};
use handoff_store::queue::{Answer, Change, TaskRef};

use self::last_word::with_hint;
use super::batch::SlotsArg;
use super::batch::opening::{self, Earnest, Terms};
use super::errand::Reading;
use super::queue::{KeyArg, show_change};
use super::{baton, prospect};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The task.
    #[arg(long, value_name = "NAME", required_unless_present = "open_batch")]
    task: Option<TaskName>,
    /// What the next session is to do; for a task that is done or blocked, what was done or what is needed.
    #[arg(long, value_name = "TEXT")]
    next: Option<String>,
    /// Whether the task is to be done, is done, or cannot go on without a person. Inside a session `done` and `blocked` are its last
    /// word of its own task.
    #[arg(long, value_enum, default_value_t = Status::Active)]
    status: Status,
    /// What is needed, for `--status blocked`.
    #[arg(long, value_name = "TEXT")]
    blocked_reason: Option<String>,
    /// Which tests belong to it: told to the session, run by nobody else.
    #[arg(long, value_name = "TEXT")]
    tests: Option<String>,
    /// A shell command whose success proves the work.
    #[arg(long, value_name = "COMMAND")]
    verify: Option<VerifyCommand>,
    /// How its sessions are held: `worktree` or `none`. Only a person takes them out of the sandbox.
    #[arg(long, value_name = "WHAT")]
    sandbox: Option<Confinement>,
    /// A task that must be done first: this one goes on from what it leaves. May be given several times.
    #[arg(long, value_name = "TASK")]
    after: Vec<String>,
    /// Inside a session: do not wait until the task of the session is done.
    #[arg(long)]
    at_once: bool,
    /// Open a batch from a manifest, TOML or JSON; `-` reads it from stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["task", "next", "status", "blocked_reason", "verify", "tests", "after", "sandbox", "batch_id", "fence"])]
    open_batch: Option<PathBuf>,
    #[command(flatten)]
    slots: SlotsArg,
    #[command(flatten)]
    part: PartArgs,
    /// Show what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do it in the repository of this directory.
    #[arg(long, value_name = "PATH")]
    workspace: Option<PathBuf>,
    /// Only if this is the project: its id, or the name of the repository's folder.
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// The fence of your lease, when the task is leased.
    #[arg(long, value_name = "NUMBER")]
    fence: Option<u64>,
    #[command(flatten)]
    key: KeyArg,
}

/// What is said of a part of a batch.
#[derive(Debug, clap::Args)]
struct PartArgs {
    /// The batch that the task is a part of; `--task` is then the name of the part.
    #[arg(long, value_name = "BATCH")]
    batch_id: Option<String>,
    /// The part is done.
    #[arg(long, requires = "batch_id", conflicts_with_all = ["batch_blocked", "status"])]
    batch_done: bool,
    /// The part cannot go on without a person.
    #[arg(long, requires = "batch_id", conflicts_with = "status")]
    batch_blocked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Status {
    Active,
    Done,
    Blocked,
}

impl Args {
    pub(super) fn reading(&self) -> Reading {
        match &self.open_batch {
            None => Reading::Nothing,
            Some(file) if file.as_os_str() == "-" => Reading::Input,
            Some(file) => Reading::File(file.clone()),
        }
    }

    /// Whether it says what became of a task, and adds none.
    pub(super) fn is_report(&self) -> bool {
        self.open_batch.is_none() && self.status() != Status::Active
    }
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    args.refuse_misplaced(ctx)?;
    let workspace = args.workspace.as_ref();
    if ctx.tree.is_some() && workspace.is_some() {
        let text = "a session in a sandbox hands work on in its own repository only";
        return Err(Failure::new(ExitCode::Forbidden, text));
    }
    if let Some(workspace) = workspace.map(|it| Ok::<_, Failure>(ctx.cwd()?.join(it))) {
        ctx.stand_in(workspace?);
    }
    check_project(args.project.as_deref(), ctx)?;
    let earnest = if args.dry_run {
        Earnest::DryRun
    } else {
        Earnest::Really
    };
    if let Some(word) = args.last_word(ctx)? {
        return last_word::say(&word, earnest, ctx);
    }
    if let Some(file) = &args.open_batch {
        let terms = Terms {
            earnest,
            after: own_task(ctx)?.filter(|_| !args.at_once),
            key: args.key.key,
        };
        return opening::open(file, terms, &args.slots, ctx);
    }
    dump_task(&args, ctx)
}

/// The task of the session that one is in.
fn own_task(ctx: &Context) -> Result<Option<TaskId>, Failure> {
    let caller = handoff_operations::project::caller(&ctx.ambient)?;
    Ok(match caller {
        Caller::Session { task, .. } => task,
        Caller::Person | Caller::Worker | Caller::Reconciler | Caller::Check | Caller::Unknown => {
            None
        }
    })
}

/// The earlier tool told repositories apart by this; here it can only be right or wrong.
fn check_project(wanted: Option<&str>, ctx: &Context) -> Result<(), Failure> {
    let Some(wanted) = wanted else {
        return Ok(());
    };
    // The same from every worktree: a project is the repository, and that lies where its main worktree does.
    let repository = discover(ctx)?;
    let place = repository.main_worktree();
    let place = place.unwrap_or_else(|| repository.common_dir());
    let folder = { place.file_name() }.map(|it| it.to_string_lossy().into_owned());
    let id = project_here(ctx)?.map(|it| it.to_string());
    if [folder.as_deref(), id.as_deref()].contains(&Some(wanted)) {
        return Ok(());
    }
    let name = folder.unwrap_or_default();
    let what = format!("this repository is `{name}`, not the project {wanted:?}");
    Err(Failure::new(ExitCode::Conflict, what)
        .hint("a project is the repository one stands in; `--workspace PATH` names another"))
}

fn dump_task(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if args.dry_run {
        let rehearsed = rehearsal::rehearse(args, ctx);
        return rehearsed.map_err(|failure| with_hint(failure, ctx));
    }
    let mut desk = Project::open(ctx)?;
    let (change, verb) = args.change(&mut desk, ctx)?;
    let recorded = record(&mut desk, change, args.key.key.clone(), verb, ctx);
    recorded.map_err(|failure| with_hint(failure, ctx))
}

fn record(
    desk: &mut Project,
    change: Change,
    key: Option<IdempotencyKey>,
    verb: &str,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let scene = baton::Scene::of(&desk.repository, ctx);
    let survey = scene.survey();
    let recorded = desk.submit(change, key)?;
    let mut dumped = None;
    if let Answer::Task(task) = &recorded.receipt.answer {
        baton::write(desk, task, survey, ctx);
        dumped = Some(task);
    }
    let shown = show_change(desk, &recorded, verb, ctx);
    let shown = shown.map_err(|failure| recorded.untold(failure))?;
    if let Some(task) = dumped.filter(|it| it.state.ending().is_none()) {
        prospect::of_task(desk, task, ctx)?;
    }
    Ok(shown)
}

fn parsed<T: std::str::FromStr<Err = TextError>>(text: &str) -> Result<T, Failure> {
    text.parse()
        .map_err(|error: TextError| Failure::usage(error.to_string()))
}

impl Args {
    const fn status(&self) -> Status {
        match (self.part.batch_done, self.part.batch_blocked) {
            (true, _) => Status::Done,
            (_, true) => Status::Blocked,
            (false, false) => self.status,
        }
    }

    fn name(&self) -> Result<TaskName, Failure> {
        let missing = || Failure::usage("`--task` says which task is meant");
        self.task.clone().ok_or_else(missing)
    }

    /// What is to be done, was done or is needed.
    fn said(&self) -> Result<String, Failure> {
        let next = self.next.as_deref();
        let reason =
            { self.blocked_reason.as_deref() }.filter(|_| self.status() == Status::Blocked);
        match (reason, next) {
            (Some(reason), Some(next)) => Ok(format!("{reason}\n\nNext: {next}")),
            (Some(said), None) | (None, Some(said)) => Ok(said.to_owned()),
            (None, None) => Err(Failure::usage(
                "`--next` says what is to be done, was done or is needed",
            )),
        }
    }

    /// What must be done first. What a session hands on goes on from what it leaves, so its own task is among it.
    fn demands(&self, desk: &mut Project) -> Result<Vec<Dependency>, Failure> {
        let mut demands = demands(desk, &self.after, Until::Done)?;
        if let Caller::Session {
            task: Some(task), ..
        } = desk.caller
            && !self.at_once
        {
            let until = Until::Done;
            demands.push(Dependency { task, until });
        }
        Ok(dependencies(demands))
    }

    /// What is asked for, and the word for it when it is done.
    fn change(&self, desk: &mut Project, ctx: &Context) -> Result<(Change, &'static str), Failure> {
        let fence = fence(ctx, self.fence);
        Ok(match self.status() {
            Status::Active => {
                let after = self.demands(desk)?;
                let id = TaskId::from_uuid(handoff_process::mint());
                let project = desk.id;
                let spec = self.spec(after)?;
                (Change::Add { id, project, spec }, "dumped")
            }
            Status::Done => {
                let summary = Some(parsed::<Summary>(&self.said()?)?);
                let command = Command::Complete { fence, summary };
                let task = self.meant(desk)?;
                (Change::Tell { task, command }, "completed")
            }
            Status::Blocked => {
                let reason = parsed::<Reason>(&self.said()?)?;
                let command = Command::Block { fence, reason };
                let task = self.meant(desk)?;
                (Change::Tell { task, command }, "blocked")
            }
        })
    }

    fn spec(&self, after: Vec<Dependency>) -> Result<TaskSpec, Failure> {
        let tests = self.tests.as_deref();
        let tests = tests.map_or_else(String::new, |it| format!("\n\nThe tests for this: {it}"));
        let brief: Brief = parsed(&format!("{}{tests}", self.said()?))?;
        Ok(TaskSpec {
            verify: self.verify.clone(),
            sandbox: self.sandbox,
            after,
            ..TaskSpec::new(self.name()?, brief)
        })
    }

    /// The task by its name, or the part of a batch.
    fn meant(&self, desk: &mut Project) -> Result<TaskRef, Failure> {
        let name = self.name()?;
        let Some(batch) = &self.part.batch_id else {
            let project = desk.id;
            return Ok(TaskRef::Named { project, name });
        };
        let batch = desk.batch(batch)?;
        let named = |spelling: &str| {
            let mut parts = batch.spec.parts.iter();
            parts.find(|part: &&BatchPart| part.name.as_str() == spelling)
        };
        // A part may be called so as it is.
        let part = spellings(&name).into_iter().flatten().find_map(named);
        let part = part.ok_or_else(|| {
            let what = format!("batch `{}` has no part `{name}`", batch.spec.name);
            Failure::new(ExitCode::NotFound, what).hint(format!(
                "see its parts: `handoff batch show {}`",
                batch.spec.name
            ))
        })?;
        Ok(TaskRef::Id(part.task))
    }
}

/// The name of a part as it is, and without what the earlier tool wanted behind it.
fn spellings(name: &TaskName) -> [Option<&str>; 3] {
    let name = name.as_str();
    let stripped = ["-done", "-blocked"].map(|it| name.strip_suffix(it));
    [Some(name), stripped[0], stripped[1]]
}
