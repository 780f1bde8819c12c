//! What is known of repositories: a row with the number of the last event, and one for each baseline, written only by
//! [`crate::queue`] together with the event that explains them.

use handoff_core::{Baseline, HeadName, ProjectId, RepositoryRecord};

use crate::column::{field, from_json, json, number, parsed, unsigned};
use crate::error::StoreError;
use crate::sql::{Row, RowLock};
use crate::store::Transaction;

/// The number of the last event, locked for a change. The row is made first, so that two first writers wait for each other.
pub(crate) fn lock(tx: &mut Transaction<'_>, project: ProjectId) -> Result<u64, StoreError> {
    tx.execute(
        "INSERT INTO repositories (project, version) VALUES ($1, 0) ON CONFLICT (project) DO NOTHING",
        &[project.to_string().into()],
    )?;
    version(tx, project, RowLock::Wait)
}

fn version(tx: &mut Transaction<'_>, project: ProjectId, lock: RowLock) -> Result<u64, StoreError> {
    let rows = tx.query(
        "SELECT version FROM repositories WHERE project = $1",
        &[project.to_string().into()],
        lock,
    )?;
    rows.first()
        .map_or(Ok(0), |row| unsigned(field(row.int(0))?))
}

pub(crate) fn save(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    version: u64,
) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE repositories SET version = $1 WHERE project = $2",
        &[number(version)?.into(), project.to_string().into()],
    )?;
    Ok(())
}

pub(crate) fn write_baseline(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    version: u64,
    baseline: &Baseline,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO baselines (project, branch, version, body) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (project, branch) DO UPDATE SET version = excluded.version, body = excluded.body",
        &[
            project.to_string().into(),
            baseline.branch.as_str().into(),
            number(version)?.into(),
            json(baseline)?.into(),
        ],
    )?;
    Ok(())
}

/// The baseline of a branch.
pub fn baseline(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    branch: &HeadName,
) -> Result<Option<Baseline>, StoreError> {
    let rows = tx.query(
        "SELECT version, body FROM baselines WHERE project = $1 AND branch = $2",
        &[project.to_string().into(), branch.as_str().into()],
        RowLock::None,
    )?;
    let found = rows.first().map(read_baseline).transpose()?;
    Ok(found.map(|(_, baseline)| baseline))
}

/// All baselines of a project, by branch.
pub fn baselines(
    tx: &mut Transaction<'_>,
    project: ProjectId,
) -> Result<Vec<Baseline>, StoreError> {
    let found = numbered(tx, project)?;
    Ok(found.into_iter().map(|(_, baseline)| baseline).collect())
}

fn numbered(
    tx: &mut Transaction<'_>,
    project: ProjectId,
) -> Result<Vec<(u64, Baseline)>, StoreError> {
    let rows = tx.query(
        "SELECT version, body FROM baselines WHERE project = $1 ORDER BY branch",
        &[project.to_string().into()],
        RowLock::None,
    )?;
    rows.iter().map(read_baseline).collect()
}

fn read_baseline(row: &Row) -> Result<(u64, Baseline), StoreError> {
    let version = unsigned(field(row.int(0))?)?;
    Ok((version, from_json(field(row.text(1))?)?))
}

/// All that is known of a repository.
pub(crate) fn whole(
    tx: &mut Transaction<'_>,
    project: ProjectId,
) -> Result<RepositoryRecord, StoreError> {
    let baselines = numbered(tx, project)?;
    let by_branch = baselines
        .into_iter()
        .map(|it| (it.1.branch.clone(), it))
        .collect();
    Ok(RepositoryRecord {
        project,
        baselines: by_branch,
        version: version(tx, project, RowLock::None)?,
    })
}

/// The projects whose repository has a row, page by page.
pub(crate) fn projects_after(
    tx: &mut Transaction<'_>,
    after: &str,
    limit: u32,
) -> Result<Vec<ProjectId>, StoreError> {
    let rows = tx.query(
        "SELECT project FROM repositories WHERE project > $1 ORDER BY project LIMIT $2",
        &[after.into(), i64::from(limit).into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| parsed(row, 0)).collect()
}
