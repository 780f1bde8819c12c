//! The contents of attachments, wherever they are kept: on a shelf, or in the ledger of a team.
//!
//! They are named by their digest and read in pieces, so that none of them needs to fit into memory, and a reader holds
//! neither a file nor a transaction open between two pieces.

use std::error::Error;
use std::io::{self, Read};

use handoff_core::Digest;
use sha2::{Digest as _, Sha256};

use crate::payload::Attachment;

/// The length of a piece. The last one is shorter.
pub const PIECE: usize = 1024 * 1024;

/// Where contents are kept.
pub trait Blobs {
    /// Takes content in, if it is what its digest says. What is there already is read; if it is damaged, it is replaced.
    fn take_in(&mut self, blob: &Attachment, content: &mut dyn Read) -> Result<(), BlobError>;

    /// Whether a content is there.
    fn has(&mut self, digest: &Digest) -> Result<bool, BlobError>;

    /// One piece of a content, counted from zero; empty behind its end.
    fn piece(&mut self, digest: &Digest, number: u64) -> Result<Vec<u8>, BlobError>;
}

/// A content that could not be kept or had.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// It is not there.
    #[error("there is no content {0}")]
    Missing(Digest),
    /// The place where contents are kept failed.
    #[error("cannot use the contents of attachments")]
    Place(#[source] Box<dyn Error + Send + Sync>),
}

impl BlobError {
    /// What the place said.
    pub fn place(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Place(error.into())
    }
}

/// Whether what is kept under a digest is what it says. A place that cannot be read is not sound either.
pub fn is_sound(blobs: &mut dyn Blobs, blob: &Attachment) -> bool {
    let mut content = Content::new(blobs, blob.clone());
    io::copy(&mut content, &mut io::sink()).is_ok()
}

/// One content as it is read: fails at its end if it is not what its digest says.
pub struct Content<'a> {
    blobs: &'a mut dyn Blobs,
    progress: Progress,
}

impl<'a> Content<'a> {
    /// The content of an attachment, from its beginning.
    pub fn new(blobs: &'a mut dyn Blobs, blob: Attachment) -> Self {
        let progress = Progress::begin(blob);
        Self { blobs, progress }
    }
}

impl Read for Content<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.progress.read(self.blobs, buffer)
    }
}

/// How far a content was read.
pub(crate) struct Progress {
    blob: Attachment,
    number: u64,
    piece: io::Cursor<Vec<u8>>,
    hash: Sha256,
    length: u64,
}

impl Progress {
    pub(crate) fn begin(blob: Attachment) -> Self {
        Self {
            blob,
            number: 0,
            piece: io::Cursor::default(),
            hash: Sha256::new(),
            length: 0,
        }
    }

    /// Reads on; nothing at the end, once it is known to be the right content.
    pub(crate) fn read(&mut self, from: &mut dyn Blobs, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let count = self.piece.read(buffer)?;
        if count > 0 {
            return Ok(count);
        }
        let piece = from.piece(&self.blob.sha256, self.number);
        let piece = piece.map_err(io::Error::other)?;
        self.number += 1;
        self.length += piece.len() as u64;
        self.hash.update(&piece);
        if piece.is_empty() {
            return self.check().map(|()| 0);
        }
        self.piece = io::Cursor::new(piece);
        self.piece.read(buffer)
    }

    fn check(&self) -> io::Result<()> {
        let found = Digest::from_bytes(self.hash.clone().finalize().into());
        if found == self.blob.sha256 && self.length == self.blob.size {
            return Ok(());
        }
        let text = "the content is not what its digest says";
        Err(io::Error::new(io::ErrorKind::InvalidData, text))
    }
}
