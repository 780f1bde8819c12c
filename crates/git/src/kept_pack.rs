//! Objects that no ref names yet, in a pack that neither `git prune` nor `git gc` removes.
//!
//! Git removes what no ref names: `prune` lists what is reachable, then unlinks all other objects that lie in files of their own;
//! `repack -a -d` (in `gc`) lists the packs, then what is reachable, then removes the packs that it listed. A loose object that
//! is made while `prune` runs is lost even if a ref names it in time, because the list is older. So new objects are put into a
//! pack before a ref names them:
//!
//! | who removes | why not this pack |
//! |---|---|
//! | `prune`, `prune-packed` | they unlink loose objects and temporary files only |
//! | `repack` that listed packs before this one had an index | it removes only packs that it listed |
//! | `repack` that listed it with its `.keep`, which exists before the index | it does not list kept packs |
//! | `repack` that listed it without `.keep` | it lists what is reachable after that, and so after the ref moved |
//!
//! So the `.keep` may go as soon as the ref has moved. Its file is locked by its owner; one whose lock is free was left by a
//! killed process, and goes too: nothing that was acknowledged depends on it.
//!
//! Small packs are folded into one when there are some. Larger ones are left to git.

mod folding;
mod format;

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use handoff_core::CommitId;
use handoff_files::{Lock, LockError};
use handoff_process::mint;

use self::format::{Entries, Entry, Pack};
use crate::git::{Git, GitError};
use crate::loose_object;
use crate::private_objects::PrivateObjects;
use crate::repository::Repository;
use crate::safe_commit::{has_special_modes, sync_together};

/// In our directory of the common one: an empty file for each pack of ours that may be folded.
const MARKS: &str = "packs";
/// An index on its way to its place.
const COMING: &str = "coming-";
/// How often something is begun anew because objects went away.
pub(crate) const ATTEMPTS: usize = 4;

/// What git says when the directory of an object went away as it was written.
const NOT_WRITTEN: [&str; 2] = [
    "unable to create temporary file: No such file or directory",
    "unable to write file",
];

/// Objects could not be kept. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// Git failed; an object may have been pruned.
    #[error("cannot pack the new objects")]
    Git(#[from] GitError),
    /// A file failed.
    #[error("cannot keep the new objects in `{}`", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The lock on the `.keep` file.
    #[error("cannot keep the new objects")]
    Lock(#[from] LockError),
}

/// Which objects are to be kept.
#[derive(Debug)]
pub(crate) enum Wanted<'a> {
    /// All that `tip` needs and `known`, which refs name, do not.
    Beyond {
        tip: &'a CommitId,
        known: Vec<&'a CommitId>,
    },
    /// These alone.
    Exactly(&'a CommitId),
}

/// A pack that is kept until this is dropped: when the ref has moved, or will not.
#[derive(Debug)]
#[must_use = "objects that no ref names may be pruned when this is dropped"]
pub struct KeptPack {
    keep: PathBuf,
    files: [PathBuf; 3],
    _lock: Lock,
}

impl KeptPack {
    /// What must be on stable storage before a ref names the objects.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The objects in these files; none if they are not all small and plain.
    pub(crate) fn of_loose<'p>(
        at: &Repository,
        objects: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Result<Option<Self>, KeepError> {
        let entries: Option<Entries> = objects.into_iter().map(|file| entry(file)).collect();
        let Some(pack) = entries.and_then(|entries| Pack::of(&entries)) else {
            return Ok(None);
        };
        Self::publish(at, &Source::Bytes(&pack)).map(Some)
    }

    fn publish(at: &Repository, source: &Source<'_>) -> Result<Self, KeepError> {
        let places = Places::of(at)?;
        let id = mint().simple().to_string();
        let name = match at.has_long_ids() {
            true => format!("pack-{id}{id}"),
            false => format!("pack-{id}{}", &id[..8]),
        };
        let file = |end: &str| places.packs.join(format!("{name}{end}"));
        let failed = |error| KeepError::File(file(".pack"), error);
        fs::write(places.marks.join(&name), b"").map_err(failed)?;
        let keep = file(".keep");
        let kept = Self {
            _lock: Lock::acquire(&keep, "handoff")?,
            keep,
            files: [file(".pack"), file(".idx"), places.packs.clone()],
        };
        let coming = places.marks.join(format!("{COMING}{name}"));
        let written = source.write(at, &kept.files[0], &coming);
        written
            .and_then(|()| fs::rename(&coming, &kept.files[1]))
            .map_err(failed)?;
        Ok(kept)
    }
}

impl Drop for KeptPack {
    fn drop(&mut self) {
        // One that is left is removed by whoever folds packs.
        fs::remove_file(&self.keep).ok();
    }
}

/// The id and the content of an object that lies in a file of its own.
fn entry(file: &Path) -> Option<([u8; 20], Entry)> {
    let directory = file.parent()?.file_name()?.to_str()?;
    let id = loose_object::id(&format!("{directory}{}", file.file_name()?.to_str()?))?;
    let (kind, content) = loose_object::open(file)?;
    Some((id, Entry::whole(&kind, &content)?))
}

/// Where a pack comes from.
enum Source<'a> {
    Bytes(&'a Pack),
    /// A pack and its index that git wrote.
    Files(PathBuf, PathBuf),
}

impl Source<'_> {
    fn write(&self, at: &Repository, pack: &Path, index: &Path) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => {
                write_new(pack, &bytes.pack)?;
                write_new(index, &bytes.index)?;
            }
            Self::Files(own_pack, own_index) => {
                fs::rename(own_pack, pack)?;
                fs::rename(own_index, index)?;
            }
        }
        if has_special_modes(at) {
            for file in [pack, index] {
                fs::set_permissions(file, fs::Permissions::from_mode(0o444))?;
            }
        }
        Ok(())
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o444).open(path);
    file?.write_all(bytes)
}

