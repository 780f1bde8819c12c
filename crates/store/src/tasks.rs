//! Task rows. A row is written only by [`crate::queue`], together with the event that explains it.

mod census;
mod line;

pub use census::{Census, census, in_trouble};
pub use line::resting;
pub(crate) use line::{Line, ready, run_out};

use handoff_core::lease::Tenure;
use handoff_core::task::{Ending, Part, Phase};
use handoff_core::{
    AgentName, BatchId, ProjectId, Rest, SessionId, Task, TaskId, TaskName, TaskState,
};

use crate::column::{self, field, from_json, json, number, parsed};
use crate::error::StoreError;
use crate::sql::{Act, Row, RowLock, Value};
use crate::store::Transaction;

/// How many expired leases one claim clears away: enough that none is forgotten, few enough that a claim after a
/// long sleep does not become a long transaction.
const SWEEP: i64 = 16;

/// A task with its place in the order of adding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its place.
    pub number: i64,
    /// The task.
    pub task: Task,
}

/// Where a claimer has got to in the queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    rank: i64,
    number: i64,
}

impl Place {
    pub(crate) const FRONT: Self = Self {
        rank: i64::MIN,
        number: 0,
    };
}

/// The word of the `state` column. Unlike a [`Phase`] it does not depend on the time or on holds.
fn state_word(state: &TaskState) -> &'static str {
    match state {
        TaskState::Waiting => Phase::Waiting,
        TaskState::Queued => Phase::Queued,
        TaskState::Leased { .. } => Phase::Leased,
        TaskState::Running { .. } => Phase::Running,
        TaskState::Done { .. } => Phase::Done,
        TaskState::Failed { .. } => Phase::Failed,
        TaskState::Blocked { .. } => Phase::Blocked,
        TaskState::Cancelled { .. } => Phase::Cancelled,
    }
    .word()
}

/// The columns that change with the state, in the order of the statements below.
fn moving_columns(task: &Task) -> Result<Vec<Value>, StoreError> {
    let tenure = task.state.lease().map(|lease| &lease.tenure);
    let (term, session) = match tenure {
        Some(Tenure::Timed(term)) => (Some(term), None),
        Some(Tenure::Anchored { session }) => (None, Some(session.to_string())),
        None => (None, None),
    };
    let (ending, rest) = (task.state.ending(), task.rest.as_ref());
    Ok(vec![
        state_word(&task.state).into(),
        task.hold.is_some().into(),
        ending.is_none().into(),
        (!matches!(ending, Some(Ending::Done | Ending::Cancelled))).into(),
        term.map(|term| term.timeline.as_str()).into(),
        term.map(|term| term.expires.0).into(),
        term.map(|term| term.awake_until.0).into(),
        session.into(),
        rest.and_then(Rest::of_agent).map(AgentName::as_str).into(),
        rest.map(|rest| rest.timeline.as_str()).into(),
        rest.map(|rest| rest.ends.0).into(),
        number(task.version)?.into(),
        json(task)?.into(),
    ])
}

/// The columns of a row, in the order of [`fields`].
const COLUMNS: &str = "id, project, name, rank, has_ownership, batch, agent, state, is_held, is_live, is_open, \
    lease_timeline, lease_expires, lease_awake_until, lease_session, rest_agent, rest_timeline, rest_ends, version, body";

/// What a row says, the body last.
fn fields(task: &Task) -> Result<Vec<Value>, StoreError> {
    let mut values = vec![
        task.id.to_string().into(),
        task.project.to_string().into(),
        task.spec.name.as_str().into(),
        rank(task).into(),
        task.spec.owns.is_some().into(),
        { task.spec.part }
            .and_then(Part::batch)
            .map(|it| it.to_string())
            .into(),
        task.spec.agent.as_ref().map(AgentName::as_str).into(),
    ];
    values.extend(moving_columns(task)?);
    Ok(values)
}

/// The row of a new task.
pub(crate) fn inserting(task: &Task) -> Result<Act, StoreError> {
    let sql = format!(
        "INSERT INTO tasks ({COLUMNS}) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)"
    );
    let values = fields(task)?;
    Ok(Act { sql, values })
}

