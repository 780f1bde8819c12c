//! A reader that knows what it has read.

use std::io::{self, Read};

use handoff_core::Digest;
use sha2::{Digest as _, Sha256};

/// Counts and digests what goes through it.
pub struct Hashing<R> {
    inner: R,
    hash: Sha256,
    length: u64,
}

impl<R: Read> Hashing<R> {
    /// Reads from this one.
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            hash: Sha256::new(),
            length: 0,
        }
    }

    /// What it has read: the digest, and how long it was.
    pub fn finish(self) -> (Digest, u64) {
        (Digest::from_bytes(self.hash.finalize().into()), self.length)
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hash.update(&buffer[..count]);
        self.length += count as u64;
        Ok(count)
    }
}

/// The digest and the length of some content, which need not fit into memory.
pub fn digest_of(content: &mut dyn Read) -> io::Result<(Digest, u64)> {
    let mut content = Hashing::new(content);
    io::copy(&mut content, &mut io::sink())?;
    Ok(content.finish())
}

/// A reader that fails at its end unless it was the content that was announced.
pub struct Checked<R> {
    inner: Option<Hashing<R>>,
    expected: (Digest, u64),
}

impl<R: Read> Checked<R> {
    /// Of this digest and this length.
    pub fn new(inner: R, digest: Digest, length: u64) -> Self {
        Self {
            inner: Some(Hashing::new(inner)),
            expected: (digest, length),
        }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(inner) = &mut self.inner else {
            return Ok(0);
        };
        let count = inner.read(buffer)?;
        if count > 0 || buffer.is_empty() {
            return Ok(count);
        }
        let found = self.inner.take().map(Hashing::finish);
        if found.as_ref() == Some(&self.expected) {
            Ok(0)
        } else {
            let text = "the content is not what its digest says";
            Err(io::Error::new(io::ErrorKind::InvalidData, text))
        }
    }
}
