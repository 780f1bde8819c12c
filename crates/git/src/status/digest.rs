//! One digest for all that is not committed.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use handoff_core::Digest;
use sha2::{Digest as _, Sha256};

/// More than this is not read at every look: then there is no digest, and nothing is taken for
/// unchanged.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// The digest of these files, by name, kind, mode and content. None if they are too many, too large,
/// or not files.
pub(super) fn of(root: &Path, paths: &[Vec<u8>]) -> Option<Digest> {
    if paths.len() > MOST_FILES {
        return None;
    }
    let mut hash = Sha256::new();
    let mut budget = MOST_BYTES;
    for path in paths {
        hash_part(&mut hash, path);
        let file = root.join(OsStr::from_bytes(path));
        budget = hash_file(&mut hash, &file, budget).ok().flatten()?;
    }
    Some(Digest::from_bytes(hash.finalize().into()))
}

/// What is left of the budget; none if it is spent, or if this is neither a file nor a link.
fn hash_file(hash: &mut Sha256, path: &Path, budget: u64) -> io::Result<Option<u64>> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            hash.update(b"gone");
            return Ok(Some(budget));
        }
        Err(error) => return Err(error),
    };
    hash.update(metadata.mode().to_le_bytes());
    if metadata.is_symlink() {
        hash_part(hash, path.read_link()?.as_os_str().as_bytes());
        return Ok(Some(budget));
    }
    hash_content(hash, path, &metadata, budget)
}

fn hash_content(
    hash: &mut Sha256,
    path: &Path,
    metadata: &Metadata,
    budget: u64,
) -> io::Result<Option<u64>> {
    // Opening a pipe would block.
    if !metadata.is_file() || metadata.len() > budget {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(budget).read_to_end(&mut bytes)?;
    hash_part(hash, &bytes);
    Ok(budget.checked_sub(bytes.len() as u64))
}

/// With its length first, so that no two lists of parts look alike.
fn hash_part(hash: &mut Sha256, part: &[u8]) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part);
}