/// Whether the columns beside the body say what it says, and the tasks that it waits for know it.
pub(crate) fn is_row_of(tx: &mut Transaction<'_>, task: &Task) -> Result<bool, StoreError> {
    for dependency in &task.spec.after {
        let rows = tx.query(
            "SELECT task FROM dependencies WHERE on_task = $1 AND task = $2",
            &[
                dependency.task.to_string().into(),
                task.id.to_string().into(),
            ],
            RowLock::None,
        )?;
        if rows.is_empty() {
            return Ok(false);
        }
    }
    column::agree(tx, ("tasks", COLUMNS), &task.id.to_string(), &fields(task)?)
}

/// What a new task waits for, so that whoever ends finds it.
pub(crate) fn inserting_dependencies(task: &Task) -> impl Iterator<Item = Act> {
    task.spec.after.iter().map(|dependency| Act {
        sql: "INSERT INTO dependencies (on_task, task) VALUES ($1, $2)".to_owned(),
        values: vec![
            dependency.task.to_string().into(),
            task.id.to_string().into(),
        ],
    })
}

/// Replaces the row that had version `from`: one row, or it changed under our lock.
pub(crate) fn updating(task: &Task, from: u64) -> Result<Act, StoreError> {
    let mut values = moving_columns(task)?;
    values.extend([task.id.to_string().into(), number(from)?.into()]);
    let sql = "UPDATE tasks SET state = $1, is_held = $2, is_live = $3, is_open = $4, lease_timeline = $5, \
         lease_expires = $6, lease_awake_until = $7, lease_session = $8, rest_agent = $9, rest_timeline = $10, rest_ends = $11, \
         version = $12, body = $13 WHERE id = $14 AND version = $15";
    let sql = sql.to_owned();
    Ok(Act { sql, values })
}

/// The task with this id, locked for a change.
pub(crate) fn lock(tx: &mut Transaction<'_>, id: TaskId) -> Result<Task, StoreError> {
    one(tx, id, RowLock::Wait)
}

/// The task with this id, locked, unless somebody else has it locked.
pub(crate) fn lock_if_free(
    tx: &mut Transaction<'_>,
    id: TaskId,
) -> Result<Option<Task>, StoreError> {
    match one(tx, id, RowLock::Skip) {
        Err(StoreError::NotFound { .. }) => Ok(None),
        found => found.map(Some),
    }
}

/// The task with this id.
pub fn get(tx: &mut Transaction<'_>, id: TaskId) -> Result<Task, StoreError> {
    one(tx, id, RowLock::None)
}

fn one(tx: &mut Transaction<'_>, id: TaskId, lock: RowLock) -> Result<Task, StoreError> {
    let rows = tx.query(
        "SELECT body FROM tasks WHERE id = $1",
        &[id.to_string().into()],
        lock,
    )?;
    let row = rows.first().ok_or_else(|| StoreError::NotFound {
        what: format!("task {id}"),
    })?;
    task(row, 0)
}

/// The task that a name means: the live one, else the newest that ended.
pub fn named(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &TaskName,
) -> Result<Task, StoreError> {
    let rows = tx.query(
        "SELECT body FROM tasks WHERE project = $1 AND name = $2 ORDER BY is_live DESC, number DESC LIMIT 1",
        &[project.to_string().into(), name.as_str().into()],
        RowLock::None,
    )?;
    let missing = || StoreError::NotFound {
        what: format!("task `{name}` in this project"),
    };
    task(rows.first().ok_or_else(missing)?, 0)
}

