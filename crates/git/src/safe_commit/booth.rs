//! A booth: a private git directory in which one commit is made.
//!
//! It has its own HEAD and index, and shares everything else with the repository by `commondir`, as
//! the directory of a linked worktree does. Whatever git locks while it works, it locks here; what
//! a killed process leaves here is in nobody's way.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use handoff_core::CommitId;
use handoff_files::{Dir, DirError};
use handoff_process::mint;

use super::intent::{self, Intent};
use super::landing::INDEX_BEFORE;
use super::ref_file::write_synced;
use crate::repository::Repository;
use crate::tree_path::{TreePath, joined, split};

/// Where booths are, in our directory of the common one.
pub(super) const PLACE: &str = "commits";
/// Where those go that cannot be understood.
const ASIDE: &str = "damaged-commits";
const PATHS: &str = "paths";
const MESSAGE: &str = "message";
/// A ref of this git directory alone, for a commit that has no parent to be detached at.
const FIRST: &str = "refs/worktree/first";
/// What belongs to one worktree and says how git works in it.
const SETTINGS: [&str; 2] = ["config.worktree", "info/sparse-checkout"];
/// A list of a million paths fits.
const PATHS_LIMIT: u64 = 256 * 1024 * 1024;

/// A booth could not be made or read.
#[derive(Debug, thiserror::Error)]
pub enum BoothError {
    /// Its directory.
    #[error("cannot make a place for the commit")]
    Directory(#[from] DirError),
    /// One of git's files in it.
    #[error("cannot prepare `{}`", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// What it was for.
    #[error("`{}` is damaged", .0.display())]
    Intent(PathBuf, #[source] serde_json::Error),
}

/// A private git directory for one commit.
#[derive(Debug)]
pub(super) struct Booth {
    dir: Dir,
    fate: Fate,
}

/// What becomes of a booth when nobody needs it any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Nothing was changed outside: it goes.
    Removed,
    /// Something was, and is not finished: the next one who comes finishes it.
    Kept,
}

impl Booth {
    /// Makes one; when this returns, the intent is durable.
    pub(super) fn open(
        at: &Repository,
        intent: &Intent,
        paths: &[TreePath],
    ) -> Result<Self, BoothError> {
        let place = at.own_dir()?.create_dir(PLACE)?;
        let path = place.path().join(mint().simple().to_string());
        fs::create_dir(&path).map_err(|error| BoothError::File(path.clone(), error))?;
        let dir = Dir::open(&path)?;
        let booth = Self {
            dir,
            fate: Fate::Removed,
        };
        booth.write(PATHS, &joined(paths))?;
        booth.write("commondir", &line(at.common_dir().as_os_str().as_bytes()))?;
        booth.write_head(intent.parent.as_ref())?;
        booth.copy_settings(at.git_dir())?;
        booth.link_halves(at.git_dir())?;
        booth.write_intent(intent)?;
        Ok(booth)
    }

    /// It comes last and is synced, before it has its name and with it: the file systems that we support bring the names on the way to it to the disk with it.
    fn write_intent(&self, intent: &Intent) -> Result<(), BoothError> {
        let text = serde_json::to_vec(intent).expect("an intent is plain data");
        let (fresh, file) = (self.file("intent.new"), self.file(intent::FILE));
        let synced = write_synced(&fresh, &text)
            .and_then(|()| fs::rename(&fresh, &file))
            .and_then(|()| fs::File::open(&file))
            .and_then(|open| open.sync_all());
        synced.map_err(|error| BoothError::File(file, error))
    }

    /// One that somebody left.
    pub(super) fn reopen(dir: Dir) -> Self {
        Self {
            dir,
            fate: Fate::Removed,
        }
    }

