//! Contents of attachments in the ledger of a team.

use std::io::Read;

use handoff_core::{Digest, ProjectId};
use handoff_package::blobs::{BlobError, Blobs, PIECE, is_sound};
use handoff_package::hashing::Checked;
use handoff_package::payload::Attachment;
use handoff_store::blobs::{self, Upload};
use handoff_store::{Store, read};

/// Contents of attachments in the ledger of a team.
pub(crate) struct LedgerBlobs<'a> {
    pub(crate) store: &'a mut dyn Store,
    pub(crate) project: ProjectId,
}

impl Blobs for LedgerBlobs<'_> {
    fn take_in(&mut self, blob: &Attachment, content: &mut dyn Read) -> Result<(), BlobError> {
        let is_there = blobs::want(self.store, self.project, &blob.sha256);
        let is_there = is_there.map_err(BlobError::place)?;
        if is_there && is_sound(self, blob) {
            return Ok(());
        }
        let name = handoff_process::mint().simple().to_string();
        let mut upload = Upload::new(self.project, name);
        let mut content = Checked::new(content, blob.sha256.clone(), blob.size);
        match self.write(&mut upload, &mut content) {
            Ok(()) if is_there => upload.supersede(self.store, &blob.sha256),
            Ok(()) => upload.finish(self.store, &blob.sha256),
            Err(error) => {
                // If this fails too, the pieces are swept some day.
                upload.abandon(self.store).ok();
                return Err(error);
            }
        }
        .map_err(BlobError::place)
    }

    fn has(&mut self, digest: &Digest) -> Result<bool, BlobError> {
        let project = self.project;
        read(self.store, |tx| blobs::has(tx, project, digest)).map_err(BlobError::place)
    }

    fn piece(&mut self, digest: &Digest, number: u64) -> Result<Vec<u8>, BlobError> {
        let project = self.project;
        let piece = read(self.store, |tx| blobs::piece(tx, project, digest, number));
        Ok(piece.map_err(BlobError::place)?.unwrap_or_default())
    }
}

impl LedgerBlobs<'_> {
    /// Piece by piece: at most one of them is in memory here, and another on its way.
    fn write(&mut self, upload: &mut Upload, content: &mut dyn Read) -> Result<(), BlobError> {
        let mut piece = vec![];
        loop {
            piece.clear();
            let read = Read::take(&mut *content, PIECE as u64).read_to_end(&mut piece);
            let count = read.map_err(BlobError::place)?;
            if count == 0 {
                return Ok(());
            }
            let written = upload.piece(self.store, &piece);
            written.map_err(BlobError::place)?;
        }
    }
}
