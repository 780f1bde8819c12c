//! A lock that the kernel holds: it ends when its holder releases it or dies, and never by age.
//!
//! A [`Lock`] is `flock` on a file opened close-on-exec, so a program the holder starts does not
//! keep it. A child that is forked and does not exec shares it, and so must not be made while one
//! is held. Breaking a live holder's lock is impossible here; that is a decision for a person.
//!
//! # The bell
//!
//! The file is opened **for writing** and closed on release, so every release makes the kernel
//! fire `IN_CLOSE_WRITE` on it, also when the holder is killed. The store watches its lock file
//! with [`crate::watch::Watch`] as the bell that says "something may have changed". Therefore:
//!
//! - Probes open the file read-only, and a refused [`Lock::try_acquire`] does too: neither rings.
//! - Whoever answers the bell by taking the same lock rings it again. Look without the lock first.
//! - The bell never means "free": closing the file of a killed holder, the kernel notifies first
//!   and unlocks after. To wait for the lock itself, [`Lock::acquire`].
//!
//! # Who holds it
//!
//! The holder signs the file with its process id and a label. That is for people to read: nothing
//! is decided by it, and nobody is signalled by it. Only its holder may remove the file of a lock.
//!
//! Beneath its signature a holder may keep a note, for whoever looks at many locks and would have to
//! ask each holder otherwise. A note ends with the lock, is overwritten in place, and is found whole
//! or not at all.

use crate::failure::{self, at};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use std::io;
use std::path::{Path, PathBuf};

/// A held lock. Dropping it releases it.
#[derive(Debug)]
#[must_use = "a lock that is dropped is released"]
pub struct Lock {
    file: OwnedFd,
}

/// Who says that it holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// To be shown, never to be signalled: the number may belong to a stranger by now.
    pub pid: u32,
    pub label: String,
}

/// A lock that somebody holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Nobody, if it has not signed yet.
    pub holder: Option<Holder>,
    /// What it says, if it says anything.
    pub note: Option<String>,
}