/// Where packs are, and our marks of them.
struct Places {
    packs: PathBuf,
    marks: PathBuf,
}

impl Places {
    fn of(at: &Repository) -> Result<Self, KeepError> {
        let packs = at.common_dir().join("objects/pack");
        let own = at.own_dir().and_then(|own| own.create_dir(MARKS));
        let own = own.map_err(|error| KeepError::File(packs.clone(), io::Error::other(error)))?;
        if !packs.is_dir() {
            fs::create_dir_all(&packs).map_err(|error| KeepError::File(packs.clone(), error))?;
        }
        Ok(Self {
            packs,
            marks: own.path().to_owned(),
        })
    }
}

impl Git {
    /// Keeps objects, in the repository's own directory or in a private one, and syncs them.
    pub(crate) fn keep_objects(
        &self,
        at: &Repository,
        private: &PrivateObjects,
        wanted: &Wanted<'_>,
    ) -> Result<KeptPack, KeepError> {
        let (options, input): (&[&str], _) = match wanted {
            Wanted::Exactly(id) => (&[], format!("{id}\n")),
            Wanted::Beyond { tip, known } => {
                let known = known.iter().map(|id| format!("^{id}\n"));
                (&["--revs"], format!("{tip}\n{}", known.collect::<String>()))
            }
        };
        // Whole objects can be folded without git.
        let options = [&["--window=0"], options].concat();
        let kept = self
            .writing_to(private)
            .pack(at, private, &options, input)?;
        sync_together(kept.files()).map_err(|error| KeepError::File(kept.keep.clone(), error))?;
        Ok(kept)
    }

    fn pack(
        &self,
        at: &Repository,
        private: &PrivateObjects,
        options: &[&str],
        input: String,
    ) -> Result<KeptPack, KeepError> {
        let call = self
            .call("pack-objects", at.any_place())
            .unsynced()
            .arguments(["-q"])
            .arguments(options)
            .arguments([private.path().join("pack")])
            .input(input.into_bytes());
        let unknown = call.unknown_answer();
        let id = crate::git::commit_id(&call.run()?).ok_or(unknown)?;
        let file = |end: &str| private.path().join(format!("pack-{id}.{end}"));
        KeptPack::publish(at, &Source::Files(file("pack"), file("idx")))
    }

    /// Whether somebody pruned what git needed: its complaint names an object that is not there, or says that it could not write
    /// one, because `prune` removes empty directories too.
    pub(crate) fn is_pruned(&self, at: &Repository, complaint: &str) -> bool {
        if NOT_WRITTEN.iter().any(|it| complaint.contains(it)) {
            return true;
        }
        let words = complaint.split(|it: char| !it.is_ascii_hexdigit());
        let mut ids = words.filter_map(|word| word.parse::<CommitId>().ok());
        ids.any(|id| {
            let call = self.call("cat-file", at.any_place());
            matches!(call.arguments(["-e", id.as_str()]).ask(), Ok(None))
        })
    }

    /// Does something that makes objects in a private directory, again if some were pruned meanwhile.
    pub(crate) fn apart<T, E>(
        &self,
        at: &Repository,
        complaint: impl Fn(&E) -> Option<&GitError>,
        mut make: impl FnMut(&PrivateObjects) -> Result<T, E>,
    ) -> Result<T, E>
    where
        E: From<KeepError>,
    {
        let mut left = ATTEMPTS;
        loop {
            let private = PrivateObjects::make(at)
                .map_err(|error| KeepError::File(at.common_dir().to_owned(), error))?;
            let made = make(&private);
            left -= 1;
            match &made {
                Err(error) if left > 0 => match complaint(error) {
                    Some(GitError::Failed { complaint, .. }) if self.is_pruned(at, complaint) => {}
                    Some(_) | None => return made,
                },
                Ok(_) | Err(_) => return made,
            }
        }
    }
}

impl KeepError {
    /// What git said.
    pub(crate) const fn git(&self) -> Option<&GitError> {
        match self {
            Self::Git(error) => Some(error),
            Self::File(..) | Self::Lock(_) => None,
        }
    }
}
