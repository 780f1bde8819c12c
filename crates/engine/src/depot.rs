//! Where packages are sealed, kept and found: the shelf on disk or the ledger of a team, the keys, and the row that knows what became
//! of each.

use std::path::PathBuf;

use handoff_core::package::{Audience, Label, Origin, PackageStanding};
use handoff_core::{
    Caller, Digest, IdempotencyKey, PackageId, PackageRecord, ProjectId, Timestamp,
};
use handoff_files::{Dir, Lock};
use handoff_package::{
    Blobs, Clean, KeyPair, KeyStanding, Keyring, LoadError, Opened, Sealed, Shelf, open, seal,
};
use handoff_store::queue::{Change, PauseOf, Request, submit};
use handoff_store::{Store, StoreKind, packages, read};

use crate::error::EngineError;
use crate::ledger_blobs::LedgerBlobs;
use crate::places::Places;

/// Where packages are sealed, kept and found.
pub struct Depot<'a> {
    store: &'a mut dyn Store,
    project: ProjectId,
    keyring: Keyring,
    shelf: Shelf,
}

/// A package that was found: its row, and what is in it, verified.
#[derive(Debug)]
pub struct Stored {
    /// What is known of it.
    pub record: PackageRecord,
    /// What is in it.
    pub opened: Opened,
    /// Exactly what was verified.
    pub bytes: Vec<u8>,
    /// Where it is now.
    pub standing: PackageStanding,
    /// The time that its age was judged by.
    pub judged_at: Timestamp,
}

impl Stored {
    /// Where its content comes from, as far as that decides about accepting it.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        self.record
            .origin
            .of_content(self.opened.package.is_foreign())
    }
}

/// The lock beside a package: whoever has it is the only one on this machine who does something with it.
#[derive(Debug)]
pub struct Grasped {
    path: PathBuf,
    _lock: Lock,
}

impl Drop for Grasped {
    /// While the lock is held nobody else has its file, so that it can go. One that stays harms nobody.
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).ok();
    }
}

/// Whether a package may be received here, apart from what the ledger says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// What its signer is worth.
    pub signer: KeyStanding,
    /// Whether it is for us.
    pub is_for_us: bool,
    /// How it came here.
    pub origin: Origin,
}

impl Acceptance {
    /// Whether nothing speaks against it.
    #[must_use]
    pub fn is_given(&self) -> bool {
        let is_trusted = matches!(self.signer, KeyStanding::Own | KeyStanding::Trusted(_));
        is_trusted && self.is_for_us && self.origin != Origin::Unsealed
    }
}

impl<'a> Depot<'a> {
    /// The depot of a project.
    pub fn new(store: &'a mut dyn Store, project: ProjectId, places: &Places) -> Self {
        Self {
            store,
            project,
            keyring: Keyring::below(places.home()),
            shelf: Shelf::at(places.packages(project)),
        }
    }

