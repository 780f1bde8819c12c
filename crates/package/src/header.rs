//! The first line of a sealed package: which format it is, and what the rest must be.
//!
//! There is one spelling of a header, the one written here; any other is refused, so that no two
//! readers can disagree about it.

use serde::{Deserialize, Serialize};

use crate::seal::OpenError;

const FORMAT: &str = "handoff-package";
const VERSION: u32 = 1;
/// The longest header, with its line break.
pub(crate) const LIMIT: usize = 4 * 1024;

/// What every version of the header begins with. A later version may have other fields.
#[derive(Debug, Deserialize)]
struct Opening {
    format: String,
    version: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    format: String,
    version: u32,
    /// SHA-256 of the payload.
    pub(crate) sha256: String,
    /// Length of the payload in bytes.
    pub(crate) length: usize,
}

impl Header {
    pub(crate) fn new(sha256: String, length: usize) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            sha256,
            length,
        }
    }

    pub(crate) fn to_line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("texts and numbers are always JSON");
        line.push(b'\n');
        line
    }

    /// Splits `bytes` into their header and what follows it.
    pub(crate) fn split(bytes: &[u8]) -> Result<(Self, &[u8]), OpenError> {
        let beginning = &bytes[..bytes.len().min(LIMIT)];
        let Some(end) = beginning.iter().position(|&byte| byte == b'\n') else {
            let is_cut = bytes.len() < LIMIT;
            return Err(if is_cut {
                OpenError::HeaderCut
            } else {
                OpenError::HeaderTooLong
            });
        };
        let (line, payload) = bytes.split_at(end + 1);
        Ok((Self::parse(line)?, payload))
    }

    fn parse(line: &[u8]) -> Result<Self, OpenError> {
        let opening: Opening = serde_json::from_slice(line).map_err(OpenError::Header)?;
        if opening.format != FORMAT {
            return Err(OpenError::ForeignFormat);
        }
        if opening.version != VERSION {
            return Err(OpenError::UnknownVersion {
                version: opening.version,
            });
        }
        let header: Self = serde_json::from_slice(line).map_err(OpenError::Header)?;
        if header.to_line() == line {
            Ok(header)
        } else {
            Err(OpenError::HeaderSpelling)
        }
    }
}
