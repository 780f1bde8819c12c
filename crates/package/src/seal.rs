//! A package as bytes, and bytes as a package.
//!
//! A sealed package is a header line and a payload. What is parsed is exactly what was verified: signature, length and digest are
//! checked before a byte is understood.

use handoff_core::package::Label;
use handoff_core::{Digest, PackageId};

use crate::frame;
use crate::key::{KeyPair, PublicKey};
use crate::payload::{ContentError, Package, Payload};

/// The longest payload, in bytes.
pub const PAYLOAD_LIMIT: usize = 24 * 1024 * 1024;
/// The longest sealed package, in bytes.
pub const LIMIT: usize = frame::LIMIT + PAYLOAD_LIMIT;

/// A package that can be stored and given away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    id: PackageId,
    bytes: Vec<u8>,
    digest: Digest,
    payload_digest: Digest,
}

impl Sealed {
    /// What was opened, as it was sealed.
    #[must_use]
    pub fn of(opened: &Opened, bytes: &[u8]) -> Self {
        Self {
            id: opened.package.label.id,
            bytes: bytes.to_vec(),
            digest: opened.digest.clone(),
            payload_digest: opened.payload_digest.clone(),
        }
    }

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

    /// SHA-256 of the header line, which pins the rest.
    #[must_use]
    pub const fn digest(&self) -> &Digest {
        &self.digest
    }

    /// SHA-256 of the payload.
    #[must_use]
    pub const fn payload_digest(&self) -> &Digest {
        &self.payload_digest
    }
}

/// A package that cannot be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// There is too much in it.
    #[error("the package has {length} bytes; the limit is {PAYLOAD_LIMIT}")]
    TooLong {
        /// How long the payload would be.
        length: usize,
    },
    /// There is too much on it.
    #[error("the label of the package is too long; name fewer receivers, or use shorter names")]
    LabelTooLong,
    /// What is in it does not fit together.
    #[error("the package cannot be sealed")]
    Content(#[from] ContentError),
}

/// Bytes that are not a sound package.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The bytes end within the header.
    #[error("the package ends within its header")]
    HeaderCut,
    /// No header of the allowed length.
    #[error("the header has more than {} bytes", frame::LIMIT)]
    HeaderTooLong,
    /// Something in the header does not stand where it must.
    #[error("the header is not spelled the one way it may be")]
    HeaderSpelling,
    /// A file of another kind.
    #[error("this is not a handoff package")]
    ForeignFormat,
    /// A package of another version of handoff.
    #[error("a package of version {version} is unknown here")]
    UnknownVersion {
        /// The version.
        version: String,
    },
    /// There is no signature where one must be.
    #[error("the package carries no signature")]
    Unsigned,
    /// The signature is not of this key over this header.
    #[error("the signature does not match the header: it was changed, or signed by somebody else")]
    Signature,
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
    /// What was signed has no label.
    #[error("the label cannot be read")]
    Label(#[source] serde_json::Error),
    /// What was sealed is no package.
    #[error("the payload is not a package")]
    Payload(#[source] serde_json::Error),
    /// What was sealed does not fit together.
    #[error("the content of the package does not fit together")]
    Content(#[source] ContentError),
}

/// A package whose bytes are sound. Whether its signer is trusted is another question.
#[derive(Debug, PartialEq, Eq)]
pub struct Opened {
    /// What is in it.
    pub package: Package,
    /// Who signed it.
    pub signer: PublicKey,
    /// SHA-256 of the header line.
    pub digest: Digest,
    /// SHA-256 of the payload.
    pub payload_digest: Digest,
    /// How long the payload is.
    pub size: usize,
}

/// Seals a package.
pub fn seal(package: &Package, key: &KeyPair) -> Result<Sealed, SealError> {
    package.payload.check()?;
    if package.label.audience.len() > Label::MOST_AUDIENCE {
        return Err(SealError::LabelTooLong);
    }
    let payload = to_json(&package.payload);
    let length = payload.len();
    if length > PAYLOAD_LIMIT {
        return Err(SealError::TooLong { length });
    }
    let label = serde_json::to_string(&package.label).expect("texts and lists are always JSON");
    let payload_digest = Digest::of(&payload);
    let mut bytes = frame::write(key, &payload_digest, length, &label);
    if bytes.len() > frame::LIMIT {
        return Err(SealError::LabelTooLong);
    }
    let digest = Digest::of(&bytes);
    bytes.extend(payload);
    Ok(Sealed {
        id: package.label.id,
        bytes,
        digest,
        payload_digest,
    })
}

fn to_json(payload: &Payload) -> Vec<u8> {
    serde_json::to_vec(payload).expect("texts, numbers and lists are always JSON")
}

/// Opens a sealed package, if each byte of it is as it was sealed.
pub fn open(bytes: &[u8]) -> Result<Opened, OpenError> {
    let (line, payload) = frame::split(bytes)?;
    let frame = frame::read(line)?;
    check_length(frame.length, payload.len())?;
    let payload_digest = Digest::of(payload);
    if payload_digest != frame.sha256 {
        return Err(OpenError::Digest);
    }
    let label = serde_json::from_slice(frame.label).map_err(OpenError::Label)?;
    let payload: Payload = serde_json::from_slice(payload).map_err(OpenError::Payload)?;
    payload.check().map_err(OpenError::Content)?;
    Ok(Opened {
        package: Package { label, payload },
        signer: frame.key,
        digest: Digest::of(line),
        payload_digest,
        size: frame.length,
    })
}

fn check_length(expected: usize, found: usize) -> Result<(), OpenError> {
    if expected > PAYLOAD_LIMIT {
        return Err(OpenError::TooLong { length: expected });
    }
    if found < expected {
        return Err(OpenError::Cut { expected, found });
    }
    if found > expected {
        let extra = found - expected;
        return Err(OpenError::TrailingBytes { extra });
    }
    Ok(())
}
