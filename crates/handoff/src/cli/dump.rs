//! `handoff dump`: the baton for the next session, or a whole batch of them.

use std::path::PathBuf;

use clap::ValueEnum;
use handoff_api::{ExitCode, TaskDocument};
use handoff_core::task::{
    Brief, Command, Dependency, Reason, Summary, TaskSpec, Until, VerifyCommand, View, dependencies,
};
use handoff_core::{Caller, IdempotencyKey, Task, TaskId, TaskName, TaskState};
use handoff_store::queue::{Answer, Change, TaskRef};

use super::batch::SlotsArg;
use super::batch::opening::{self, Earnest};
use super::errand::Reading;
use super::queue::{KeyArg, demands, show_change};
use super::{baton, worker};
use crate::context::Context;
use crate::desk::{Desk, fence};
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The task.
    #[arg(long, value_name = "NAME", required_unless_present = "open_batch")]
    task: Option<TaskName>,
    /// What the next session is to do; for a task that is done or blocked, what was done or what is needed.
    #[arg(long, value_name = "TEXT")]
    next: Option<String>,
    /// Whether the task is to be done, is done, or cannot go on without a person.
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
    /// A task that must be done first: this one goes on from what it leaves. May be given several times.
    #[arg(long, value_name = "TASK")]
    after: Vec<String>,
    /// Inside a session: do not wait until the task of the session is done.
    #[arg(long)]
    at_once: bool,
    /// Open a batch from a manifest, TOML or JSON; `-` reads it from stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["task", "next", "status", "verify", "tests", "after", "at_once", "batch_id"])]
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
    #[arg(long, requires = "batch_id", conflicts_with = "batch_blocked")]
    batch_done: bool,
    /// The part cannot go on without a person.
    #[arg(long, requires = "batch_id")]
    batch_blocked: bool,
}

