//! The contents of attachments on a shelf: `blobs/<digest>`.

use std::collections::BTreeSet;
use std::io::{Read, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::SystemTime;

use handoff_core::Digest;
use handoff_files::atomic::{create_new_from, replace_from};
use handoff_files::{Access, Dir, DirError, Mode, WriteError};

use super::{Shelf, ShelfError};
use crate::blobs::{BlobError, Blobs, PIECE, is_sound};
use crate::hashing::Checked;
use crate::payload::Attachment;

impl Blobs for Shelf {
    fn take_in(&mut self, blob: &Attachment, content: &mut dyn Read) -> Result<(), BlobError> {
        self.put_blob(blob, content).map_err(BlobError::place)
    }

    fn has(&mut self, digest: &Digest) -> Result<bool, BlobError> {
        match self.open_blob(digest) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(BlobError::place(error)),
        }
    }

    fn piece(&mut self, digest: &Digest, number: u64) -> Result<Vec<u8>, BlobError> {
        let mut file = self.open_blob(digest).map_err(|error| {
            if error.is_not_found() {
                BlobError::Missing(digest.clone())
            } else {
                BlobError::place(error)
            }
        })?;
        let place = SeekFrom::Start(number.saturating_mul(PIECE as u64));
        let mut piece = Vec::with_capacity(PIECE);
        file.seek(place).map_err(BlobError::place)?;
        let read = file.take(PIECE as u64).read_to_end(&mut piece);
        read.map_err(BlobError::place)?;
        Ok(piece)
    }
}

impl Shelf {
    pub(super) fn blobs(&self) -> PathBuf {
        self.path.join("blobs")
    }

    /// Content that is there already is not written again, unless it is damaged; that it is wanted is marked by its time.
    fn put_blob(&mut self, blob: &Attachment, content: &mut dyn Read) -> Result<(), ShelfError> {
        let dir = Dir::create_private(&self.path)?.create_dir("blobs")?;
        let name = blob.sha256.as_str();
        let is_there = dir.touch(name)?;
        if is_there && is_sound(self, blob) {
            return Ok(());
        }
        let mut content = Checked::new(content, blob.sha256.clone(), blob.size);
        let written = if is_there {
            replace_from(&dir, name, &mut content, Mode::Private)
        } else {
            create_new_from(&dir, name, &mut content, Mode::Private)
        };
        match written {
            Ok(_) | Err(WriteError::AlreadyExists(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn open_blob(&self, digest: &Digest) -> Result<std::fs::File, DirError> {
        Dir::open(&self.blobs())?.open_beneath(digest.as_str(), Access::Read)
    }

    /// Contents that none of these packages has, and that nobody has wanted since, with their sizes.
    pub fn unnamed_blobs(
        &self,
        kept: &BTreeSet<Digest>,
        before: SystemTime,
    ) -> Result<Vec<(Digest, u64)>, ShelfError> {
        let dir = match Dir::open(&self.blobs()) {
            Ok(dir) => dir,
            Err(error) if error.is_not_found() => return Ok(vec![]),
            Err(error) => return Err(error.into()),
        };
        let names = dir.names()?;
        let digests = names.iter().filter_map(|name| name.to_str()?.parse().ok());
        let sized_if_old = |digest: Digest| {
            let metadata = dir.path().join(digest.as_str()).metadata().ok()?;
            let is_old = metadata.modified().is_ok_and(|at| at < before);
            is_old.then_some((digest, metadata.len()))
        };
        let unnamed = digests.filter(|digest| !kept.contains(digest));
        Ok(unnamed.filter_map(sized_if_old).collect())
    }

    /// Takes contents away.
    pub fn remove_blobs(&self, digests: &[Digest]) -> Result<(), ShelfError> {
        for digest in digests {
            Dir::open(&self.blobs())?.remove(digest.as_str())?;
        }
        Ok(())
    }
}