/// A lock could not be taken, or not be looked at. Somebody else holding it is no error.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("cannot open the lock `{0}`")]
    Open(PathBuf, #[source] io::Error),
    #[error("cannot take the lock `{0}`")]
    Take(PathBuf, #[source] io::Error),
    #[error("cannot look at the lock `{0}`")]
    Look(PathBuf, #[source] io::Error),
}

/// One `pwrite` of one size, so that a reader finds no mixture of two holders.
const SIGNATURE_LEN: usize = 128;
/// The same for a note, which follows the signature.
const NOTE_LEN: usize = 128;
/// A sum in hexadecimal digits and a blank stand before a note, a line's end after it.
const SUM_LEN: usize = 9;

/// Rounds in which only probes were in the way, about a second's worth. A probe lasts microseconds
/// on a processor, but a busy machine may take it off the processor in the middle: 10,000 rounds
/// were too few for that. Only one that is stopped there outlasts them all.
const PATIENCE: u32 = 1_000_000;

impl Lock {
    /// Waits until the lock is free and takes it.
    pub fn acquire(path: &Path, label: &str) -> Result<Self, LockError> {
        loop {
            let file = open_writable(path)?;
            retry_on_intr(|| rustix::fs::flock(&file, FlockOperation::LockExclusive))
                .map_err(at(path, LockError::Take))?;
            if is_named(path, &file)? {
                return Ok(Self::sign(file, label));
            }
        }
    }

    /// Takes the lock if it is free, without waiting.
    pub fn try_acquire(path: &Path, label: &str) -> Result<Option<Self>, LockError> {
        loop {
            if Self::is_held(path)? {
                return Ok(None);
            }
            let file = open_writable(path)?;
            if !take_now(&file).map_err(at(path, LockError::Take))? {
                return Ok(None);
            }
            if is_named(path, &file)? {
                return Ok(Some(Self::sign(file, label)));
            }
        }
    }

    /// Whether somebody holds the lock. A lock file that does not exist is not held.
    pub fn is_held(path: &Path) -> Result<bool, LockError> {
        Ok(open_held(path)?.is_some())
    }

    /// Who holds the lock; nobody if it is free, or held by one who has not signed yet.
    pub fn holder(path: &Path) -> Result<Option<Holder>, LockError> {
        Ok(Self::look(path)?.and_then(|held| held.holder))
    }

    /// Who holds the lock, and what it says; nothing if it is free.
    pub fn look(path: &Path) -> Result<Option<Held>, LockError> {
        let Some(file) = open_held(path)? else {
            return Ok(None);
        };
        let mut text = [0; SIGNATURE_LEN + NOTE_LEN];
        let length = retry_on_intr(|| rustix::io::pread(&file, &mut text, 0))
            .map_err(at(path, LockError::Look))?;
        let (signature, note) = text[..length].split_at(length.min(SIGNATURE_LEN));
        Ok(Some(Held {
            holder: Holder::parse(signature),
            note: parse_note(note),
        }))
    }

    /// Says something on one line to whoever looks at the lock, in place of what was said before. If
    /// that fails, nothing is said any more: better than what is no longer true.
    pub fn note(&self, text: &str) -> io::Result<()> {
        let note = to_note(text).ok_or(io::ErrorKind::InvalidInput)?;
        let place = u64::try_from(SIGNATURE_LEN).expect("a signature is short");
        rustix::io::pwrite(&self.file, &note, place).inspect_err(|_| {
            // A disk that is full lets a file be cut all the same.
            rustix::fs::ftruncate(&self.file, place).ok();
        })?;
        Ok(())
    }

    /// Gives the lock back, as dropping it does.
    pub fn release(self) {}

    fn sign(file: OwnedFd, label: &str) -> Self {
        let signature = Holder {
            pid: std::process::id(),
            label: label.to_owned(),
        }
        .to_signature();
        // A full disk must not keep anybody from taking a lock: the signature is for show. What the
        // one before said does not count any more.
        let whole = [signature, [b' '; NOTE_LEN]].concat();
        rustix::io::pwrite(&file, &whole, 0).ok();
        Self { file }
    }
}

impl Drop for Lock {
    /// Unlocks before it closes: a thread of ours that is between fork and exec has a copy of
    /// the descriptor, and closing alone would leave the lock with that copy.
    fn drop(&mut self) {
        // Closing follows whatever this says, and closing releases too.
        rustix::fs::flock(&self.file, FlockOperation::Unlock).ok();
    }
}

impl Holder {
    fn to_signature(&self) -> [u8; SIGNATURE_LEN] {
        let mut signature = [b' '; SIGNATURE_LEN];
        signature[SIGNATURE_LEN - 1] = b'\n';
        let label = self.label.replace(char::is_control, " ");
        let text = format!("{} {label}", self.pid);
        let length = text.floor_char_boundary(SIGNATURE_LEN - 1);
        signature[..length].copy_from_slice(&text.as_bytes()[..length]);
        signature
    }

    fn parse(signature: &[u8]) -> Option<Self> {
        let text = str::from_utf8(signature).ok()?;
        let (pid, label) = text.split_once(' ')?;
        Some(Self {
            pid: pid.parse().ok()?,
            label: label.trim_end().to_owned(),
        })
    }
}

fn to_note(text: &str) -> Option<[u8; NOTE_LEN]> {
    let is_line = !text.is_empty() && !text.contains(char::is_control);
    let line = format!("{:08x} {text}", sum(text.as_bytes()));
    if !is_line || line.len() >= NOTE_LEN {
        return None;
    }
    let mut note = [b' '; NOTE_LEN];
    note[NOTE_LEN - 1] = b'\n';
    note[..line.len()].copy_from_slice(line.as_bytes());
    Some(note)
}

/// A file is read while it is written, and may then be a mixture of two notes: the sum shows that.
fn parse_note(note: &[u8]) -> Option<String> {
    let line = str::from_utf8(note).ok()?.trim_end();
    let (digits, text) = line.split_at_checked(SUM_LEN)?;
    let said = u32::from_str_radix(digits.trim_end(), 16).ok()?;
    (said == sum(text.as_bytes())).then(|| text.to_owned())
}

/// FNV-1a: what is short and changed by nobody needs no better one.
fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| {
        (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

fn open_writable(path: &Path) -> Result<OwnedFd, LockError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).map_err(at(path, LockError::Open))
}

/// The lock file, if somebody holds it.
///
/// `flock` cannot be asked, only tried, so a probe has the lock for a moment. It takes it shared:
/// probes do not see each other, and [`take_now`] tells them from a holder.
fn open_held(path: &Path) -> Result<Option<OwnedFd>, LockError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened.map_err(at(path, LockError::Open))?,
    };
    let is_free = try_flock(&file, FlockOperation::NonBlockingLockShared)
        .map_err(at(path, LockError::Look))?;
    Ok((!is_free).then_some(file))
}

