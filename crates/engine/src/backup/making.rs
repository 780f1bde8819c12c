//! Making a backup while everything runs.
//!
//! The engine copies the ledger as it is at one moment; that copy is compared with its events, and what it names is copied. A
//! package that is deleted between the two is no longer there to be copied: then both begin anew.

use std::path::Path;
use std::rc::Rc;

use handoff_core::StoreId;
use handoff_core::time::Clock;
use handoff_files::Dir;
use handoff_store::audit::{self, Audit, Fault};
use handoff_store::sqlite::{self, SqliteStore};
use handoff_store::{Store as _, StoreKind, events, packages, read};

use super::contents::Copying;
use super::error::BackupError;
use super::manifest::{Counts, FORMAT, Manifest};
use super::staging::Staging;
use super::{KEYS, LEDGER, TRUST, lock, target};
use crate::places::Places;

/// So often a copy is begun anew because packages were deleted meanwhile.
const PATIENCE: u32 = 5;

/// What is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// Where it goes.
    pub directory: &'a Path,
    /// With the keys.
    pub keys: bool,
    /// Where somebody else's backup was not finished.
    pub clears: bool,
    /// The version of this program.
    pub tool: &'static str,
}

/// Where a backup is made from, or put into.
pub struct Backup {
    /// The state directory.
    pub places: Places,
    /// The clocks.
    pub clock: Rc<dyn Clock>,
    /// For stores that are made; none is.
    pub fresh_id: StoreId,
}

impl Backup {
    pub(super) fn ambient(&self) -> sqlite::Ambient {
        sqlite::Ambient {
            clock: self.clock.clone(),
            fresh_id: self.fresh_id,
        }
    }
}

/// Makes a backup. It is whole and durable when this returns; before that it has no manifest.
pub fn back_up(
    backup: &Backup,
    ledger: &mut SqliteStore,
    wish: &Wish<'_>,
) -> Result<Manifest, BackupError> {
    let _alone = lock(&backup.places)?;
    if let Some(lost) = ledger.lost()? {
        return Err(BackupError::Unsound(vec![lost.to_string()]));
    }
    let dir = target::open(wish.directory, backup.places.home(), wish.clears)?;
    let mut attempts = 1;
    let manifest = loop {
        match copy(backup, ledger, wish, &dir) {
            Err(BackupError::Package(..)) if attempts < PATIENCE => {
                attempts += 1;
                target::clear(&dir)?;
            }
            copied => break copied?,
        }
    };
    manifest.write(&dir)?;
    target::finish(&dir)?;
    Ok(manifest)
}

fn copy(
    backup: &Backup,
    ledger: &mut SqliteStore,
    wish: &Wish<'_>,
    dir: &Dir,
) -> Result<Manifest, BackupError> {
    let staging = Staging::empty(&backup.places)?;
    ledger.copy_to(&staging.path().join(LEDGER))?;
    let mut copied = SqliteStore::open(staging.path(), backup.ambient())?;
    let audit = sound(&mut copied)?;
    let mut copying = Copying {
        places: &backup.places,
        to: dir,
        files: vec![],
        left_out: 0,
    };
    let from = Dir::open(staging.path())?;
    copying.file(&from, Path::new(LEDGER), LEDGER)?;
    copying.packages(&mut copied)?;
    copying.directory(TRUST)?;
    if wish.keys {
        copying.directory(KEYS)?;
    }
    let (cursor, clock) = read(&mut copied, |tx| {
        Ok((events::newest(tx)?, packages::clock(tx)?))
    })?;
    Ok(Manifest {
        format: FORMAT,
        tool: wish.tool.to_owned(),
        made_at: backup.clock.now().wall,
        store: copied.info().id,
        schema: copied.info().schema,
        cursor: cursor.to_string(),
        clock,
        counts: Counts::from(&audit),
        has_keys: wish.keys,
        left_out: copying.left_out,
        files: copying.files,
    })
}

/// Refuses a ledger of which the audit finds something.
pub(super) fn sound(ledger: &mut SqliteStore) -> Result<Audit, BackupError> {
    let unsound = |faults: &[Fault]| {
        let told = faults.iter().map(ToString::to_string);
        BackupError::Unsound(told.collect())
    };
    let faults = read(ledger, |tx| audit::engine_faults(tx, StoreKind::Sqlite))?;
    if !faults.is_empty() {
        return Err(unsound(&faults));
    }
    let audit = read(ledger, audit::audit)?;
    if !audit.faults.is_empty() {
        return Err(unsound(&audit.faults));
    }
    Ok(audit)
}
