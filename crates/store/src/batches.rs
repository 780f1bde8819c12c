//! Batch rows.

use handoff_core::{Batch, BatchId, BatchName, ProjectId, Timestamp};

use crate::error::StoreError;
use crate::named_rows::{self, Named};
use crate::sql::RowLock;
use crate::store::Transaction;

pub(crate) use crate::named_rows::{insert, update};

impl Named for Batch {
    type Id = BatchId;

    const TABLE: &str = "batches";
    const SINCE: &str = "opened_at";
    const NOUN: &str = "batch";

    fn id(&self) -> BatchId {
        self.id
    }

    fn project(&self) -> ProjectId {
        self.project
    }

    fn name(&self) -> &str {
        self.spec.name.as_str()
    }

    fn since(&self) -> Timestamp {
        self.opened_at
    }

    fn is_live(&self) -> bool {
        self.state.is_live()
    }

    fn version(&self) -> u64 {
        self.version
    }
}

/// The batch with this id, locked for a change.
pub(crate) fn lock(tx: &mut Transaction<'_>, id: BatchId) -> Result<Batch, StoreError> {
    named_rows::find(tx, &id, RowLock::Wait)
}

/// The batch with this id.
pub fn get(tx: &mut Transaction<'_>, id: BatchId) -> Result<Batch, StoreError> {
    named_rows::find(tx, &id, RowLock::None)
}

/// The batch that a name means: the live one, else the newest that ended.
pub fn named(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &BatchName,
) -> Result<Batch, StoreError> {
    named_rows::named(tx, project, name.as_str())
}

/// Those of a project, newest first; at most `limit`, after the given one.
pub fn page(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    after: Option<&Batch>,
    limit: u32,
) -> Result<Vec<Batch>, StoreError> {
    named_rows::page(tx, project, after, limit)
}

/// Those of a project that can still come to something, the oldest first.
pub fn live(tx: &mut Transaction<'_>, project: ProjectId) -> Result<Vec<Batch>, StoreError> {
    named_rows::live(tx, project)
}