    /// The keys.
    pub const fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// The packages on disk.
    pub const fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// The contents of attachments.
    pub fn blobs(&mut self) -> Box<dyn Blobs + '_> {
        if self.is_shared() {
            Box::new(LedgerBlobs {
                store: self.store,
                project: self.project,
            })
        } else {
            Box::new(self.shelf.clone())
        }
    }

    /// Whose packages these are.
    pub const fn project(&self) -> ProjectId {
        self.project
    }

    /// Takes hold of a package, so that nobody else on this machine does anything with it; none if somebody does.
    pub fn grasp(&self, id: PackageId) -> Result<Option<Grasped>, EngineError> {
        let place = Dir::create_private(&self.shelf.grasps())?;
        let path = place.path().join(format!("{id}.lock"));
        let lock = Lock::try_acquire(&path, "package")?;
        Ok(lock.map(|lock| Grasped { path, _lock: lock }))
    }

    /// Files that the ledger does not know: their maker died between the file and its row, or is at it.
    pub fn unknown_files(&mut self) -> Result<Vec<PathBuf>, EngineError> {
        let (ids, project) = (self.shelf.ids()?, self.project);
        // Read after the files were listed: what is made meanwhile is known by then, or was not listed.
        let known = read(self.store, |tx| packages::ids_of(tx, project))?;
        let unknown = ids.into_iter().filter(|id| !known.contains(id));
        Ok(unknown.map(|id| self.shelf.file(id)).collect())
    }

    /// The ledger.
    pub fn store(&mut self) -> &mut dyn Store {
        self.store
    }

    /// Whether the bytes of packages lie in the ledger, because machines share no directory.
    pub fn is_shared(&self) -> bool {
        self.store.info().kind == StoreKind::Postgres
    }

    /// This machine's key, made on first use.
    pub fn own_key(&self) -> Result<KeyPair, EngineError> {
        Ok(self.keyring.own(handoff_process::random::<32>)?)
    }

    /// Seals a package with this machine's key, keeps it and takes it into the ledger.
    pub fn keep(
        &mut self,
        package: &Clean,
        origin: Origin,
        by: &Caller,
        key: &IdempotencyKey,
    ) -> Result<PackageRecord, EngineError> {
        self.seal_and_keep(package, (origin, None), by, key)
    }

    /// The same for a package that makes a pause of something that is held already. It is refused if that was handed out again.
    pub fn keep_pause(
        &mut self,
        package: &Clean,
        pausing: PauseOf,
        by: &Caller,
        key: &IdempotencyKey,
    ) -> Result<PackageRecord, EngineError> {
        self.seal_and_keep(package, (Origin::Made, Some(pausing)), by, key)
    }

    fn seal_and_keep(
        &mut self,
        package: &Clean,
        (origin, pausing): (Origin, Option<PauseOf>),
        by: &Caller,
        key: &IdempotencyKey,
    ) -> Result<PackageRecord, EngineError> {
        let package = package.package();
        let sealed = seal(package, &self.own_key()?)?;
        let arrival = Arrival {
            label: &package.label,
            content: content(&package.label, &sealed),
            origin,
            pausing,
        };
        self.take_in(arrival, &sealed, by, key)
    }

    /// Takes a package into the ledger that was sealed elsewhere, as it is.
    pub fn adopt(
        &mut self,
        opened: &Opened,
        bytes: &[u8],
        by: &Caller,
        key: &IdempotencyKey,
    ) -> Result<PackageRecord, EngineError> {
        let sealed = Sealed::of(opened, bytes);
        let arrival = Arrival {
            label: &opened.package.label,
            content: opened.digest.clone(),
            origin: Origin::Imported,
            pausing: None,
        };
        self.take_in(arrival, &sealed, by, key)
    }

    fn take_in(
        &mut self,
        arrival: Arrival<'_>,
        sealed: &Sealed,
        by: &Caller,
        key: &IdempotencyKey,
    ) -> Result<PackageRecord, EngineError> {
        let Arrival {
            label,
            content,
            origin,
            pausing,
        } = arrival;
        let begun =
            PackageRecord::begin(self.project, label.clone(), sealed.digest().clone(), origin);
        let text = if self.is_shared() {
            String::from_utf8(sealed.bytes().to_vec()).ok()
        } else {
            // The file comes before the row that names it.
            self.shelf.put(sealed)?;
            None
        };
        let change = Change::Seal {
            package: Box::new(begun.clone()),
            content,
            sealed: text,
            pausing,
        };
        let request = Request {
            by: by.clone(),
            key: key.clone(),
            change,
        };
        let receipt = submit(self.store, &request)?;
        let record = receipt.answer.into_package().unwrap_or(begun);
        if record.label.id != sealed.id() {
            // It was a repeat: the first one is kept.
            self.shelf.remove(sealed.id())?;
        }
        Ok(record)
    }

    /// Finds a package and opens it.
    pub fn find(&mut self, id: PackageId) -> Result<Stored, EngineError> {
        let (record, text, wall, now) = read(self.store, |tx| {
            let record = packages::get(tx, id)?;
            let text = packages::sealed(tx, id)?;
            Ok((record, text, packages::clock(tx)?, tx.now.clone()))
        })?;
        let standing = record.standing(wall, &now.moment);
        let bytes = match text.map(String::into_bytes) {
            Some(bytes) => Ok(bytes),
            None => self.shelf.bytes(id),
        };
        let bytes = bytes.map_err(|error| {
            if error.is_not_found() && !standing.is_active() {
                return EngineError::Cleared { id, standing };
            }
            LoadError::Read(error).into()
        })?;
        let opened = open(&bytes).map_err(LoadError::Open)?;
        if opened.digest != record.digest || opened.package.label != record.label {
            return Err(LoadError::Replaced.into());
        }
        Ok(Stored {
            record,
            opened,
            bytes,
            standing,
            judged_at: wall,
        })
    }

    /// Takes the bytes of a package away, unless it was changed since; whether they are gone. The row stays: it is the record.
    pub fn forget(&mut self, record: &PackageRecord) -> Result<bool, EngineError> {
        if self.is_shared() {
            return Ok(packages::forget_sealed(self.store, record)?);
        }
        self.shelf.remove(record.label.id)?;
        Ok(true)
    }

    /// Whether a package may be received here.
    pub fn acceptance(&self, stored: &Stored) -> Result<Acceptance, EngineError> {
        let own = self.keyring.existing()?.map(|own| own.public().id());
        let mut receiver = vec![
            Audience::Project(self.project),
            Audience::Store(self.store.info().id),
        ];
        receiver.extend(own.map(Audience::Key));
        Ok(Acceptance {
            signer: self.keyring.standing(&stored.opened.signer)?,
            is_for_us: stored.record.label.is_for(&receiver),
            origin: stored.origin(),
        })
    }
}

/// A package on its way into the ledger: where the two ways in differ.
struct Arrival<'a> {
    label: &'a Label,
    content: Digest,
    origin: Origin,
    pausing: Option<PauseOf>,
}

/// What is in a package, without what is new each time.
fn content(label: &Label, sealed: &Sealed) -> Digest {
    let text = format!(
        "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        sealed.payload_digest(),
        label.kind,
        label.session_id,
        label.subject_id,
        label.source_phase,
        label.target_phase,
        label.audience,
        label.single_use
    );
    Digest::of(text.as_bytes())
}
