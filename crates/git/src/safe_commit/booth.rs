//! A booth: a private git directory in which one commit is made.
//!
//! It has its own HEAD and index, and shares everything else with the repository by `commondir`, as
//! the directory of a linked worktree does. Whatever git locks while it works, it locks here; what
//! a killed process leaves here is in nobody's way.
//!
//! Its owner holds a lock in it, from before it is their turn to commit until after it: what can be done without the
//! repository's lock is done without it. A booth whose lock is free belongs to a dead one.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use handoff_core::CommitId;
use handoff_files::{Dir, DirError, Lock, LockError};
use handoff_process::mint;

use super::intent::{self, Intent};
use super::publishing::{INDEX, INDEX_BEFORE};
use super::ref_file;
use crate::repository::Repository;
use crate::tree_path::{TreePath, joined, split};

/// Where booths are, in our directory of the common one.
pub(super) const PLACE: &str = "commits";
/// Where those go that cannot be understood.
const ASIDE: &str = "damaged-commits";
const PATHS: &str = "paths";
const MESSAGE: &str = "message";
const OWNER: &str = "owner";
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
    /// The lock in it.
    #[error("cannot take a place for the commit")]
    Lock(#[from] LockError),
    /// What it was for.
    #[error("`{}` is damaged", .0.display())]
    Intent(PathBuf, #[source] serde_json::Error),
}

/// A private git directory for one commit.
#[derive(Debug)]
pub(super) struct Booth {
    dir: Dir,
    fate: Fate,
    /// Let go last, when the directory is gone.
    _owner: Option<Lock>,
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
    /// Makes one, before or after it is one's turn.
    pub(super) fn open(
        at: &Repository,
        paths: &[TreePath],
        message: &str,
    ) -> Result<Self, BoothError> {
        let place = at.own_dir()?.create_dir(PLACE)?;
        let booth = Self::claim(&place)?;
        booth.write(PATHS, &joined(paths))?;
        booth.write(MESSAGE, message.as_bytes())?;
        booth.write("commondir", &line(at.common_dir().as_os_str().as_bytes()))?;
        Ok(booth)
    }

    /// An empty one. Somebody who clears away may find it before it is locked; then it is theirs, and we make another.
    fn claim(place: &Dir) -> Result<Self, BoothError> {
        loop {
            let path = place.path().join(mint().simple().to_string());
            fs::create_dir(&path).map_err(|error| BoothError::File(path.clone(), error))?;
            match try_own(&path)? {
                Ownership::Ours(owner) => {
                    return Ok(Self {
                        dir: Dir::open(&path)?,
                        fate: Fate::Removed,
                        _owner: Some(owner),
                    });
                }
                Ownership::Theirs | Ownership::Gone => {}
            }
        }
    }

    /// Begins the commit: from here on it is known what it stands on.
    pub(super) fn begin(&self, at: &Repository, intent: &Intent) -> Result<(), BoothError> {
        self.write_head(intent.parent.as_ref())?;
        self.copy_settings(at.git_dir())?;
        self.link_halves(at.git_dir())?;
        self.write_intent(intent)
    }

    /// What a repair needs: it must be on stable storage before anything outside changes.
    pub(super) fn needed(&self) -> [PathBuf; 3] {
        [PATHS, intent::FILE, INDEX_BEFORE].map(|name| self.file(name))
    }

    /// A file as old as the commit's beginning: nothing that belongs to it is older.
    pub(super) fn begun(&self) -> PathBuf {
        self.file(intent::FILE)
    }

    /// It has its name when it is whole.
    fn write_intent(&self, intent: &Intent) -> Result<(), BoothError> {
        let text = serde_json::to_vec(intent).expect("an intent is plain data");
        let fresh = self.write("intent.new", &text)?;
        let file = self.file(intent::FILE);
        fs::rename(&fresh, &file).map_err(|error| BoothError::File(file, error))
    }

    /// One that somebody left; none if they are still there.
    pub(super) fn take_over(dir: Dir) -> Result<Option<Self>, BoothError> {
        match try_own(dir.path())? {
            Ownership::Ours(owner) => Ok(Some(Self {
                dir,
                fate: Fate::Removed,
                _owner: Some(owner),
            })),
            Ownership::Theirs | Ownership::Gone => Ok(None),
        }
    }

    /// One that belongs to somebody else, to be looked at.
    pub(super) fn visit(dir: Dir) -> Self {
        Self {
            dir,
            fate: Fate::Kept,
            _owner: None,
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
        let written = match fs::write(&file, bytes) {
            // Few are further down, and looking for the directory each time costs more than all the others.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = file.parent().map_or(Ok(()), fs::create_dir_all);
                made.and_then(|()| fs::write(&file, bytes))
            }
            written => written,
        };
        match written {
            Ok(()) => Ok(file),
            Err(error) => Err(BoothError::File(file, error)),
        }
    }

    pub(super) fn message(&self) -> PathBuf {
        self.file(MESSAGE)
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
        match fs::hard_link(self.file(INDEX), self.file(INDEX_BEFORE)) {
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

    /// The commit that git made here; none if it did not come to that. Git does not wait for the disk: after a power cut its own
    /// word may be gone, and what was about to be the ref is not.
    pub(super) fn commit(&self, parent: Option<&CommitId>) -> Option<CommitId> {
        let own = if parent.is_some() { "HEAD" } else { FIRST };
        let read = |name| -> Option<CommitId> {
            let text = fs::read_to_string(self.file(name)).ok()?;
            text.trim_end().parse().ok()
        };
        let id = read(own).or_else(|| read(ref_file::COPY))?;
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

enum Ownership {
    Ours(Lock),
    Theirs,
    Gone,
}

fn try_own(booth: &Path) -> Result<Ownership, BoothError> {
    match Lock::try_acquire(&booth.join(OWNER), "commit") {
        Ok(Some(lock)) => Ok(Ownership::Ours(lock)),
        Ok(None) => Ok(Ownership::Theirs),
        // Its owner, or somebody who clears away, has just removed it.
        Err(_) if !booth.exists() => Ok(Ownership::Gone),
        Err(error) => Err(error.into()),
    }
}

/// Whether somebody alive has the booth of this directory.
pub(super) fn is_owned(booth: &Path) -> bool {
    Lock::is_held(&booth.join(OWNER)).unwrap_or(false)
}

fn line(bytes: &[u8]) -> Vec<u8> {
    [bytes, b"\n"].concat()
}
