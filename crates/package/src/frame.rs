//! The header of a sealed package: everything in it stands at a fixed place, so that the signature can be checked before any
//! parser sees a byte.
//!
//! ```text
//! {"format":"handoff-package","version":2,"key":"…","sha256":"…","length":N,"label":{…},"signature":"…"}⏎
//! ```

use handoff_core::Digest;

use crate::key::{KeyPair, PublicKey, from_hex};
use crate::seal::OpenError;

/// The longest header, with its line break.
pub(crate) const LIMIT: usize = 8 * 1024;
const VERSION: &str = "2";
const FORMAT: &[u8] = br#"{"format":"handoff-package","version":"#;
const KEY: &[u8] = br#","key":""#;
const SHA256: &[u8] = br#"","sha256":""#;
const LENGTH: &[u8] = br#"","length":"#;
const LABEL: &[u8] = br#","label":"#;
const SIGNATURE: &[u8] = br#","signature":""#;
const END: &[u8] = b"\"}\n";
/// In hexadecimal digits.
const SIGNATURE_LENGTH: usize = 128;

/// What a header says, verified.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) key: PublicKey,
    pub(crate) sha256: Digest,
    pub(crate) length: usize,
    /// Not parsed yet.
    pub(crate) label: &'a [u8],
}

/// Writes the header of a payload.
pub(crate) fn write(key: &KeyPair, digest: &Digest, length: usize, label: &str) -> Vec<u8> {
    let public = key.public();
    let signed = format!(
        r#"{{"format":"handoff-package","version":{VERSION},"key":"{public}","sha256":"{digest}","length":{length},"label":{label}"#
    );
    let signature = key.sign(signed.as_bytes());
    format!("{signed},\"signature\":\"{signature}\"}}\n").into_bytes()
}

/// Splits bytes into their header line and what follows it.
pub(crate) fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), OpenError> {
    let beginning = &bytes[..bytes.len().min(LIMIT)];
    let shared = beginning.len().min(FORMAT.len());
    if beginning[..shared] != FORMAT[..shared] {
        return Err(OpenError::ForeignFormat);
    }
    match beginning.iter().position(|&byte| byte == b'\n') {
        Some(end) => Ok(bytes.split_at(end + 1)),
        None if bytes.len() < LIMIT => Err(OpenError::HeaderCut),
        None => Err(OpenError::HeaderTooLong),
    }
}

/// Reads a header line whose signature is sound.
pub(crate) fn read(line: &[u8]) -> Result<Frame<'_>, OpenError> {
    let mut rest = Cursor(line);
    rest.expect(FORMAT).ok_or(OpenError::ForeignFormat)?;
    let version = rest.digits().ok_or(OpenError::HeaderSpelling)?;
    if version != VERSION {
        let version = version.to_owned();
        return Err(OpenError::UnknownVersion { version });
    }
    let signed = signed_part(line)?;
    let read = |rest: &mut Cursor<'_>| {
        rest.expect(KEY)?;
        let key = std::str::from_utf8(rest.take(64)?).ok()?.parse().ok()?;
        rest.expect(SHA256)?;
        let sha256 = std::str::from_utf8(rest.take(64)?).ok()?.parse().ok()?;
        rest.expect(LENGTH)?;
        let length = rest.digits()?.parse().ok()?;
        rest.expect(LABEL)?;
        Some((key, sha256, length))
    };
    let (key, sha256, length): (PublicKey, Digest, usize) =
        read(&mut rest).ok_or(OpenError::HeaderSpelling)?;
    let (message, signature) = signed;
    if !key.has_signed(message, &signature) {
        return Err(OpenError::Signature);
    }
    let begun = line.len() - rest.0.len();
    let label = message.get(begun..).ok_or(OpenError::HeaderSpelling)?;
    Ok(Frame {
        key,
        sha256,
        length,
        label,
    })
}

/// What was signed, and the signature.
fn signed_part(line: &[u8]) -> Result<(&[u8], [u8; 64]), OpenError> {
    let tail = SIGNATURE.len() + SIGNATURE_LENGTH + END.len();
    let split = line.len().checked_sub(tail).map(|at| line.split_at(at));
    let (message, tail) = split.ok_or(OpenError::Unsigned)?;
    let digits = tail
        .strip_prefix(SIGNATURE)
        .and_then(|tail| tail.strip_suffix(END));
    let digits = digits.ok_or(OpenError::Unsigned)?;
    let signature = from_hex(digits).ok_or(OpenError::Signature)?;
    Ok((message, signature))
}

/// What is left to be read.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn expect(&mut self, text: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    /// A number in its one spelling.
    fn digits(&mut self) -> Option<&'a str> {
        let count = self.0.iter().take_while(|it| it.is_ascii_digit()).count();
        let digits = std::str::from_utf8(self.take(count)?).ok()?;
        let is_plain = !digits.is_empty() && (digits == "0" || !digits.starts_with('0'));
        is_plain.then_some(digits)
    }
}