impl Args {
    pub(super) fn reading(&self) -> Reading {
        match &self.open_batch {
            None => Reading::Nothing,
            Some(file) if file.as_os_str() == "-" => Reading::Input,
            Some(file) => Reading::File(file.clone()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Status {
    Active,
    Done,
    Blocked,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if let Some(workspace) = &args.workspace {
        let here = ctx.cwd()?.join(workspace);
        ctx.stand_in(here);
    }
    check_project(args.project.as_deref(), ctx)?;
    if let Some(file) = &args.open_batch {
        let earnest = if args.dry_run {
            Earnest::DryRun
        } else {
            Earnest::Really
        };
        return opening::open(file, earnest, &args.slots, args.key.key, ctx);
    }
    dump_task(args, ctx)
}

/// The earlier tool told repositories apart by this; here it can only be right or wrong.
fn check_project(wanted: Option<&str>, ctx: &Context) -> Result<(), Failure> {
    let Some(wanted) = wanted else {
        return Ok(());
    };
    let root = crate::desk::worktree_root(ctx)?;
    let folder = root.file_name().map(|it| it.to_string_lossy().into_owned());
    let id = crate::desk::project_at(&root)?.map(|it| it.to_string());
    if [folder.as_deref(), id.as_deref()].contains(&Some(wanted)) {
        return Ok(());
    }
    let name = folder.unwrap_or_default();
    let what = format!("this repository is `{name}`, not the project {wanted:?}");
    Err(Failure::new(ExitCode::Conflict, what)
        .hint("a project is the repository one stands in; `--workspace PATH` names another"))
}

fn dump_task(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let is_dry = args.dry_run;
    let status = args.status();
    args.refuse_misplaced(status)?;
    let mut desk = Desk::open(ctx)?;
    let fence = fence(ctx, args.fence);
    let key = args.key.key.clone();
    let (change, verb) = match status {
        Status::Active => (args.adding(&mut desk)?, "dumped"),
        Status::Done => {
            let summary = Some(parsed::<Summary>(args.said()?)?);
            let command = Command::Complete { fence, summary };
            let task = args.meant(&mut desk)?;
            (Change::Tell { task, command }, "completed")
        }
        Status::Blocked => {
            let reason = parsed::<Reason>(args.said()?)?;
            let command = Command::Block { fence, reason };
            let task = args.meant(&mut desk)?;
            (Change::Tell { task, command }, "blocked")
        }
    };
    if is_dry {
        return rehearse(&mut desk, change, ctx);
    }
    record(&mut desk, change, key, verb, ctx)
}

fn record(
    desk: &mut Desk,
    change: Change,
    key: Option<IdempotencyKey>,
    verb: &str,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let survey = baton::Survey::begin(desk, ctx);
    let recorded = desk.submit(change, key)?;
    let mut dumped = None;
    if let Answer::Task(task) = &recorded.receipt.answer {
        baton::write(desk, task, survey, ctx);
        dumped = Some(task);
    }
    let shown = show_change(desk, &recorded, verb, ctx);
    let shown = shown.map_err(|failure| recorded.untold(failure))?;
    match dumped {
        Some(task) if task.state == TaskState::Waiting => tell_wait(desk, task, ctx)?,
        Some(task) if task.state.ending().is_none() => worker::miss(desk, ctx)?,
        Some(_) | None => {}
    }
    Ok(shown)
}

/// Says what it waits for. It is recorded: not knowing the names is no reason to fail.
fn tell_wait(desk: &mut Desk, task: &Task, ctx: &mut Context) -> Result<(), Failure> {
    let named = |it: &Dependency| desk.find(&TaskRef::Id(it.task)).ok();
    let names: Vec<_> = { task.pending.iter() }
        .filter_map(named)
        .map(|it| format!("`{}`", it.spec.name))
        .collect();
    if names.is_empty() || ctx.out.is_json() {
        return Ok(());
    }
    let names = names.join(" and ");
    let text = format!("It begins when {names} is done, and goes on from there.");
    Ok(ctx.out.note(text)?)
}

/// The baton as it would be written, or the task as it is.
fn rehearse(desk: &mut Desk, change: Change, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let now = desk.now()?;
    let task = match change {
        Change::Add { id, project, spec } => Task::begin(id, project, spec, now.wall),
        Change::Tell { task, .. } => desk.find(&task)?,
        Change::ClaimNext { .. }
        | Change::Claim { .. }
        | Change::Hold { .. }
        | Change::Unhold { .. }
        | Change::Pause { .. }
        | Change::Unpause { .. }
        | Change::Record { .. }
        | Change::Context { .. }
        | Change::Seal { .. }
        | Change::Package { .. }
        | Change::OpenBatch { .. }
        | Change::Batch { .. }
        | Change::BeginRun { .. }
        | Change::AdoptRun { .. }
        | Change::AdoptTask(_)
        | Change::AdoptBatch(_)
        | Change::Run { .. }
        | Change::SetBaseline(_)
        | Change::NoteMove { .. }
        | Change::Receive(_) => {
            return Err(Failure::new(ExitCode::Internal, "a dump is about a task"));
        }
    };
    if ctx.out.is_json() {
        let document = TaskDocument::of(&task, View::at(&now.moment));
        ctx.out.document(TaskDocument::SCHEMA, document)?;
    } else {
        let ground = baton::Ground::of(desk, ctx);
        let text = baton::text(&task, &ground, &baton::Past::of(desk, &task, ctx));
        ctx.out.line(crate::output::plain(text.trim_end()))?;
        ctx.out.note("Nothing was dumped.")?;
    }
    Ok(ExitCode::Done)
}

fn parsed<T: std::str::FromStr<Err = handoff_core::task::TextError>>(
    text: &str,
) -> Result<T, Failure> {
    text.parse()
        .map_err(|error: handoff_core::task::TextError| Failure::usage(error.to_string()))
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
    fn said(&self) -> Result<&str, Failure> {
        let said = match self.status() {
            Status::Blocked => self.blocked_reason.as_deref().or(self.next.as_deref()),
            Status::Active | Status::Done => self.next.as_deref(),
        };
        said.ok_or_else(|| {
            Failure::usage("`--next` says what is to be done, was done or is needed")
        })
    }

    /// What says how a task is to be worked on says nothing of one that has ended.
    fn refuse_misplaced(&self, status: Status) -> Result<(), Failure> {
        let given = [
            ("--verify", self.verify.is_some()),
            ("--after", !self.after.is_empty()),
            ("--at-once", self.at_once),
        ];
        let misplaced = given.into_iter().find(|(_, is_given)| *is_given);
        match misplaced.filter(|_| status != Status::Active) {
            Some((name, _)) => {
                let text = format!("`{name}` goes with `--status active` only");
                Err(Failure::usage(text))
            }
            None => Ok(()),
        }
    }

    /// What must be done first. What a session hands on goes on from what it leaves, so its own task is among it.
    fn demands(&self, desk: &mut Desk) -> Result<Vec<Dependency>, Failure> {
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

    fn adding(self, desk: &mut Desk) -> Result<Change, Failure> {
        let after = self.demands(desk)?;
        let tests = self.tests.as_deref();
        let tests = tests.map_or_else(String::new, |it| format!("\n\nThe tests for this: {it}"));
        let brief: Brief = parsed(&format!("{}{tests}", self.said()?))?;
        let spec = TaskSpec {
            verify: self.verify.clone(),
            after,
            ..TaskSpec::new(self.name()?, brief)
        };
        Ok(Change::Add {
            id: TaskId::from_uuid(handoff_process::mint()),
            project: desk.project,
            spec,
        })
    }

    /// The task by its name, or the part of a batch. The earlier tool wanted a part's name with what became of it behind.
    fn meant(&self, desk: &mut Desk) -> Result<TaskRef, Failure> {
        let name = self.name()?;
        let Some(batch) = &self.part.batch_id else {
            let project = desk.project;
            return Ok(TaskRef::Named { project, name });
        };
        let batch = desk.batch(batch)?;
        let plain = name.as_str();
        let stripped = plain
            .strip_suffix("-done")
            .or(plain.strip_suffix("-blocked"));
        let is_meant = |part: &&handoff_core::batch::BatchPart| {
            part.name.as_str() == plain || Some(part.name.as_str()) == stripped
        };
        let part = batch.spec.parts.iter().find(is_meant).ok_or_else(|| {
            let what = format!("batch `{}` has no part `{plain}`", batch.spec.name);
            Failure::new(ExitCode::NotFound, what).hint(format!(
                "see its parts: `handoff batch show {}`",
                batch.spec.name
            ))
        })?;
        Ok(TaskRef::Id(part.task))
    }
}
