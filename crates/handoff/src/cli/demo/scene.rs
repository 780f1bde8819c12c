//! The scenes of the demo.

use std::time::Duration;

use handoff_api::ExitCode;
use handoff_core::task::{Dependency, Part, TaskSpec, Until};
use handoff_core::{Fence, Task, TaskId, TaskName, TaskState};
use handoff_engine::{Attempt, reconcile};
use handoff_files::Watch;
use handoff_operations::{Failure, Project};
use handoff_store::queue::Change;
use handoff_store::{StoreError, audit, events, read, tasks};

use super::stage::{Stage, finish};
use super::{heading, tell};
use crate::cli::queue::tone;
use crate::context::Context;
use crate::output::{Table, Tone, event_line};

/// A task goes down the whole road.
pub(super) fn first_task(stage: &mut Stage, ctx: &mut Context) -> Result<(), Failure> {
    heading(
        ctx,
        "1. A task is dumped, and a worker takes it down the road",
    )?;
    let mut desk = stage.desk()?;
    let greet = add(
        &mut desk,
        "greet",
        "Write greet.sh: it greets whoever is named.",
        "sh greet.sh Ada | grep -q Ada",
        vec![],
    )?;
    let after = vec![Dependency {
        task: greet.id,
        until: Until::Done,
    }];
    add(
        &mut desk,
        "farewell",
        "Write farewell.sh: it says goodbye.",
        "sh farewell.sh Ada | grep -q Goodbye",
        after,
    )?;
    finish(stage.start_worker("greet.toml")?, ExitCode::Done)?;
    recount(stage, &mut desk, ctx)
}

/// A worker dies while its agent is at work.
pub(super) fn killed_in_the_middle(stage: &mut Stage, ctx: &mut Context) -> Result<(), Failure> {
    heading(
        ctx,
        "2. The next worker is killed in the middle of its work",
    )?;
    let mut desk = stage.desk()?;
    let mut worker = stage.start_worker("farewell.toml")?;
    wait_for_half_work(stage, &mut desk, "farewell", "farewell.sh")?;
    worker
        .end()
        .map_err(|error| Failure::failed("cannot end the worker").because(&error))?;
    recount(stage, &mut desk, ctx)?;
    tell(
        ctx,
        "          ",
        "kill -9: the worker is gone. Its agent goes on, in a session of its own.",
    )?;
    stage.kill_holders()?;
    tell(
        ctx,
        "          ",
        "kill -9 again: the session is gone too; half of the work lies in a worktree.",
    )
}

/// What the kernel and the ledger know is enough to put it right.
pub(super) fn repaired_and_finished(stage: &mut Stage, ctx: &mut Context) -> Result<(), Failure> {
    heading(ctx, "3. The next command repairs, the next worker finishes")?;
    let mut desk = stage.desk()?;
    let clock = stage.context().clock()?;
    let mut workshop = desk.workshop(stage.context(), &*clock)?;
    reconcile::all(&mut workshop)?;
    recount(stage, &mut desk, ctx)?;
    let refs = stage.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/handoff/quarantine",
    ])?;
    tell(
        ctx,
        "          ",
        &format!("The half work is safe: {}", refs.trim_end()),
    )?;
    finish(stage.start_worker("farewell.toml")?, ExitCode::Done)?;
    recount(stage, &mut desk, ctx)
}

