//! The check that rows say nothing but what their events say.

use std::fmt::Display;

use handoff_core::context::ContextRecord;
use handoff_core::{
    Batch, BatchId, ContextScope, Envelope, Event, FeatureId, FeatureRecord, PackageId,
    PackageRecord, ProjectId, RepositoryRecord, Run, RunId, StreamId, Task, TaskId,
};

use crate::batches;
use crate::column::field;
use crate::contexts;
use crate::error::StoreError;
use crate::events;
use crate::features;
use crate::holds;
use crate::named_rows;
use crate::packages;
use crate::queue::{
    batch_history, context_history, feature_history, package_history, repository_history,
    run_history, task_history,
};
use crate::repositories;
use crate::runs;
use crate::sql::RowLock;
use crate::store::{StoreKind, Transaction};
use crate::tasks;

mod fault;

pub use fault::{Fault, FaultKind};

/// How many rows are looked up at a time.
const PAGE: u32 = 1_000;

/// What an audit found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audit {
    /// How many tasks were compared.
    pub tasks: usize,
    /// How many features were compared.
    pub features: usize,
    /// How many packages were compared.
    pub packages: usize,
    /// How many batches were compared.
    pub batches: usize,
    /// How many runs were compared.
    pub runs: usize,
    /// How many contexts were compared.
    pub contexts: usize,
    /// How many repositories were compared.
    pub repositories: usize,
    /// How many events they were rebuilt from.
    pub events: usize,
    /// What does not agree; empty when all is well.
    pub faults: Vec<Fault>,
}

/// What the engine itself finds wrong with its file: pages, indexes and references. A server checks its pages when it reads them;
/// there the indexes are compared with their tables where the extension `amcheck` is installed.
pub fn engine_faults(tx: &mut Transaction<'_>, kind: StoreKind) -> Result<Vec<Fault>, StoreError> {
    match kind {
        StoreKind::Sqlite => sqlite_faults(tx),
        StoreKind::Postgres => postgres_faults(tx),
    }
}

fn sqlite_faults(tx: &mut Transaction<'_>) -> Result<Vec<Fault>, StoreError> {
    let mut faults = vec![];
    for row in tx.query("PRAGMA integrity_check", &[], RowLock::None)? {
        let found = field(row.text(0))?;
        if found != "ok" {
            let what = format!("integrity_check: {found}");
            faults.push(FaultKind::Engine.fault(what));
        }
    }
    for row in tx.query("PRAGMA foreign_key_check", &[], RowLock::None)? {
        let table = field(row.text(0))?;
        let what = format!("foreign_key_check: a row of `{table}` refers to none");
        faults.push(FaultKind::Engine.fault(what));
    }
    Ok(faults)
}

fn postgres_faults(tx: &mut Transaction<'_>) -> Result<Vec<Fault>, StoreError> {
    let installed = tx.query(
        "SELECT extname FROM pg_extension WHERE extname = 'amcheck'",
        &[],
        RowLock::None,
    )?;
    if installed.is_empty() {
        return Ok(vec![]);
    }
    // An error of the check is an error of the query, and told as such.
    tx.query(
        "SELECT 1::bigint FROM (SELECT bt_index_check(pg_index.indexrelid) FROM pg_index \
         JOIN pg_class ON pg_class.oid = pg_index.indexrelid \
         JOIN pg_am ON pg_am.oid = pg_class.relam \
         WHERE pg_am.amname = 'btree' AND pg_index.indisvalid \
         AND pg_class.relnamespace = current_schema()::regnamespace) AS checked",
        &[],
        RowLock::None,
    )?;
    Ok(vec![])
}

/// Rebuilds each task, feature, package, batch, run, context and repository from its events and compares it with its row.
pub fn audit(tx: &mut Transaction<'_>) -> Result<Audit, StoreError> {
    let mut audit = Audit::default();
    each(tx, tasks::ids_after, |tx, id| {
        let checked = audit.check_task(tx, id);
        audit.settle(id, checked)
    })?;
    each(tx, features::ids_after, |tx, id| {
        let checked = audit.check_feature(tx, id);
        audit.settle(id, checked)
    })?;
    each(tx, packages::ids_after, |tx, id| {
        let checked = audit.check_package(tx, id);
        audit.settle(id, checked)
    })?;
    each(tx, named_rows::ids_after::<Batch>, |tx, id| {
        let checked = audit.check_batch(tx, id);
        audit.settle(id, checked)
    })?;
    each(tx, named_rows::ids_after::<Run>, |tx, id| {
        let checked = audit.check_run(tx, id);
        audit.settle(id, checked)
    })?;
    each(tx, contexts::scopes_after, |tx, scope| {
        let checked = audit.check_context(tx, scope);
        audit.settle(scope, checked)
    })?;
    each(tx, repositories::projects_after, |tx, project| {
        let checked = audit.check_repository(tx, project);
        audit.settle(project, checked)
    })?;
    let checked = audit.check_holds(tx);
    audit.settle("holds", checked)?;
    let checked = audit.check_sums(tx);
    audit.settle("events", checked)?;
    audit.faults.extend(rowless(tx)?);
    Ok(audit)
}