/// All tasks that have this name, or had it, the newest first.
pub fn namesakes(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &TaskName,
) -> Result<Vec<Task>, StoreError> {
    let rows = tx.query(
        "SELECT body FROM tasks WHERE project = $1 AND name = $2 ORDER BY number DESC",
        &[project.to_string().into(), name.as_str().into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| task(row, 0)).collect()
}

/// Leased tasks of a project that declare what they own.
pub(crate) fn owners(
    tx: &mut Transaction<'_>,
    project: ProjectId,
) -> Result<Vec<Task>, StoreError> {
    let rows = tx.query(
        "SELECT body FROM tasks WHERE project = $1 AND state IN ('leased', 'running') AND has_ownership = 1",
        &[project.to_string().into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| task(row, 0)).collect()
}

/// Tasks whose lease lives and dies with a holder process, with that process's session.
pub fn anchored(tx: &mut Transaction<'_>) -> Result<Vec<(TaskId, SessionId)>, StoreError> {
    let rows = tx.query(
        "SELECT id, lease_session FROM tasks \
         WHERE state IN ('leased', 'running') AND lease_session IS NOT NULL",
        &[],
        RowLock::None,
    )?;
    rows.iter()
        .map(|row| Ok((parsed(row, 0)?, parsed(row, 1)?)))
        .collect()
}

/// Tasks of a project that somebody has the right to work on, or had.
pub fn handed_out(tx: &mut Transaction<'_>, project: ProjectId) -> Result<Vec<Task>, StoreError> {
    let rows = tx.query(
        "SELECT body FROM tasks WHERE project = $1 AND state IN ('leased', 'running') ORDER BY number",
        &[project.to_string().into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| task(row, 0)).collect()
}

/// Tasks that wait for this one, in the order they were added, so that two finishers lock them in the same order.
pub fn dependents(tx: &mut Transaction<'_>, id: TaskId) -> Result<Vec<TaskId>, StoreError> {
    let rows = tx.query(
        "SELECT dependencies.task FROM dependencies JOIN tasks ON tasks.id = dependencies.task \
         WHERE dependencies.on_task = $1 ORDER BY tasks.number",
        &[id.to_string().into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| parsed(row, 0)).collect()
}

/// The parts and the fan-in of a batch, in the order they were added.
pub fn of_batch(tx: &mut Transaction<'_>, batch: BatchId) -> Result<Vec<Task>, StoreError> {
    let rows = tx.query(
        "SELECT body FROM tasks WHERE batch = $1 ORDER BY number",
        &[batch.to_string().into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| task(row, 0)).collect()
}

/// Those of a project that are held by themselves.
pub fn held(tx: &mut Transaction<'_>, project: ProjectId) -> Result<Vec<Task>, StoreError> {
    let rows = tx.query(
        "SELECT body FROM tasks WHERE project = $1 AND is_open = 1 AND is_held = 1 ORDER BY number",
        &[project.to_string().into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| task(row, 0)).collect()
}

/// Which tasks to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those that are neither done nor cancelled, in the order they would be claimed.
    Open,
    /// All, newest first.
    All,
}

/// A page of a project's tasks. `after` is the last task of the page before.
pub fn page(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    which: Which,
    after: Option<&Listed>,
    limit: u32,
) -> Result<Vec<Listed>, StoreError> {
    let project: Value = project.to_string().into();
    let limit: Value = i64::from(limit).into();
    let rows = match which {
        Which::Open => {
            let place = after.map_or(Place::FRONT, Listed::place);
            tx.query(
                "SELECT number, body FROM tasks WHERE project = $1 AND is_open = 1 \
                 AND (rank, number) > ($2, $3) ORDER BY rank, number LIMIT $4",
                &[project, place.rank.into(), place.number.into(), limit],
                RowLock::None,
            )?
        }
        Which::All => tx.query(
            "SELECT number, body FROM tasks WHERE project = $1 AND number < $2 \
             ORDER BY number DESC LIMIT $3",
            &[
                project,
                after.map_or(i64::MAX, |listed| listed.number).into(),
                limit,
            ],
            RowLock::None,
        )?,
    };
    rows.iter()
        .map(|row| {
            Ok(Listed {
                number: field(row.int(0))?,
                task: task(row, 1)?,
            })
        })
        .collect()
}

impl Listed {
    fn place(&self) -> Place {
        Place {
            rank: rank(&self.task),
            number: self.number,
        }
    }
}

/// The ids of all tasks of all projects after one, in order. For checks that compare rows with their history.
pub(crate) fn ids_after(
    tx: &mut Transaction<'_>,
    after: &str,
    limit: u32,
) -> Result<Vec<TaskId>, StoreError> {
    let rows = tx.query(
        "SELECT id FROM tasks WHERE id > $1 ORDER BY id LIMIT $2",
        &[after.into(), i64::from(limit).into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| parsed(row, 0)).collect()
}

/// Higher priority, lower rank.
fn rank(task: &Task) -> i64 {
    -i64::from(task.spec.priority.level())
}

fn task(row: &Row, place: usize) -> Result<Task, StoreError> {
    from_json(field(row.text(place))?)
}
