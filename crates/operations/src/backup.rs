//! Copying what nothing else can make again, and putting it back. Only a person may.

use std::path::{Path, PathBuf};

use handoff_api::{BackupDocument, BackupManifest, RestoreDocument};
use handoff_core::{Action, Caller, StoreId};
use handoff_engine::Places;
use handoff_engine::backup::{self, Backup, Manifest, Ready, Wish};
use handoff_package::Keyring;

use crate::caller::require_person;
use crate::failure::Failure;
use crate::workplace::Workplace;

/// A wish for a backup.
#[derive(Debug, Clone)]
pub struct BackUp {
    /// Where it goes, as the caller says it.
    pub directory: PathBuf,
    /// With the keys.
    pub keys: bool,
}

impl BackUp {
    /// Where it goes, if somebody's unfinished backup is there that would be removed.
    pub fn unfinished(&self, here: &Workplace) -> Result<Option<PathBuf>, Failure> {
        require_person(Action::BackUp, &here.ambient)?;
        require_embedded(here)?;
        let directory = here.cwd()?.join(&self.directory);
        Ok(backup::is_incomplete(&directory)?.then_some(directory))
    }

    /// Makes it. What is unfinished there goes only if a person said so.
    pub fn perform(&self, clears: bool, here: &Workplace) -> Result<BackupDocument, Failure> {
        require_person(Action::BackUp, &here.ambient)?;
        require_embedded(here)?;
        let directory = here.cwd()?.join(&self.directory);
        let wish = Wish {
            directory: &directory,
            keys: self.keys,
            clears,
            tool: env!("CARGO_PKG_VERSION"),
        };
        let mut ledger = here.open_embedded()?;
        let manifest = backup::back_up(&source(here)?, &mut ledger, &wish)?;
        Ok(BackupDocument {
            directory: directory.display().to_string(),
            backup: document(&manifest),
        })
    }
}

/// A backup that was verified, and can be put back.
pub struct Restore {
    ready: Ready,
    home: PathBuf,
}

impl Restore {
    /// Verifies all of a backup; nothing is changed.
    pub fn verify(directory: &Path, here: &Workplace) -> Result<Self, Failure> {
        require_person(Action::BackUp, &here.ambient)?;
        require_embedded(here)?;
        let directory = here.cwd()?.join(directory);
        Ok(Self {
            ready: backup::make_ready(source(here)?, &directory)?,
            home: here.home()?,
        })
    }

    /// What a check says.
    #[must_use]
    pub fn checked(&self) -> RestoreDocument {
        RestoreDocument {
            backup: Some(document(&self.ready.manifest)),
            is_check: true,
            kept: None,
            tasks: 0,
            leases: 0,
            has_key: self.has_key(),
        }
    }

    /// What takes the place of the ledger, in words; none if there is no ledger. Refused while anybody is at work.
    pub fn replaces(&self) -> Result<Option<String>, Failure> {
        self.ready.require_rest()?;
        let manifest = &self.ready.manifest;
        let words = format!("a backup of {} from {}", manifest.store, manifest.made_at);
        Ok(self.ready.has_ledger_to_replace().then_some(words))
    }

    /// Puts it in the place of what is there.
    pub fn perform(self, here: &Workplace) -> Result<RestoreDocument, Failure> {
        require_person(Action::Destroy, &here.ambient)?;
        let mut told = self.checked();
        let home = self.home;
        let restored = self.ready.put_in_place(&Caller::Person)?;
        told.is_check = false;
        told.kept = restored.kept.map(|it| it.display().to_string());
        told.tasks = restored.voided.tasks;
        told.leases = restored.voided.leases;
        told.has_key = has_key(&home);
        Ok(told)
    }

    fn has_key(&self) -> bool {
        has_key(&self.home)
    }
}

/// Puts back the state that a restore kept under this name.
pub fn undo(name: &str, here: &Workplace) -> Result<RestoreDocument, Failure> {
    require_person(Action::Destroy, &here.ambient)?;
    require_embedded(here)?;
    let kept = backup::undo(&source(here)?, name)?;
    Ok(RestoreDocument {
        backup: None,
        is_check: false,
        kept: Some(kept.display().to_string()),
        tasks: 0,
        leases: 0,
        has_key: has_key(&here.home()?),
    })
}

/// Whether this machine has a key of its own; one that cannot be read is as good as none.
fn has_key(home: &Path) -> bool {
    matches!(Keyring::below(home).existing(), Ok(Some(_)))
}

/// A ledger on a server is the server's to copy.
fn require_embedded(here: &Workplace) -> Result<(), Failure> {
    if here.ledger_url()?.is_none() {
        return Ok(());
    }
    let text = "the ledger of a team is on its server, with all its packages: only the server can copy it at one moment";
    Err(Failure::failed(text)
        .hint("back it up there: `pg_dump --schema=handoff`, and put it back into an empty database with `psql`")
        .hint("what is on this machine besides are trust and keys: copy `trust/` and `keys/` of the state directory"))
}

fn source(here: &Workplace) -> Result<Backup, Failure> {
    Ok(Backup {
        places: Places::new(here.home()?),
        clock: here.clock()?,
        fresh_id: StoreId::from_uuid(handoff_process::mint()),
    })
}

fn document(manifest: &Manifest) -> BackupManifest {
    BackupManifest {
        store: manifest.store.to_string(),
        made_at: manifest.made_at.to_string(),
        tool: manifest.tool.clone(),
        schema_version: manifest.schema,
        cursor: manifest.cursor.clone(),
        tasks: manifest.counts.tasks,
        packages: manifest.counts.packages,
        events: manifest.counts.events,
        files: manifest.files.len(),
        bytes: manifest.files.iter().map(|it| it.size).sum(),
        left_out: manifest.left_out,
        has_keys: manifest.has_keys,
    }
}
