//! How many tasks there are, and which of them came to nothing.

use handoff_core::task::Phase;
use handoff_core::{ProjectId, Task};

use super::task;
use crate::column::field;
use crate::error::StoreError;
use crate::sql::RowLock;
use crate::store::Transaction;

/// How many tasks of a project have not ended, by what becomes of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Census {
    /// Others must come to something first.
    pub waiting: usize,
    /// Ready.
    pub queued: usize,
    /// A person, or a pause, keeps them from being handed out.
    pub held: usize,
    /// Somebody has the right to work on them.
    pub at_work: usize,
    /// Whether there are more than were counted.
    pub has_more: bool,
}

/// Counts what has not ended, up to `most`.
pub fn census(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    most: u32,
) -> Result<Census, StoreError> {
    // What is held above counts too: nobody gets it either.
    let sql = "SELECT state, held, count(*) FROM (SELECT state, CAST(CASE WHEN is_held = 1 OR EXISTS \
               (SELECT 1 FROM holds WHERE body IS NOT NULL AND scope IN ('everything', tasks.project, tasks.batch)) \
               THEN 1 ELSE 0 END AS BIGINT) AS held FROM tasks WHERE project = $1 AND is_live = 1 LIMIT $2) AS counted \
               GROUP BY state, held";
    let values = [project.to_string().into(), (i64::from(most) + 1).into()];
    let rows = tx.query(sql, &values, RowLock::None)?;
    let (mut census, mut all) = (Census::default(), 0_usize);
    for row in &rows {
        let (state, is_held) = (field(row.text(0))?, field(row.int(1))? != 0);
        let count = usize::try_from(field(row.int(2))?).unwrap_or(usize::MAX);
        let at_work = [Phase::Leased.word(), Phase::Running.word()];
        let place = match state {
            it if at_work.contains(&it) => &mut census.at_work,
            _ if is_held => &mut census.held,
            it if it == Phase::Waiting.word() => &mut census.waiting,
            _ => &mut census.queued,
        };
        *place += count;
        all += count;
    }
    census.has_more = all > most as usize;
    Ok(census)
}

/// Tasks that ended badly or wait for a person, the newest first; at most `limit`.
pub fn in_trouble(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    limit: u32,
) -> Result<Vec<Task>, StoreError> {
    let rows = tx.query(
        "SELECT body FROM tasks WHERE project = $1 AND is_open = 1 AND is_live = 0 ORDER BY number DESC LIMIT $2",
        &[project.to_string().into(), i64::from(limit).into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| task(row, 0)).collect()
}