/// Pages through all ids of a table.
pub(crate) fn each<Id: Display + Copy>(
    tx: &mut Transaction<'_>,
    page_after: impl Fn(&mut Transaction<'_>, &str, u32) -> Result<Vec<Id>, StoreError>,
    mut check: impl FnMut(&mut Transaction<'_>, Id) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut after = String::new();
    loop {
        let page = page_after(tx, &after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.to_string();
        for id in page {
            check(tx, id)?;
        }
    }
}

impl Audit {
    /// What cannot be read is a fault of its own, and the rest is compared all the same.
    fn settle(
        &mut self,
        id: impl Display,
        checked: Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match checked {
            Err(StoreError::Inconsistent(what)) => {
                let what = format!("{id} cannot be read: {what}");
                self.faults.push(FaultKind::Unreadable.fault(what));
                Ok(())
            }
            settled => settled,
        }
    }

    fn check_task(&mut self, tx: &mut Transaction<'_>, id: TaskId) -> Result<(), StoreError> {
        let row = tasks::get(tx, id)?;
        let newest = |tx: &mut Transaction<'_>| Ok(tasks::get(tx, id)?.version);
        let history = self.history(tx, StreamId::Task(id), row.version, newest)?;
        self.tasks += 1;
        let rebuilt = Task::replay(row.id, row.project, task_history(history));
        self.compare(id, &row, rebuilt);
        let agree = tasks::is_row_of(tx, &row)? || tasks::get(tx, id)? != row;
        self.compare_columns(id, agree);
        Ok(())
    }

    fn check_feature(&mut self, tx: &mut Transaction<'_>, id: FeatureId) -> Result<(), StoreError> {
        let row = features::get(tx, id)?;
        let newest = |tx: &mut Transaction<'_>| Ok(features::get(tx, id)?.version);
        let history = self.history(tx, StreamId::Feature(id), row.version, newest)?;
        self.features += 1;
        let rebuilt = FeatureRecord::replay(row.id, row.project, feature_history(history));
        self.compare(id, &row, rebuilt);
        let agree = features::is_row_of(tx, &row)? || features::get(tx, id)? != row;
        self.compare_columns(id, agree);
        Ok(())
    }

    fn check_package(&mut self, tx: &mut Transaction<'_>, id: PackageId) -> Result<(), StoreError> {
        let row = packages::get(tx, id)?;
        let newest = |tx: &mut Transaction<'_>| Ok(packages::get(tx, id)?.version);
        let history = self.history(tx, StreamId::Package(id), row.version, newest)?;
        self.packages += 1;
        let rebuilt = PackageRecord::replay(id, row.project, package_history(history));
        self.compare(id, &row, rebuilt);
        let agree = packages::is_row_of(tx, &row)? || packages::get(tx, id)? != row;
        self.compare_columns(id, agree);
        Ok(())
    }

    fn check_batch(&mut self, tx: &mut Transaction<'_>, id: BatchId) -> Result<(), StoreError> {
        let row = batches::get(tx, id)?;
        let newest = |tx: &mut Transaction<'_>| Ok(batches::get(tx, id)?.version);
        let history = self.history(tx, StreamId::Batch(id), row.version, newest)?;
        self.batches += 1;
        let rebuilt = Batch::replay(id, row.project, batch_history(history));
        self.compare(id, &row, rebuilt);
        let agree = named_rows::is_row_of(tx, &row)? || batches::get(tx, id)? != row;
        self.compare_columns(id, agree);
        Ok(())
    }

    fn check_run(&mut self, tx: &mut Transaction<'_>, id: RunId) -> Result<(), StoreError> {
        let row = runs::get(tx, id)?;
        let newest = |tx: &mut Transaction<'_>| Ok(runs::get(tx, id)?.version);
        let history = self.history(tx, StreamId::Run(id), row.version, newest)?;
        self.runs += 1;
        let rebuilt = Run::replay(id, row.project, run_history(history));
        self.compare(id, &row, rebuilt);
        let agree = named_rows::is_row_of(tx, &row)? || runs::get(tx, id)? != row;
        self.compare_columns(id, agree);
        Ok(())
    }

    fn check_context(
        &mut self,
        tx: &mut Transaction<'_>,
        scope: ContextScope,
    ) -> Result<(), StoreError> {
        let row = contexts::whole(tx, scope)?;
        let newest = |tx: &mut Transaction<'_>| Ok(contexts::whole(tx, scope)?.version);
        let history = self.history(tx, StreamId::Context(scope), row.version, newest)?;
        self.contexts += 1;
        let rebuilt = ContextRecord::replay(scope, context_history(history));
        self.compare(scope, &row, rebuilt);
        Ok(())
    }

    fn check_repository(
        &mut self,
        tx: &mut Transaction<'_>,
        project: ProjectId,
    ) -> Result<(), StoreError> {
        let row = repositories::whole(tx, project)?;
        let newest = |tx: &mut Transaction<'_>| Ok(repositories::whole(tx, project)?.version);
        let history = self.history(tx, StreamId::Repository(project), row.version, newest)?;
        self.repositories += 1;
        let rebuilt = RepositoryRecord::replay(project, repository_history(history));
        self.compare(project, &row, rebuilt);
        Ok(())
    }

    /// The events that the row should know.
    ///
    /// On a server others go on while we look: events newer than the row are a fault only if the row does not follow.
    fn history(
        &mut self,
        tx: &mut Transaction<'_>,
        stream: StreamId,
        version: u64,
        version_now: impl FnOnce(&mut Transaction<'_>) -> Result<u64, StoreError>,
    ) -> Result<Vec<Envelope>, StoreError> {
        let mut history = events::history(tx, stream, u64::MAX)?;
        let newest = history.last().map_or(0, |envelope| envelope.seq);
        if newest > version && version_now(tx)? < newest {
            let what = format!("{stream} has events that its row does not know");
            self.faults.push(FaultKind::RowBehind.fault(what));
        }
        history.retain(|envelope| envelope.seq <= version);
        self.events += history.len();
        Ok(history)
    }

    fn compare<T: PartialEq, E: Display>(
        &mut self,
        id: impl Display,
        row: &T,
        rebuilt: Result<T, E>,
    ) {
        self.faults.extend(match rebuilt {
            Err(error) => Some(FaultKind::History.fault(error.to_string())),
            Ok(rebuilt) if rebuilt == *row => None,
            Ok(_) => Some(FaultKind::RowDiffers.fault(format!("{id} differs from its history"))),
        });
    }

    /// On a server the row may have changed since; then its columns are those of the newer one.
    fn compare_columns(&mut self, id: impl Display, agree: bool) {
        if !agree {
            let what = format!("{id} has a column that says something else than its body");
            self.faults.push(FaultKind::ColumnDiffers.fault(what));
        }
    }

    fn check_holds(&mut self, tx: &mut Transaction<'_>) -> Result<(), StoreError> {
        for (scope, held) in holds::all(tx)? {
            let stream = StreamId::Hold(scope);
            let version = held.version;
            let newest = |tx: &mut Transaction<'_>| Ok(holds::look(tx, scope)?.version);
            let last = self.history(tx, stream, version, newest)?.pop();
            let rebuilt = last.and_then(|last| {
                let Event::Hold(event) = last.event else {
                    return None;
                };
                Some((last.seq, event.in_force()))
            });
            if rebuilt != Some((version, held.hold)) {
                let what = format!("{stream} differs from its history");
                self.faults.push(FaultKind::RowDiffers.fault(what));
            }
        }
        Ok(())
    }

    fn check_sums(&mut self, tx: &mut Transaction<'_>) -> Result<(), StoreError> {
        let mut reached = Some((String::new(), 0));
        while let Some(from) = reached {
            let (damaged, next) = events::damaged_after(tx, &from, PAGE)?;
            let fault = |(stream, seq)| {
                let what = format!("event {seq} of {stream} is not what was written");
                FaultKind::EventChanged.fault(what)
            };
            self.faults.extend(damaged.into_iter().map(fault));
            reached = next;
        }
        Ok(())
    }
}

/// Streams that have a history but no row.
fn rowless(tx: &mut Transaction<'_>) -> Result<Vec<Fault>, StoreError> {
    let rows = tx.query(
        "SELECT stream FROM events WHERE seq = 1 AND stream NOT LIKE 'hold/%' \
         AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = events.stream) \
         AND NOT EXISTS (SELECT 1 FROM features WHERE features.id = events.stream) \
         AND NOT EXISTS (SELECT 1 FROM packages WHERE packages.id = events.stream) \
         AND NOT EXISTS (SELECT 1 FROM batches WHERE batches.id = events.stream) \
         AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = events.stream) \
         AND NOT EXISTS (SELECT 1 FROM contexts WHERE 'context/' || contexts.scope = events.stream) \
         AND NOT EXISTS (SELECT 1 FROM repositories WHERE 'repository/' || repositories.project = events.stream) LIMIT 20",
        &[],
        RowLock::None,
    )?;
    let fault =
        |stream: &str| FaultKind::RowMissing.fault(format!("{stream} has events but no row"));
    rows.iter()
        .map(|row| field(row.text(0)).map(fault))
        .collect()
}