    /// What it is for; none if it was never finished.
    pub(super) fn intent(&self) -> Result<Option<Intent>, BoothError> {
        let text = match self.dir.read(intent::FILE, intent::LIMIT) {
            Ok(text) => text,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        serde_json::from_slice(&text)
            .map(Some)
            .map_err(|error| BoothError::Intent(self.dir.path().join(intent::FILE), error))
    }

    /// The paths that are committed.
    pub(super) fn paths(&self) -> Result<Vec<TreePath>, BoothError> {
        Ok(split(&self.dir.read(PATHS, PATHS_LIMIT)?))
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Its name, which no other booth ever has.
    pub(super) fn name(&self) -> OsString {
        self.path().file_name().unwrap_or_default().to_owned()
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A file in it, whatever it is for.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, BoothError> {
        let file = self.file(name);
        let made = file.parent().map_or(Ok(()), fs::create_dir_all);
        match made.and_then(|()| fs::write(&file, bytes)) {
            Ok(()) => Ok(file),
            Err(error) => Err(BoothError::File(file, error)),
        }
    }

    pub(super) fn write_message(&self, message: &str) -> Result<PathBuf, BoothError> {
        self.write(MESSAGE, message.as_bytes())
    }

    fn write_head(&self, parent: Option<&CommitId>) -> Result<(), BoothError> {
        let head = match parent {
            Some(parent) => parent.to_string(),
            None => format!("ref: {FIRST}"),
        };
        self.write("HEAD", &line(head.as_bytes()))?;
        Ok(())
    }

    fn copy_settings(&self, git_dir: &Path) -> Result<(), BoothError> {
        for name in SETTINGS {
            match fs::read(git_dir.join(name)) {
                Ok(bytes) => drop(self.write(name, &bytes)?),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(BoothError::File(git_dir.join(name), error)),
            }
        }
        Ok(())
    }

    /// Keeps what the shared index has now. Git replaces an index and never writes into one, so a second name does.
    pub(super) fn keep_index(&self) -> io::Result<()> {
        match fs::hard_link(self.file("index"), self.file(INDEX_BEFORE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// A split index names its other half by a file beside it, which git never changes.
    fn link_halves(&self, git_dir: &Path) -> Result<(), BoothError> {
        let failed = |error| BoothError::File(git_dir.to_owned(), error);
        for entry in fs::read_dir(git_dir).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            if name.as_bytes().starts_with(b"sharedindex.") {
                fs::hard_link(git_dir.join(&name), self.path().join(&name)).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Puts it where nobody looks for booths, for a person to look at.
    pub(super) fn set_aside(mut self, own: &Dir) -> Result<(), BoothError> {
        self.keep();
        let aside = own.create_dir(ASIDE)?.path().join(self.name());
        fs::rename(self.path(), &aside).map_err(|error| BoothError::File(aside, error))
    }

    /// The commit that git made here; none if it did not come to that.
    pub(super) fn commit(&self, parent: Option<&CommitId>) -> Option<CommitId> {
        let file = self.file(if parent.is_some() { "HEAD" } else { FIRST });
        let id: CommitId = fs::read_to_string(file).ok()?.trim_end().parse().ok()?;
        (Some(&id) != parent).then_some(id)
    }

    /// What git wrote into the log of HEAD here, for the log of the HEAD that it stands for.
    pub(super) fn log_line(&self) -> Option<Vec<u8>> {
        let log = fs::read(self.file("logs/HEAD")).ok()?;
        let line = log
            .strip_suffix(b"\n")?
            .rsplit(|&byte| byte == b'\n')
            .next()?;
        Some([line, b"\n"].concat())
    }

    /// What that line says happened.
    pub(super) fn log_message(&self) -> String {
        let line = self.log_line().unwrap_or_default();
        let text = String::from_utf8_lossy(&line);
        let message = text.trim_end().split_once('\t').map(|(_, message)| message);
        message.unwrap_or("commit").to_owned()
    }

    /// From here on, what is begun outside must be finished.
    pub(super) fn keep(&mut self) {
        self.fate = Fate::Kept;
    }

    /// Nothing outside was changed after all.
    pub(super) fn forget(&mut self) {
        self.fate = Fate::Removed;
    }

    /// All is done.
    pub(super) fn close(mut self) {
        self.forget();
    }
}

impl Drop for Booth {
    fn drop(&mut self) {
        if self.fate == Fate::Removed {
            // The intent goes first: without it, what is left is nobody's unfinished work.
            fs::remove_file(self.file(intent::FILE)).ok();
            fs::remove_dir_all(self.dir.path()).ok();
        }
    }
}

fn line(bytes: &[u8]) -> Vec<u8> {
    [bytes, b"\n"].concat()
}