/// The end of the story, and that it is true.
pub(super) fn what_is_left(stage: &mut Stage, ctx: &mut Context) -> Result<(), Failure> {
    heading(ctx, "7. What is left")?;
    let mut desk = stage.desk()?;
    let project = desk.id;
    let listed = read(&mut *desk.store, |tx| {
        tasks::page(tx, project, tasks::Which::All, None, 100)
    })?;
    let mut table = Table::new(&["TASK", "STATE", "ATTEMPTS", "BRANCH"]);
    // Those of the run have been told one by one.
    let listed = listed.iter().rev();
    for listed in listed.filter(|it| it.task.spec.part.and_then(Part::run).is_none()) {
        let now = desk.now()?;
        let task = desk.document(&listed.task, &now.moment);
        let branch = Attempt::of(&listed.task).branch(&listed.task);
        table.row([
            (Tone::Strong, task.name),
            (tone(task.state), task.state.to_string()),
            (Tone::Plain, task.attempts.to_string()),
            (Tone::Faint, branch.to_string()),
        ]);
    }
    ctx.out.table(&table)?;
    let audit = read(&mut *desk.store, audit::audit)?;
    let log = stage.git(&[
        "log",
        "--oneline",
        "--no-decorate",
        "--format=%h %s",
        "--exclude=refs/heads/handoff/words*",
        "--glob=refs/heads/handoff",
    ])?;
    tell(ctx, "", "")?;
    for line in log.lines() {
        tell(ctx, "  ", line)?;
    }
    let verdict = if audit.faults.is_empty() {
        "agree"
    } else {
        "DO NOT AGREE"
    };
    tell(
        ctx,
        "\n",
        &format!(
            "{} tasks, {} batch, {} feature, {} run and their {} events {verdict}.",
            audit.tasks, audit.batches, audit.features, audit.runs, audit.events
        ),
    )
}

fn add(
    desk: &mut Project,
    name: &str,
    brief: &str,
    verify: &str,
    after: Vec<Dependency>,
) -> Result<Task, Failure> {
    let (name, brief) = (name.parse(), brief.parse());
    let spec = TaskSpec {
        verify: Some(verify.parse().expect("a short text")),
        after,
        ..TaskSpec::new(name.expect("a plain name"), brief.expect("a short text"))
    };
    let id = TaskId::from_uuid(handoff_process::mint());
    let change = Change::Add {
        id,
        project: desk.id,
        spec,
    };
    let added = desk.submit(change, None)?.receipt.answer.into_task();
    added.ok_or_else(|| Failure::failed("nothing was added"))
}

/// Tells what the ledger recorded since the last time.
pub(super) fn recount(
    stage: &mut Stage,
    desk: &mut Project,
    ctx: &mut Context,
) -> Result<(), Failure> {
    for envelope in stage.news(&mut *desk.store)? {
        let name = read(&mut *desk.store, |tx| events::name_of(tx, envelope.stream))?;
        ctx.out.line(event_line(&envelope, name.as_deref()))?;
    }
    Ok(())
}

/// An agent begins sooner than this, also on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until the agent of a task has written its half, as one sees it in the worktree.
pub(super) fn wait_for_half_work(
    stage: &Stage,
    desk: &mut Project,
    task: &str,
    file: &str,
) -> Result<(), Failure> {
    let task = wait_until_started(desk, &task.parse().expect("a plain name"))?;
    let attempt = Attempt {
        task: task.id,
        fence: Fence::new(1),
    };
    let file = stage.places().worktree(task.project, attempt).join(file);
    let deadline = desk.now()?.moment.awake.after(PATIENCE);
    while desk.now()?.moment.awake < deadline {
        let watch = Watch::on(&file);
        if std::fs::read_to_string(&file).is_ok_and(|text| text.contains("half")) {
            return Ok(());
        }
        match watch {
            Ok(mut watch) => {
                let waited = watch.wait(Some(Duration::from_millis(500)));
                let cannot = |error| Failure::failed("cannot watch the worktree").because(&error);
                waited.map_err(cannot)?;
            }
            // The task is begun on record while its tree is still being made.
            Err(_) => {
                desk.store.bell()?.wait(Duration::from_millis(50))?;
            }
        }
    }
    Err(Failure::failed("the agent did not begin its work"))
}

/// Waits on the ledger until a session works on the task.
fn wait_until_started(desk: &mut Project, name: &TaskName) -> Result<Task, Failure> {
    let project = desk.id;
    let mut bell = desk.store.bell()?;
    // By the clock: the bell rings for whatever anybody records.
    let deadline = desk.now()?.moment.awake.after(PATIENCE);
    while desk.now()?.moment.awake < deadline {
        let found = read(&mut *desk.store, |tx| tasks::named(tx, project, name));
        match found {
            Ok(task) if matches!(task.state, TaskState::Running { .. }) => return Ok(task),
            Ok(_) | Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        bell.wait(Duration::from_millis(500))?;
    }
    Err(Failure::failed("the worker did not start its agent"))
}
