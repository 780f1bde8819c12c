//! A package as bytes, and bytes as a package.
//!
//! A sealed package is a header line and a payload. What is parsed is exactly what was verified:
//! the payload's length and digest are checked before a byte of it is looked at.

use std::fmt::Write as _;

use handoff_core::PackageId;
use sha2::{Digest as _, Sha256};

use crate::header::{self, Header};
use crate::package::Package;

/// The longest payload, in bytes.
pub const PAYLOAD_LIMIT: usize = 4 * 1024 * 1024;
/// The longest sealed package, in bytes.
pub const LIMIT: usize = header::LIMIT + PAYLOAD_LIMIT;

/// A package that can be stored and given away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    id: PackageId,
    bytes: Vec<u8>,
    digest: String,
}

impl Sealed {
    /// Which package.
    #[must_use]
    pub const fn id(&self) -> PackageId {
        self.id
    }

    /// The header and the payload.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// SHA-256 of all the bytes, in hexadecimal, as `sha256sum` of the stored file shows it.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

/// A package that cannot be sealed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// Its evidence is too much.
    #[error("the package has {length} bytes; the limit is {PAYLOAD_LIMIT}")]
    TooLong {
        /// How long the payload would be.
        length: usize,
    },
}

/// Bytes that are not a sound package.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The bytes end within the header.
    #[error("the package ends within its header")]
    HeaderCut,
    /// No header of the allowed length.
    #[error("the header has more than {} bytes", header::LIMIT)]
    HeaderTooLong,
    /// The first line is no header.
    #[error("the first line is not the header of a package")]
    Header(#[source] serde_json::Error),
    /// The header says the right things in another spelling.
    #[error("the header is not spelled the one way it may be")]
    HeaderSpelling,
    /// A file of another kind.
    #[error("this is not a handoff package")]
    ForeignFormat,
    /// A package of another version of handoff.
    #[error("a package of version {version} is unknown here")]
    UnknownVersion {
        /// The version.
        version: u32,
    },
    /// The header announces more than is allowed.
    #[error("the header announces {length} bytes; the limit is {PAYLOAD_LIMIT}")]
    TooLong {
        /// The announced length.
        length: usize,
    },
    /// Bytes are missing at the end.
    #[error("the payload has {found} bytes instead of {expected}")]
    Cut {
        /// The announced length.
        expected: usize,
        /// What is there.
        found: usize,
    },
    /// There are bytes after the end.
    #[error("{extra} bytes follow the payload")]
    TrailingBytes {
        /// How many.
        extra: usize,
    },
    /// The payload is not what was sealed.
    #[error("the payload does not match its digest")]
    Digest,
    /// What was sealed is no package.
    #[error("the payload is not a package")]
    Payload(#[source] serde_json::Error),
}

/// Seals a package.
pub fn seal(package: &Package) -> Result<Sealed, SealError> {
    let payload = serde_json::to_vec(package).expect("texts, numbers and lists are always JSON");
    let length = payload.len();
    if length > PAYLOAD_LIMIT {
        return Err(SealError::TooLong { length });
    }
    let mut bytes = Header::new(sha256(&payload), length).to_line();
    bytes.extend(payload);
    let digest = sha256(&bytes);
    Ok(Sealed {
        id: package.id,
        bytes,
        digest,
    })
}

/// Opens a sealed package, if each byte of it is as it was sealed.
pub fn open(bytes: &[u8]) -> Result<Package, OpenError> {
    let (header, payload) = Header::split(bytes)?;
    let expected = header.length;
    let found = payload.len();
    if expected > PAYLOAD_LIMIT {
        return Err(OpenError::TooLong { length: expected });
    }
    if found < expected {
        return Err(OpenError::Cut { expected, found });
    }
    if found > expected {
        return Err(OpenError::TrailingBytes {
            extra: found - expected,
        });
    }
    if sha256(payload) != header.sha256 {
        return Err(OpenError::Digest);
    }
    serde_json::from_slice(payload).map_err(OpenError::Payload)
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a text takes every character");
            text
        })
}
