//! A package on its way to another place: header, payload, and then the attachments in the order in which the payload lists them.
//!
//! The payload says how long each is, so nothing marks where one ends; and nothing in a bundle names a place to write to.

use std::io::{self, BufRead, Read};

use crate::blobs::{BlobError, Blobs, Progress};
use crate::frame;
use crate::payload::Attachment;
use crate::seal::{OpenError, Opened, PAYLOAD_LIMIT, open};

/// A bundle could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// It cannot be read at all.
    #[error("cannot read the package")]
    Read(#[source] io::Error),
    /// Its package is not sound.
    #[error("cannot open the package")]
    Open(#[source] OpenError),
    /// An attachment is not what the package says, or cannot be kept.
    #[error("cannot take the attachment `{name}` in")]
    Attachment {
        /// Which.
        name: String,
        /// Why.
        #[source]
        source: BlobError,
    },
    /// Something follows the last attachment.
    #[error("there are bytes behind the package")]
    TrailingBytes,
}

/// A package out of a bundle, verified, with its bytes. Its attachments are still to be read.
#[derive(Debug)]
pub struct Unpacked {
    /// The package.
    pub opened: Opened,
    /// Exactly what was verified.
    pub bytes: Vec<u8>,
}

/// Reads the package of a bundle: no more than it announces, and no more than is allowed.
pub fn read_package(from: &mut dyn BufRead) -> Result<Unpacked, BundleError> {
    let mut bytes = vec![];
    let mut header = from.take(frame::LIMIT as u64);
    header
        .read_until(b'\n', &mut bytes)
        .map_err(BundleError::Read)?;
    let (line, _) = frame::split(&bytes).map_err(BundleError::Open)?;
    let length = frame::read(line).map_err(BundleError::Open)?.length;
    if length > PAYLOAD_LIMIT {
        return Err(BundleError::Open(OpenError::TooLong { length }));
    }
    let mut payload = from.take(length as u64);
    payload.read_to_end(&mut bytes).map_err(BundleError::Read)?;
    let opened = open(&bytes).map_err(BundleError::Open)?;
    Ok(Unpacked { opened, bytes })
}

/// Reads the attachments of a bundle to where they are kept, each checked against its digest before it gets its name.
pub fn read_attachments(
    from: &mut dyn BufRead,
    opened: &Opened,
    blobs: &mut dyn Blobs,
) -> Result<(), BundleError> {
    for attachment in &opened.package.payload.attachments {
        let mut content = from.take(attachment.size);
        let put = blobs.take_in(attachment, &mut content);
        put.map_err(|source| BundleError::Attachment {
            name: attachment.name.to_string(),
            source,
        })?;
        // Content that was there already was not read.
        io::copy(&mut content, &mut io::sink()).map_err(BundleError::Read)?;
    }
    let left = from.fill_buf().map_err(BundleError::Read)?;
    if left.is_empty() {
        Ok(())
    } else {
        Err(BundleError::TrailingBytes)
    }
}

/// A bundle as it is given away. Each attachment is checked while it is read.
pub struct Bundle<'a> {
    package: io::Cursor<Vec<u8>>,
    blobs: &'a mut dyn Blobs,
    current: Option<Progress>,
    left: std::vec::IntoIter<Attachment>,
}

impl<'a> Bundle<'a> {
    /// A package with its attachments, if they are all there.
    pub fn new(
        bytes: Vec<u8>,
        opened: &Opened,
        blobs: &'a mut dyn Blobs,
    ) -> Result<Self, BlobError> {
        let attachments = opened.package.payload.attachments.clone();
        for attachment in &attachments {
            if !blobs.has(&attachment.sha256)? {
                return Err(BlobError::Missing(attachment.sha256.clone()));
            }
        }
        Ok(Self {
            package: io::Cursor::new(bytes),
            blobs,
            current: None,
            left: attachments.into_iter(),
        })
    }
}

impl Read for Bundle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.package.read(buffer)?;
        if count > 0 || buffer.is_empty() {
            return Ok(count);
        }
        loop {
            if let Some(current) = &mut self.current {
                let count = current.read(self.blobs, buffer)?;
                if count > 0 {
                    return Ok(count);
                }
            }
            match self.left.next() {
                Some(next) => self.current = Some(Progress::begin(next)),
                None => return Ok(0),
            }
        }
    }
}
