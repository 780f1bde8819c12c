//! What is in a backup: written last, so that a backup without it was not finished.

use handoff_core::{Cursor, Digest, StoreId, Timestamp};
use handoff_files::Dir;
use handoff_files::atomic::{self, Mode};
use handoff_store::audit::Audit;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::BackupError;

/// Its file.
pub(super) const NAME: &str = "manifest.json";
/// The format that this program writes.
pub(super) const FORMAT: u64 = 1;
/// So long is none.
const LIMIT: u64 = 1 << 30;

/// What is in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The format of the directory.
    pub format: u64,
    /// The version of the program that made it.
    pub tool: String,
    /// When.
    pub made_at: Timestamp,
    /// Which ledger.
    pub store: StoreId,
    /// The version of its schema.
    pub schema: i64,
    /// Its newest event, as `handoff events` has it.
    pub cursor: String,
    /// The latest time that it has seen.
    pub clock: Timestamp,
    /// What was compared with its events.
    pub counts: Counts,
    /// Whether the keys are in it.
    pub has_keys: bool,
    /// Packages that nobody can receive any more and whose bytes were not there or not whole.
    pub left_out: usize,
    /// Each file but this one.
    pub files: Vec<FileEntry>,
}

/// How much a ledger has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Tasks.
    pub tasks: usize,
    /// Features.
    pub features: usize,
    /// Packages.
    pub packages: usize,
    /// Batches.
    pub batches: usize,
    /// Runs.
    pub runs: usize,
    /// Contexts.
    pub contexts: usize,
    /// Events.
    pub events: usize,
}

impl From<&Audit> for Counts {
    fn from(audit: &Audit) -> Self {
        Self {
            tasks: audit.tasks,
            features: audit.features,
            packages: audit.packages,
            batches: audit.batches,
            runs: audit.runs,
            contexts: audit.contexts,
            events: audit.events,
        }
    }
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Where it lies, below the backup.
    pub path: String,
    /// How long it is.
    pub size: u64,
    /// Of its content.
    pub sha256: Digest,
}

/// The file: what is in the backup, and the digest of that.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<T> {
    digest: Digest,
    manifest: T,
}

impl Manifest {
    /// The newest event.
    pub fn newest(&self) -> Result<Cursor, BackupError> {
        let damaged = |_| BackupError::Damaged("its manifest names no event".to_owned());
        self.cursor.parse().map_err(damaged)
    }

    /// Without it there is no backup, with it there is.
    pub(super) fn write(&self, dir: &Dir) -> Result<(), BackupError> {
        let written = Written {
            digest: self.digest()?,
            manifest: self,
        };
        let text = serde_json::to_vec_pretty(&written).map_err(|error| unreadable(&error))?;
        Ok(atomic::create_new(dir, NAME, &text, Mode::Private)?)
    }

    /// Reads it, and finds it to be what was written.
    pub fn read(dir: &Dir) -> Result<Self, BackupError> {
        let text = dir
            .read(NAME, LIMIT)
            .map_err(|error| match error.is_not_found() {
                true => BackupError::NoManifest(dir.path().to_owned()),
                false => error.into(),
            })?;
        let written: Written<Value> =
            serde_json::from_slice(&text).map_err(|error| unreadable(&error))?;
        // What a newer format means is not known, so that it comes first.
        match written.manifest["format"].as_u64() {
            Some(FORMAT) => {}
            Some(found) => {
                return Err(BackupError::TooNew {
                    found,
                    known: FORMAT,
                });
            }
            None => {
                return Err(BackupError::Damaged(
                    "its manifest has no format".to_owned(),
                ));
            }
        }
        let manifest: Self =
            serde_json::from_value(written.manifest).map_err(|error| unreadable(&error))?;
        if manifest.digest()? != written.digest {
            let what = "its manifest is not what was written";
            return Err(BackupError::Damaged(what.to_owned()));
        }
        Ok(manifest)
    }

    fn digest(&self) -> Result<Digest, BackupError> {
        let text = serde_json::to_vec(self).map_err(|error| unreadable(&error))?;
        Ok(Digest::of(&text))
    }
}

fn unreadable(error: &serde_json::Error) -> BackupError {
    BackupError::Damaged(format!("its manifest cannot be read ({error})"))
}
