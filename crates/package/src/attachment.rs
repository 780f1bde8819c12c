//! A file on its way into a package: read once for its digest and for secrets, so that what was looked at is what is kept.

use std::fs::File;
use std::io;
use std::path::Path;

use handoff_core::package::SubjectId;

use crate::hashing::Hashing;
use crate::payload::{ATTACHMENT_LIMIT, Attachment};
use crate::secret::{SecretsError, scan_stream};

/// A file that is not attached.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// It cannot be read.
    #[error("cannot read the file")]
    Read(#[source] io::Error),
    /// It has no end, or is none: a directory, a pipe, a device.
    #[error("it is not a regular file")]
    NotRegular,
    /// It is too long.
    #[error("it is longer than {ATTACHMENT_LIMIT} bytes")]
    TooLong,
    /// Its name cannot be shown.
    #[error("it has a name that cannot be shown")]
    Name(#[source] handoff_core::context::WordError),
    /// There seems to be a secret in it. A file is taken whole or not at all.
    #[error(transparent)]
    Secrets(SecretsError),
}

impl Attachment {
    /// What a file is as an attachment, if nothing in it looks like a secret. Nothing is kept yet; whoever keeps it compares
    /// what is there then with this digest.
    pub fn of(name: &str, file: &Path) -> Result<Self, AttachError> {
        let shown: SubjectId = name.parse().map_err(AttachError::Name)?;
        let metadata = file.metadata().map_err(AttachError::Read)?;
        if !metadata.is_file() {
            return Err(AttachError::NotRegular);
        }
        if metadata.len() > ATTACHMENT_LIMIT {
            return Err(AttachError::TooLong);
        }
        let mut content = Hashing::new(File::open(file).map_err(AttachError::Read)?);
        let found = scan_stream(name, &mut content).map_err(AttachError::Read)?;
        if !found.is_empty() {
            return Err(AttachError::Secrets(SecretsError { found }));
        }
        let (sha256, size) = content.finish();
        Ok(Self {
            name: shown,
            sha256,
            size,
        })
    }
}
