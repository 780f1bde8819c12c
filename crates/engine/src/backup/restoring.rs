//! Putting a backup in the place of what is there: everything is verified and lies ready in the state directory first, and one note
//! makes it count.
//!
//! What happened after the backup is not known to it. So every lease is void, no fence, position or time that somebody may have seen
//! since is given out again, and what was there before is kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_core::{Caller, Fence, Timestamp};
use handoff_files::{Access, Dir, Lock};
use handoff_package::hashing::Checked;
use handoff_store::queue::{Beginning, Voided, begin_again};
use handoff_store::sqlite::{self, Replacement, SqliteStore};
use handoff_store::{Store as _, events, packages, read};

use super::contents::Copying;
use super::error::BackupError;
use super::making::{Backup, sound};
use super::manifest::{Counts, Manifest};
use super::staging::{NAME as STAGING, Staging};
use super::{KEYS, LEDGER, PACKAGES, TRUST, alive, lock};

/// What a state that is kept is called, and when it was replaced.
const KEPT: &str = "before-restore-";

/// Where a position goes on if the ledger that is replaced cannot be read.
const UNREAD: i64 = 1 << 32;

/// A backup that was verified and lies ready.
pub struct Ready {
    backup: Backup,
    staging: Staging,
    /// What it says of itself.
    pub manifest: Manifest,
    _alone: Lock,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Where the state before is kept; none if there was none.
    pub kept: Option<PathBuf>,
    /// What was made void.
    pub voided: Voided,
}

/// Verifies all of a backup. Neither it nor the ledger is changed: what is needed for that lies in a directory of our own.
pub fn make_ready(backup: Backup, directory: &Path) -> Result<Ready, BackupError> {
    if directory.metadata().is_ok_and(|it| !it.is_dir()) {
        return Err(BackupError::NoDirectory(directory.to_owned()));
    }
    let dir = Dir::open(directory)?;
    let manifest = Manifest::read(&dir)?;
    let alone = lock(&backup.places)?;
    let staging = Staging::empty(&backup.places)?;
    for file in &manifest.files {
        let damaged = |why: String| BackupError::Damaged(format!("`{}` {why}", file.path));
        let is_known = [LEDGER, PACKAGES, TRUST, KEYS].contains(&first(&file.path));
        if !is_known {
            return Err(damaged("does not belong into a backup".to_owned()));
        }
        let content = dir.open_beneath(&file.path, Access::Read);
        let content = content.map_err(|error| damaged(format!("is not there ({error})")))?;
        let mut content = Checked::new(content, file.sha256.clone(), file.size);
        let to = Dir::open(staging.path())?;
        let copying = Copying {
            places: &backup.places,
            to: &to,
            files: vec![],
            left_out: 0,
        };
        copying.write(&file.path, &mut content).map_err(|error| {
            let is_other = matches!(&error, BackupError::Write(cause) if cause.is_other_content());
            match is_other {
                true => damaged("is not what was written".to_owned()),
                false => error,
            }
        })?;
    }
    let ready = Ready {
        backup,
        staging,
        manifest,
        _alone: alone,
    };
    ready.compare()?;
    Ok(ready)
}

fn first(path: &str) -> &str {
    path.split('/').next().unwrap_or_default()
}

impl Ready {
    fn ledger(&self) -> Result<SqliteStore, BackupError> {
        Ok(sqlite::take_in(self.staging.path(), self.backup.ambient())?)
    }

    /// The ledger is sound, and what the manifest says; each package that can be received is there.
    fn compare(&self) -> Result<(), BackupError> {
        let mut ledger = self.ledger()?;
        let audit = sound(&mut ledger)?;
        let other = |what: &str| {
            Err(BackupError::Damaged(format!(
                "{what} not what its manifest says"
            )))
        };
        if Counts::from(&audit) != self.manifest.counts {
            return other("its ledger is");
        }
        if ledger.info().id != self.manifest.store {
            return other("its ledger's identity is");
        }
        if read(&mut ledger, events::newest)? != self.manifest.newest()? {
            return other("its newest event is");
        }
        let places = crate::places::Places::new(self.staging.path().to_owned());
        let mut after = String::new();
        loop {
            let page = read(&mut ledger, |tx| packages::all_after(tx, &after, 1_000))?;
            let Some((last, _)) = page.last() else {
                return Ok(());
            };
            after = last.label.id.to_string();
            for (record, standing) in page {
                let id = record.label.id;
                let shelf = handoff_package::Shelf::at(places.packages(record.project));
                if standing.is_active()
                    && let Err(error) = shelf.load(id, &record.digest)
                {
                    return Err(BackupError::Package(id, Box::new(error)));
                }
            }
        }
    }

