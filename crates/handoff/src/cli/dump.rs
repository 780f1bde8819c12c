//! `handoff dump`: the baton for the next session, or a whole batch of them.

use std::path::PathBuf;

use clap::ValueEnum;
use handoff_api::{ExitCode, TaskDocument};
use handoff_core::task::{Brief, Command, Reason, Summary, TaskSpec, VerifyCommand, View};
use handoff_core::{IdempotencyKey, Task, TaskId, TaskName};
use handoff_store::queue::{Answer, Change, TaskRef};

use super::batch::SlotsArg;
use super::batch::opening::{self, Earnest};
use super::errand::Reading;
use super::queue::{KeyArg, show_change};
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
    /// Open a batch from a manifest, TOML or JSON; `-` reads it from stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["task", "next", "status", "verify", "tests", "batch_id"])]
    open_batch: Option<PathBuf>,
    #[command(flatten)]
    slots: SlotsArg,
    /// The batch that the task is a part of; `--task` is then the name of the part.
    #[arg(long, value_name = "BATCH")]
    batch_id: Option<String>,
    /// The part is done.
    #[arg(long, requires = "batch_id", conflicts_with = "batch_blocked")]
    batch_done: bool,
    /// The part cannot go on without a person.
    #[arg(long, requires = "batch_id")]
    batch_blocked: bool,
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
        ctx.ambient.cwd = Some(here);
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
    if args.verify.is_some() && status != Status::Active {
        return Err(Failure::usage(
            "`--verify` goes with `--status active` only",
        ));
    }
    let mut desk = Desk::open(ctx)?;
    let fence = fence(ctx, args.fence);
    let key = args.key.key.clone();
    let (change, verb) = match status {
        Status::Active => (args.adding(&desk)?, "dumped"),
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
    let mut is_open = false;
    if let Answer::Task(task) = &recorded.receipt.answer {
        baton::write(desk, task, survey);
        is_open = task.state.ending().is_none();
    }
    let shown = show_change(desk, &recorded, verb, ctx);
    let shown = shown.map_err(|failure| recorded.untold(failure))?;
    if is_open {
        worker::miss(desk, ctx)?;
    }
    Ok(shown)
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
        let text = baton::text(&task, &ground, &[]);
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
        match (self.batch_done, self.batch_blocked) {
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

    fn adding(self, desk: &Desk) -> Result<Change, Failure> {
        let tests = self.tests.as_deref();
        let tests = tests.map_or_else(String::new, |it| format!("\n\nThe tests for this: {it}"));
        let brief: Brief = parsed(&format!("{}{tests}", self.said()?))?;
        let spec = TaskSpec {
            verify: self.verify.clone(),
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
        let Some(batch) = &self.batch_id else {
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
