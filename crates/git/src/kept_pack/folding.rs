//! Small packs of ours become one, so that their number does not grow with that of commits.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use handoff_files::Lock;

use super::format::{Entries, Pack};
use super::{COMING, KeepError, KeptPack, Places, Source};
use crate::git::Git;
use crate::loose_object::hex;
use crate::private_objects::PrivateObjects;
use crate::repository::Repository;
use crate::safe_commit::sync_together;

/// So many are folded.
const MANY: usize = 8;
/// Packs above this are compressed by git and left to it.
const LARGE: u64 = 256 * 1024;
/// A mark without a pack is that of a killed process after this.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A pack of ours that nobody keeps.
struct Small {
    name: String,
    entries: Entries,
}

impl Git {
    /// Folds the small packs, if there are many. Whatever fails leaves them as they are: the next one tries again.
    pub fn fold_packs(&self, at: &Repository) {
        self.try_fold(at).ok();
    }

    fn try_fold(&self, at: &Repository) -> Result<(), KeepError> {
        let places = Places::of(at)?;
        if names(&places.marks).len() < MANY {
            return Ok(());
        }
        let Some(_lock) = Lock::try_acquire(&places.marks.join("fold.lock"), "fold")? else {
            return Ok(());
        };
        let mut small = vec![];
        for name in names(&places.marks) {
            remove_dead_keep(&places, &name);
            small.extend(read(&places, name));
        }
        // An index over several packs names each of them.
        if small.len() < MANY || places.packs.join("multi-pack-index").exists() {
            return Ok(());
        }
        let entries: Entries = small.iter().flat_map(|it| it.entries.clone()).collect();
        let folded = Pack::of(&entries).filter(|it| it.pack.len() as u64 <= LARGE);
        let kept = match folded {
            Some(pack) => KeptPack::publish(at, &Source::Bytes(&pack))?,
            None => self.fold_with_git(at, &entries)?,
        };
        sync_together(kept.files())
            .map_err(|error| KeepError::File(places.packs.clone(), error))?;
        for Small { name, .. } in small {
            // The index first: without it git does not look for the pack.
            for file in [
                pack_file(&places, &name, "idx"),
                pack_file(&places, &name, "pack"),
            ] {
                fs::remove_file(file).ok();
            }
            fs::remove_file(places.marks.join(name)).ok();
        }
        Ok(())
    }

    fn fold_with_git(&self, at: &Repository, entries: &Entries) -> Result<KeptPack, KeepError> {
        let private = PrivateObjects::make(at)
            .map_err(|error| KeepError::File(at.common_dir().to_owned(), error))?;
        let ids = entries.keys().map(|id| format!("{}\n", hex(id)));
        self.pack(at, &private, &[], ids.collect())
    }
}

fn names(marks: &Path) -> Vec<String> {
    let entries = fs::read_dir(marks).into_iter().flatten().flatten();
    let names = entries.filter_map(|it| it.file_name().into_string().ok());
    names.filter(|name| name.starts_with("pack-")).collect()
}

fn pack_file(places: &Places, name: &str, end: &str) -> PathBuf {
    places.packs.join(format!("{name}.{end}"))
}

/// Takes away the `.keep` of a killed process, and its pack if that has no index.
fn remove_dead_keep(places: &Places, name: &str) {
    let keep = pack_file(places, name, "keep");
    if !keep.exists() {
        return;
    }
    if let Ok(Some(_lock)) = Lock::try_acquire(&keep, "handoff") {
        if !pack_file(places, name, "idx").exists() {
            fs::remove_file(pack_file(places, name, "pack")).ok();
            fs::remove_file(places.marks.join(format!("{COMING}{name}"))).ok();
        }
        fs::remove_file(keep).ok();
    }
}

/// A pack that may be folded. The mark of one that is gone, or that is left to git, is removed.
fn read(places: &Places, name: String) -> Option<Small> {
    let mark = places.marks.join(&name);
    if pack_file(places, &name, "keep").exists() {
        return None;
    }
    let file = pack_file(places, &name, "pack");
    let Ok(metadata) = file.metadata() else {
        let made_at = mark.metadata().and_then(|it| it.modified()).ok()?;
        #[expect(
            clippy::disallowed_methods,
            reason = "compared with the time of a file"
        )]
        let age = SystemTime::now().duration_since(made_at).ok()?;
        if age > ABANDONED {
            fs::remove_file(mark).ok();
        }
        return None;
    };
    let pack = (metadata.len() <= LARGE).then(|| {
        Some(Pack {
            pack: fs::read(&file).ok()?,
            index: fs::read(pack_file(places, &name, "idx")).ok()?,
        })
    });
    match pack {
        None => {
            fs::remove_file(mark).ok();
            None
        }
        Some(pack) => Some(Small {
            entries: pack?.entries()?,
            name,
        }),
    }
}
