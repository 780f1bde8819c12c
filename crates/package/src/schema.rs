//! The format for other programs: JSON Schema, derived from the types that are read and written.

use handoff_core::package::Label;
use schemars::{JsonSchema, schema_for};
use serde::Serialize;

use crate::payload::Payload;

/// The header line and the payload, as two documents of one file.
#[derive(Debug, Serialize)]
pub struct FormatSchema {
    /// Of the header.
    pub header: schemars::Schema,
    /// Of the payload.
    pub payload: schemars::Schema,
}

/// The first line of a sealed package. Its fields stand in this order, without white space.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Header")]
#[expect(
    dead_code,
    reason = "a header is written and read by position; this is what it says"
)]
struct Header {
    /// Always `handoff-package`.
    format: String,
    /// Always 2.
    version: u32,
    /// The public key of whoever sealed it: Ed25519, 64 hexadecimal digits.
    key: String,
    /// SHA-256 of the payload: 64 hexadecimal digits.
    sha256: String,
    /// How many bytes the payload has.
    length: u64,
    /// What lists and decisions need.
    label: Label,
    /// Ed25519 over the bytes of this line up to `,"signature":`, 128 hexadecimal digits.
    signature: String,
}

/// The schema of what this program writes.
#[must_use]
pub fn schema() -> FormatSchema {
    FormatSchema {
        header: schema_for!(Header),
        payload: schema_for!(Payload),
    }
}
