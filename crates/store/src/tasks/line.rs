//! The line that claimers stand in: what is ready, what keeps it waiting, and what has run out.

use handoff_core::hold::HoldScope;
use handoff_core::{AgentName, ProjectId, Task};

use super::{Place, SWEEP, task};
use crate::column::field;
use crate::error::StoreError;
use crate::queue::Agents;
use crate::sql::{Row, RowLock, Value};
use crate::store::Transaction;

/// The line that a claimer stands in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Of which project.
    pub(crate) project: ProjectId,
    agents: &'a Agents,
}

impl<'a> Line<'a> {
    pub(crate) const fn of(project: ProjectId, agents: &'a Agents) -> Self {
        Self { project, agents }
    }
}

/// Holds for leased tasks of a project (`$1`) whose time is over (at `$2`, `$3`, `$4`).
const HAS_RUN_OUT: &str = "project = $1 AND state IN ('leased', 'running') AND lease_timeline IS NOT NULL \
     AND (lease_timeline <> $2 OR (lease_expires <= $3 AND lease_awake_until <= $4))";

fn run_out_values(tx: &Transaction<'_>, project: ProjectId) -> Vec<Value> {
    let moment = &tx.now.moment;
    vec![
        project.to_string().into(),
        moment.timeline.as_str().into(),
        moment.elapsed.0.into(),
        moment.awake.0.into(),
    ]
}

/// Holds for tasks whose rest lasts (on clock `$2`, at `$3`).
const RESTS: &str = "rest_timeline = $2 AND rest_ends > $3";

/// What a claimer finds.
pub(crate) struct Ready {
    pub(crate) tasks: Vec<(Place, Task)>,
    /// Leases whose time is over; known only if a task was found.
    pub(crate) run_out: i64,
}

/// The next ready tasks of a project after `place`, locked; tasks that `others` are claiming at this
/// moment are passed over or waited for.
pub(crate) fn ready(
    tx: &mut Transaction<'_>,
    line: &Line<'_>,
    place: Place,
    limit: u32,
    others: RowLock,
) -> Result<Ready, StoreError> {
    let (project, agents) = (line.project, line.agents);
    let full: Vec<_> = (0..agents.full.len())
        .map(|it| format!(", ${}", it + 10))
        .collect();
    let sql = format!(
        "SELECT rank, number, body, (SELECT count(*) FROM tasks WHERE {HAS_RUN_OUT}) FROM tasks \
         WHERE project = $1 AND state = 'queued' AND is_held = 0 AND (rank, number) > ($5, $6) \
         AND NOT EXISTS (SELECT 1 FROM holds WHERE body IS NOT NULL AND scope IN ($7, $1)) \
         AND (batch IS NULL OR NOT EXISTS (SELECT 1 FROM holds WHERE body IS NOT NULL AND scope = tasks.batch)) \
         AND (rest_ends IS NULL OR NOT ({RESTS})) \
         AND COALESCE(agent, $8) NOT IN (SELECT rest_agent FROM tasks WHERE rest_agent IS NOT NULL AND {RESTS}) \
         AND COALESCE(agent, $8) NOT IN ($9{full}) ORDER BY rank, number LIMIT ${last}",
        full = full.concat(),
        last = agents.full.len() + 10
    );
    let mut values = run_out_values(tx, project);
    values.extend([
        place.rank.into(),
        place.number.into(),
        HoldScope::Everything.to_string().into(),
        name_of(agents.usual.as_ref()),
        // A list needs something in it, and no agent has this name.
        "-".into(),
    ]);
    values.extend(agents.full.iter().map(|it| it.as_str().into()));
    values.push(i64::from(limit).into());
    let rows = tx.query(&sql, &values, others)?;
    let found = |row: &Row| {
        let place = Place {
            rank: field(row.int(0))?,
            number: field(row.int(1))?,
        };
        Ok((place, task(row, 2)?))
    };
    let first = rows.first();
    Ok(Ready {
        run_out: first.map_or(Ok(0), |row| field(row.int(3)))?,
        tasks: rows.iter().map(found).collect::<Result<_, StoreError>>()?,
    })
}

/// The tasks, of whichever project, whose rest keeps ready tasks of this one waiting: itself, or all for an agent. `usual` is the
/// agent of tasks that ask for none.
pub fn resting(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    usual: Option<&AgentName>,
) -> Result<Vec<Task>, StoreError> {
    let moment = tx.now.moment.clone();
    let rows = tx.query(
        "SELECT body FROM tasks AS resting WHERE rest_timeline = $1 AND rest_ends > $2 AND ( \
         (project = $3 AND state = 'queued' AND is_held = 0) OR EXISTS (SELECT 1 FROM tasks WHERE project = $3 \
         AND state = 'queued' AND is_held = 0 AND COALESCE(tasks.agent, $4) = resting.rest_agent)) ORDER BY rest_ends",
        &[
            moment.timeline.as_str().into(),
            moment.elapsed.0.into(),
            project.to_string().into(),
            name_of(usual),
        ],
        RowLock::None,
    )?;
    rows.iter().map(|row| task(row, 0)).collect()
}

/// As it is compared: nobody is called nothing.
fn name_of(agent: Option<&AgentName>) -> Value {
    agent.map_or("", AgentName::as_str).into()
}

/// Leased tasks of a project whose time is over, locked.
pub(crate) fn run_out(
    tx: &mut Transaction<'_>,
    project: ProjectId,
) -> Result<Vec<Task>, StoreError> {
    let mut values = run_out_values(tx, project);
    values.push(SWEEP.into());
    let sql = format!("SELECT body FROM tasks WHERE {HAS_RUN_OUT} LIMIT $5");
    let rows = tx.query(&sql, &values, RowLock::Skip)?;
    rows.iter().map(|row| task(row, 0)).collect()
}
