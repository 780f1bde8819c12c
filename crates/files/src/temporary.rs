//! A file on its way to its name.
//!
//! Its writer holds a `flock` on it for as long as it works, so a leftover of a dead writer can be
//! told from a file that is being written: the lock of a leftover can be taken. Nothing here
//! decides by age, and nothing here is visible under the final name.

use crate::dir::Dir;
use crate::lock::try_flock;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::{Errno, Result};
use rustix::rand::{GetRandomFlags, getrandom};
use std::ffi::OsStr;
use std::fs::File;

const SUFFIX: &str = ".tmp";
const RANDOM_LEN: usize = 16;

/// A name longer than this has no room for the rest of a temporary name in the 255 bytes that
/// filesystems allow.
pub(crate) const LONGEST_NAME: usize = 255 - ".".len() - ".".len() - RANDOM_LEN - SUFFIX.len();

/// A temporary file that this process is writing. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Temporary<'dir> {
    dir: &'dir Dir,
    name: String,
    file: File,
}

/// What became of a temporary file that a sweep met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Removed,
    /// Its writer lives, or it got its name, or another sweep was faster.
    Left,
}

impl<'dir> Temporary<'dir> {
    /// Makes an empty file that will become `target`.
    ///
    /// Between making and locking it a sweep may take it for a leftover; then it is given up and
    /// another one made.
    pub(crate) fn create(dir: &'dir Dir, target: &str) -> Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        loop {
            let name = name_for(target)?;
            let file = rustix::fs::openat(dir, &name, flags, Mode::RUSR | Mode::WUSR)?.into();
            let temporary = Self { dir, name, file };
            if temporary.claim()? {
                return Ok(temporary);
            }
        }
    }

    fn claim(&self) -> Result<bool> {
        Ok(
            try_flock(&self.file, FlockOperation::NonBlockingLockExclusive)?
                && rustix::fs::fstat(&self.file)?.st_nlink > 0,
        )
    }

    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its name, whatever had it before.
    pub(crate) fn rename_over(self, target: &str) -> Result<()> {
        rustix::fs::renameat(self.dir, &self.name, self.dir, target)
    }

    /// Gives the file its name, unless something has it.
    pub(crate) fn rename_new(self, target: &str) -> Result<()> {
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(self.dir, &self.name, self.dir, target, flags) {
            // ZFS before 2.2 cannot rename so. A link refuses a taken name just as well; dropping
            // the temporary name afterwards leaves the new one.
            Err(Errno::INVAL) => {
                rustix::fs::linkat(self.dir, &self.name, self.dir, target, AtFlags::empty())
            }
            done => done,
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // What was renamed is no longer there, and what cannot be removed is left to `sweep`.
        rustix::fs::unlinkat(self.dir, &self.name, AtFlags::empty()).ok();
    }
}

/// Removes the temporary file `name` if nobody is writing it.
pub(crate) fn sweep_one(dir: &Dir, name: &OsStr) -> Result<Fate> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(Fate::Left),
        opened => opened?,
    };
    if !try_flock(&file, FlockOperation::NonBlockingLockExclusive)? {
        return Ok(Fate::Left);
    }
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) => Ok(Fate::Removed),
        Err(Errno::NOENT) => Ok(Fate::Left),
        Err(errno) => Err(errno),
    }
}

/// Whether `name` has the form of a temporary name, `.<name>.<random>.tmp`.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    target_of(name).is_some()
}

/// Whether `name` has the form of a temporary name for `target`.
pub(crate) fn is_temporary_for(name: &OsStr, target: &str) -> bool {
    target_of(name) == Some(target.as_bytes())
}

fn target_of(name: &OsStr) -> Option<&[u8]> {
    let rest = name.as_encoded_bytes().strip_prefix(b".")?;
    let rest = rest.strip_suffix(SUFFIX.as_bytes())?;
    let (target, random) = rest.split_last_chunk::<RANDOM_LEN>()?;
    let target = target.strip_suffix(b".")?;
    let is_random = random.iter().all(u8::is_ascii_hexdigit);
    (is_random && !target.is_empty()).then_some(target)
}

fn name_for(target: &str) -> Result<String> {
    let mut random = [0; RANDOM_LEN / 2];
    getrandom(&mut random, GetRandomFlags::empty())?;
    let random = u64::from_ne_bytes(random);
    Ok(format!(".{target}.{random:016x}{SUFFIX}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_name_is_recognised_and_no_other() {
        assert!(is_temporary(OsStr::new(&name_for("config.toml").unwrap())));
        assert!(is_temporary(OsStr::new(&name_for(".").unwrap())));
        let others = [
            "",
            ".tmp",
            "config.toml",
            ".config.toml.tmp",
            ".config.toml.0123456789abcdeg.tmp",
            ".config.toml.0123456789abcdef",
            "config.toml.0123456789abcdef.tmp",
            "..0123456789abcdef.tmp.tmp",
            ".0123456789abcdef.tmp",
            "..0123456789abcdef.tmp",
        ];
        for other in others {
            assert!(!is_temporary(OsStr::new(other)), "{other}");
        }
    }

    #[test]
    fn the_longest_name_just_fits() {
        let longest = "n".repeat(LONGEST_NAME);
        assert_eq!(name_for(&longest).unwrap().len(), 255);
    }
}
