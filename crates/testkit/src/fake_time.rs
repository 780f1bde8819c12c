//! A wall clock under the test's control, by libfaketime. Monotonic clocks stay real.
//!
//! Works on programs that call the C library dynamically, as Rust's do on Linux.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Prefix;

/// An offset of the wall clock that running programs follow.
#[derive(Debug)]
pub struct FakeTime {
    file: PathBuf,
    library: PathBuf,
}

impl FakeTime {
    /// A clock that agrees with the real one until it is shifted. The offset is kept in
    /// `directory`, which must outlive the programs.
    ///
    /// # Panics
    /// When libfaketime is not installed: ask for [`Need::Faketime`](crate::Need) first.
    pub fn new(directory: impl AsRef<Path>) -> Self {
        let library = library().expect("the Debian package `faketime` is installed");
        let clock = Self {
            file: directory.as_ref().join("faketime"),
            library,
        };
        clock.shift(0);
        clock
    }

    /// Puts the clock this many seconds ahead of the real one, or behind it.
    ///
    /// # Panics
    /// When the directory cannot be written.
    pub fn shift(&self, seconds: i64) {
        // By rename, so that a program never reads half a number.
        let new = self.file.with_extension("new");
        fs::write(&new, format!("{seconds:+}")).expect("the directory is writable");
        fs::rename(&new, &self.file).expect("both names are in one directory");
    }

    /// Words that run a program by this clock.
    #[must_use]
    pub fn prefix(&self) -> Prefix {
        let assign = |name: &str, path: &Path| {
            let mut word = OsString::from(name);
            word.push(path);
            word
        };
        Prefix::of([
            OsString::from("env"),
            assign("LD_PRELOAD=", &self.library),
            assign("FAKETIME_TIMESTAMP_FILE=", &self.file),
            OsString::from("FAKETIME_NO_CACHE=1"),
            OsString::from("FAKETIME_DONT_FAKE_MONOTONIC=1"),
        ])
    }
}

/// Debian keeps it in the directory of the machine's architecture.
pub(crate) fn library() -> Option<PathBuf> {
    let architectures = fs::read_dir("/usr/lib").ok()?;
    architectures
        .flatten()
        .map(|entry| entry.path().join("faketime/libfaketime.so.1"))
        .find(|library| library.is_file())
}
