//! What a tab leaves for its stand-in: two files in the directory of the session, each written in one step.

use std::path::{Path, PathBuf};

use handoff_files::{Dir, DirError, Mode, atomic};
use handoff_operations::Failure;
use handoff_session::last_word::LastWord;

/// It is another one with each sign.
const BEAT: &str = "tab.beat";
const WORD: &str = "tab.word";
/// A summary and a result.
const LONGEST: u64 = 16 * 1024 * 1024;

/// The marks of one session.
pub(super) struct Marks {
    directory: PathBuf,
}

impl Marks {
    pub(super) fn in_directory(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Those of the session that this file belongs to.
    pub(super) fn beside(file: &Path) -> Result<Self, Failure> {
        let directory = file.parent().map(Path::to_owned);
        directory
            .map(Self::in_directory)
            .ok_or_else(|| Failure::failed("the session has no directory"))
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn beat(&self) -> Result<Option<Vec<u8>>, Failure> {
        self.read(BEAT)
    }

    pub(super) fn word(&self) -> Result<Option<LastWord>, Failure> {
        let read = |bytes: Vec<u8>| {
            serde_json::from_slice(&bytes)
                .map_err(|error| Failure::failed("cannot read what the tab said").because(&error))
        };
        self.read(WORD)?.map(read).transpose()
    }

    pub(super) fn give_sign(&self) -> Result<(), Failure> {
        self.write(BEAT, handoff_process::mint().as_bytes())
    }

    pub(super) fn say(&self, word: &LastWord) -> Result<(), Failure> {
        let bytes = serde_json::to_vec(word).expect("texts are JSON");
        self.write(WORD, &bytes)
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        match Dir::open(&self.directory).and_then(|dir| dir.read(name, LONGEST)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(unusable(&error)),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let dir = Dir::open(&self.directory).map_err(|error| unusable(&error))?;
        atomic::replace(&dir, name, bytes, Mode::Private)
            .map_err(|error| Failure::failed("cannot tell the session").because(&error))
    }
}

fn unusable(error: &DirError) -> Failure {
    Failure::failed("cannot look into the directory of the session").because(error)
}