    /// Whether there is a ledger whose place it takes.
    #[must_use]
    pub fn has_ledger_to_replace(&self) -> bool {
        self.backup
            .places
            .home()
            .join(LEDGER)
            .symlink_metadata()
            .is_ok()
    }

    /// Refuses while anything lives that works with the ledger that is to be replaced.
    pub fn require_rest(&self) -> Result<(), BackupError> {
        let alive = alive(&self.backup.places)?;
        if !alive.is_empty() {
            return Err(BackupError::InUse(alive));
        }
        Ok(sqlite::require_alone(self.backup.places.home())?)
    }

    /// Puts it in its place. Whoever is killed meanwhile leaves the old state or the new one.
    pub fn put_in_place(self, by: &Caller) -> Result<Restored, BackupError> {
        self.require_rest()?;
        let home = self.backup.places.home();
        let had = self.has_ledger_to_replace();
        let beginning = self.beginning(had)?;
        let mut ledger = self.ledger()?;
        let voided = begin_again(&mut ledger, by, beginning)?;
        ledger.fold_up()?;
        // Its log, locks and copies before an upgrade are not for the home.
        let staged = Dir::open(self.staging.path())?;
        for name in staged.names()? {
            let belongs = [LEDGER, PACKAGES, TRUST, KEYS].iter().any(|it| name == *it);
            if !belongs {
                staged.remove(&name)?;
            }
        }
        let kept = kept_name(&self.backup);
        self.require_rest()?;
        sqlite::replace(home, &replacement(STAGING, &kept, self.manifest.has_keys))?;
        Ok(Restored {
            kept: had.then(|| home.join(kept)),
            voided,
        })
    }

    /// What must not come again, as far as the ledger that is replaced tells.
    fn beginning(&self, had: bool) -> Result<Beginning, BackupError> {
        let wall = self.backup.clock.now().wall;
        let newest = self.manifest.newest()?.position;
        let mut beginning = Beginning {
            fence: Fence::NONE,
            seen: wall.max(self.manifest.clock),
            position: newest,
        };
        if had {
            let ambient = self.backup.ambient();
            let before =
                SqliteStore::open(self.backup.places.home(), ambient).and_then(|mut it| {
                    read(&mut it, |tx| {
                        Ok((events::newest(tx)?.position, packages::clock(tx)?))
                    })
                });
            match before {
                Ok((position, seen)) => {
                    beginning.position = newest.max(position);
                    beginning.seen = beginning.seen.max(seen);
                }
                // It is damaged; how far it went, nobody knows.
                Err(_) => beginning.position = newest.saturating_add(UNREAD),
            }
        }
        beginning.fence = fence_after(beginning.seen);
        Ok(beginning)
    }
}

/// Leases are not granted a thousand times a second, so no fence that was ever given out is as high as this.
fn fence_after(seen: Timestamp) -> Fence {
    let seen = seen.checked_add(Duration::from_millis(1)).unwrap_or(seen);
    Fence::new(u64::try_from(seen.as_millisecond()).unwrap_or(0))
}

fn kept_name(backup: &Backup) -> String {
    let now = backup.clock.now().wall;
    let now = now.strftime("%Y%m%dT%H%M%S");
    let id = handoff_process::mint().simple().to_string();
    format!("{KEPT}{now}-{}", &id[id.len() - 6..])
}

fn replacement<'a>(from: &'a str, kept: &'a str, keys: bool) -> Replacement<'a> {
    let names: &[&str] = match keys {
        true => &[PACKAGES, TRUST, KEYS],
        false => &[PACKAGES, TRUST],
    };
    Replacement { from, kept, names }
}

/// Puts a state that was kept back, and keeps what is there now.
pub fn undo(backup: &Backup, name: &str) -> Result<PathBuf, BackupError> {
    let _alone = lock(&backup.places)?;
    let home = backup.places.home();
    sqlite::finish(home)?;
    let nothing = || BackupError::NothingKept(name.to_owned());
    let is_kept = name.starts_with(KEPT) && !name.contains('/');
    if !is_kept || !home.join(name).join(LEDGER).exists() {
        return Err(nothing());
    }
    let alive = alive(&backup.places)?;
    if !alive.is_empty() {
        return Err(BackupError::InUse(alive));
    }
    let kept = kept_name(backup);
    let has_keys = home.join(name).join(KEYS).exists();
    sqlite::replace(home, &replacement(name, &kept, has_keys))?;
    Ok(home.join(kept))
}