/// Takes the lock unless somebody *holds* it. Where the exclusive lock is refused and the shared
/// one is not, only probes were in the way, and they are gone at the next try.
fn take_now(file: &OwnedFd) -> Result<bool, Errno> {
    for _ in 0..PATIENCE {
        if try_flock(file, FlockOperation::NonBlockingLockExclusive)? {
            return Ok(true);
        }
        if !try_flock(file, FlockOperation::NonBlockingLockShared)? {
            return Ok(false);
        }
        std::thread::yield_now();
    }
    Ok(false)
}

/// Whether a non-blocking `operation` was granted.
pub(crate) fn try_flock(file: impl AsFd, operation: FlockOperation) -> Result<bool, Errno> {
    match retry_on_intr(|| rustix::fs::flock(&file, operation)) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Whether `path` still names the file that was locked. If somebody removed it meanwhile, the
/// next comer locks another file, and both would be inside.
fn is_named(path: &Path, file: &OwnedFd) -> Result<bool, LockError> {
    let locked = rustix::fs::fstat(file).map_err(at(path, LockError::Look))?;
    match rustix::fs::lstat(path) {
        Ok(named) => Ok((named.st_dev, named.st_ino) == (locked.st_dev, locked.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(at(path, LockError::Look)(errno)),
    }
}

impl LockError {
    /// Whether the lock file could not be made because the disk or the quota is full.
    #[must_use]
    pub fn is_out_of_space(&self) -> bool {
        match self {
            Self::Open(_, source) | Self::Take(_, source) | Self::Look(_, source) => {
                failure::is_out_of_space(source)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(label: &str) -> Option<Holder> {
        let holder = Holder {
            pid: u32::MAX,
            label: label.to_owned(),
        };
        Holder::parse(&holder.to_signature())
    }

    fn signed(label: &str) -> Option<Holder> {
        Some(Holder {
            pid: u32::MAX,
            label: label.to_owned(),
        })
    }

    #[test]
    fn a_copy_of_the_descriptor_does_not_keep_a_released_lock() {
        let place = tempfile::TempDir::new().unwrap();
        let path = place.path().join("lock");
        let lock = Lock::acquire(&path, "").unwrap();
        let copy = lock.file.try_clone().unwrap();
        lock.release();
        assert!(!Lock::is_held(&path).unwrap(), "{copy:?}");
    }

    #[test]
    fn a_signature_reads_back_on_one_line_and_cut_between_characters() {
        assert_eq!(read_back("worker 3"), signed("worker 3"));
        assert_eq!(read_back(""), signed(""));
        assert_eq!(read_back("two\nlines"), signed("two lines"));
        assert_eq!(read_back(&"ä".repeat(100)), signed(&"ä".repeat(58)));
    }

    #[test]
    fn a_note_is_one_line_that_reads_back_whole_or_not_at_all() {
        let (one, other) = (to_note("prompt").unwrap(), to_note("busy 1").unwrap());
        assert_eq!(parse_note(&one), Some("prompt".to_owned()));
        for cut in 1..NOTE_LEN {
            let mixed = [&one[..cut], &other[cut..]].concat();
            let read = parse_note(&mixed);
            let is_one = [None, Some("prompt"), Some("busy 1")].contains(&read.as_deref());
            assert!(is_one, "{read:?}");
            assert!([None, Some("prompt")].contains(&parse_note(&one[..cut]).as_deref()));
        }
        assert_eq!(parse_note(&[b' '; NOTE_LEN]), None);
        assert_eq!(parse_note(b""), None);
        assert_eq!(to_note("two\nlines"), None);
        assert_eq!(to_note(""), None);
        assert_eq!(to_note(&"x".repeat(NOTE_LEN - SUM_LEN)), None);
        assert!(to_note(&"x".repeat(NOTE_LEN - SUM_LEN - 1)).is_some());
    }

    #[test]
    fn what_nobody_signed_names_nobody() {
        assert_eq!(Holder::parse(b""), None);
        assert_eq!(Holder::parse(b"\n"), None);
        assert_eq!(Holder::parse(b"someone else"), None);
        assert_eq!(Holder::parse(&[0; SIGNATURE_LEN]), None);
    }
}
