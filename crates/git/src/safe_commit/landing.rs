//! The commit lands: the branch moves, and then the shared index for these paths.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use handoff_core::CommitId;

use super::booth::Booth;
use super::intent::Content;
use super::publishing::Offer;
use super::ref_file::{self, Forward};
use super::syncing;
use super::{COMMIT_VARIABLE, Prepared, SafeCommitError, merge, repair};
use crate::git::{Git, GitError};
use crate::kept_pack::KeptPack;
use crate::ref_watch::Phase;
use crate::repository::Repository;
use crate::tree_path::TreePath;

/// A commit that was made.
#[derive(Debug)]
pub struct Made {
    /// Its id.
    pub commit: CommitId,
    /// What it stands on; none if it is the first.
    pub parent: Option<CommitId>,
    /// The full name of the branch that has it now; none if HEAD is detached.
    pub branch: Option<String>,
    /// The declared paths that had changed.
    pub paths: Vec<TreePath>,
    /// What the hooks said.
    pub said: String,
    /// Whether the index of the tree knows.
    pub index: IndexState,
    has_post_commit: bool,
}

/// A commit that has landed. What is still to be done, nobody needs to wait for with the lock.
#[derive(Debug)]
#[must_use = "it may be lost again at a power cut"]
pub struct Landed {
    made: Made,
    booth: Booth,
    /// Their names must be on the disk before anybody is told; what is in them is.
    renamed: [PathBuf; 2],
    /// What these were before, held open because the file system gives back the room of a file when nobody has it any more:
    /// where it tells the disk, that takes as long as a sync.
    displaced: Vec<fs::File>,
    kept: Option<KeptPack>,
}

impl Landed {
    /// Brings the names to stable storage and clears away: what a repair needs goes after what it would repair.
    pub fn settle(self) -> (Made, io::Result<()>) {
        let Self {
            made,
            booth,
            renamed,
            displaced,
            kept,
        } = self;
        drop((displaced, kept));
        let directories: BTreeSet<_> = renamed
            .iter()
            .filter_map(|file| Some(file.parent()?.to_owned()))
            .collect();
        let directories: Vec<_> = directories.into_iter().collect();
        let synced = syncing::sync_together(&directories);
        match made.index {
            IndexState::Current => booth.close(),
            IndexState::Behind => drop(booth),
        }
        (made, synced)
    }
}

/// Whether the index of a tree knows of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexState {
    /// It does.
    Current,
    /// Another git has it locked; the next handoff command that changes things catches up.
    Behind,
}

impl Prepared<'_> {
    /// What the hooks said so far.
    #[must_use]
    pub fn said(&self) -> &str {
        &self.said
    }

    /// The full name of the branch that it is going to move; none if HEAD is detached.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        self.intent.branch.as_deref()
    }

    /// Makes it the branch's newest commit.
    pub fn land(mut self) -> Result<Landed, SafeCommitError> {
        let offer = self
            .sync()
            .map_err(|error| SafeCommitError::Sync(self.booth.path().to_owned(), error))?;
        self.booth.keep();
        let renamed = self.renamed();
        let displaced = renamed.iter().filter_map(|it| fs::File::open(it).ok());
        let displaced = displaced.collect();
        self.note(Phase::Prepared);
        match self.forward() {
            Ok(Forward::Done) => {}
            Ok(Forward::Elsewhere) => {
                self.booth.forget();
                return Err(SafeCommitError::HeadMoved);
            }
            Ok(Forward::Unusual) => {
                if let Err(error) = self.move_ref() {
                    return Err(self.not_moved(error));
                }
            }
            Err(error) => return Err(SafeCommitError::Index(self.at.common_dir().into(), error)),
        }
        self.note(Phase::Committed);
        let root = self.at.git_dir();
        if self.intent.branch.is_some() {
            log_head(&self.booth, root);
        }
        if self.intent.content == Content::Merge {
            merge::forget(root);
        }
        // The commit is made; what kept us here is tried again by whoever comes next.
        let index = self.publish(offer).unwrap_or(IndexState::Behind);
        // The commit is made, and what is left is a message.
        self.git.forget_squashed(self.at).ok();
        let has_post_commit = self.wrapped.post_commit.is_some();
        let Self {
            booth,
            intent,
            commit,
            changed,
            said,
            kept,
            ..
        } = self;
        let made = Made {
            commit,
            parent: intent.parent,
            branch: intent.branch,
            paths: changed,
            said,
            index,
            has_post_commit,
        };
        Ok(Landed {
            made,
            booth,
            renamed,
            displaced,
            kept,
        })
    }

    /// What gets a new file under its name: the ref and the index.
    fn renamed(&self) -> [PathBuf; 2] {
        let git_dir = self.at.git_dir();
        let ref_file = match &self.intent.branch {
            Some(branch) => self.at.common_dir().join(branch),
            None => git_dir.join("HEAD"),
        };
        [ref_file, git_dir.join("index")]
    }

    /// Brings to stable storage what is about to get a name outside: the objects, the new ref and the new index. What would
    /// repair it is there.
    fn sync(&self) -> io::Result<Option<Offer>> {
        let copy = self.booth.file(ref_file::COPY);
        fs::write(&copy, format!("{}\n", self.commit))?;
        let offer = self.offer()?;
        let index = offer.map(|it| self.booth.file(it.name));
        let objects = self.objects()?;
        let kept = self.kept.iter().flat_map(KeptPack::files).cloned();
        let late = objects.into_iter().chain(index).chain(kept);
        let late: Vec<_> = late.chain([copy]).collect();
        syncing::sync_together(&late)?;
        Ok(offer)
    }

    /// Our own hook does not run here, so the move is written down by ourselves.
    fn note(&self, phase: Phase) {
        let moved = repair::landing_of(&self.intent, &self.commit);
        // Not written down it would be told as foreign, and be seen to be none by its trailers.
        self.at.note_moves(phase, &[moved]).ok();
    }

    /// Without git, where nothing is unusual about the branch and no hook wants to know.
    fn forward(&self) -> io::Result<Forward> {
        match (&self.intent.branch, &self.intent.parent) {
            (Some(branch), Some(parent)) if !self.wrapped.landing.exists() => {
                ref_file::forward(self.at, &self.booth, branch, parent)
            }
            _ => Ok(Forward::Unusual),
        }
    }

    fn move_ref(&self) -> Result<(), GitError> {
        let at = self.at.any_place();
        let nothing = "0".repeat(self.commit.as_str().len());
        let expected = self.intent.parent.as_ref();
        let ids = [
            self.commit.as_str(),
            expected.map_or(nothing.as_str(), CommitId::as_str),
        ];
        let call = self
            .git
            .user_call("update-ref", at)
            .hooks_path(&self.wrapped.landing)
            .variable(COMMIT_VARIABLE, self.booth.name());
        let message = self.booth.log_message();
        let call = match &self.intent.branch {
            // In the booth HEAD is detached, so that git locks this one ref and nothing else.
            Some(branch) => call.git_dir(self.booth.path(), self.at.tree()?).arguments([
                "-m",
                &message,
                "--end-of-options",
                branch,
            ]),
            None => call.arguments(["--no-deref", "-m", &message, "--end-of-options", "HEAD"]),
        };
        call.arguments(ids).run().map(drop)
    }

    /// Nothing moved, or somebody else did it.
    fn not_moved(mut self, error: GitError) -> SafeCommitError {
        repair::unlock_ref(self.at, &self.booth, &self.intent).ok();
        let found = match &self.intent.branch {
            Some(branch) => self.at.read_ref(branch),
            None => self.at.read_head().map(|head| head.commit),
        };
        let Ok(found) = found else {
            // Whether it moved is not known; the one who comes next looks again.
            return SafeCommitError::Land(error);
        };
        if found.as_ref() == Some(&self.commit) {
            return SafeCommitError::Land(error);
        }
        self.booth.forget();
        if found == self.intent.parent {
            SafeCommitError::Land(error)
        } else {
            SafeCommitError::HeadMoved
        }
    }
}

impl Git {
    /// The one hook whose time is after the commit. What it says changes nothing any more. It runs without the lock, because
    /// it may want to commit itself.
    pub fn run_post_commit(&self, at: &Repository, made: &Made) {
        if !made.has_post_commit {
            return;
        }
        let call = self.user_call("hook", at.any_place());
        let call = call.arguments(["run", "--ignore-missing", "post-commit"]);
        call.run_aloud().ok();
    }
}

/// Git logs what happens to HEAD; here it happened to the booth's.
pub(super) fn log_head(booth: &Booth, git_dir: &Path) {
    let log = git_dir.join("logs/HEAD");
    let Some(line) = booth.log_line() else { return };
    // A log that is not there is not wanted, and one that cannot be written is no reason to fail.
    let Ok(mut log) = fs::OpenOptions::new().read(true).append(true).open(log) else {
        return;
    };
    let is_there = ends_with(&log, &line).unwrap_or(false);
    if !is_there {
        log.write_all(&line).ok();
    }
}

/// Without reading all of it: a log is as long as the repository's past.
fn ends_with(log: &fs::File, line: &[u8]) -> io::Result<bool> {
    let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
    let Some(start) = log.metadata()?.len().checked_sub(length) else {
        return Ok(false);
    };
    let mut end = vec![0; line.len()];
    log.read_exact_at(&mut end, start)?;
    Ok(end == line)
}

#[cfg(test)]
mod tests {
    use handoff_testkit::TestEnv;

    use super::*;

    #[test]
    fn the_end_of_a_log_is_known_however_long_it_is() {
        let env = TestEnv::without_binary();
        let file = env.work().join("log");
        let mut options = fs::OpenOptions::new();
        options.read(true).append(true).create(true);
        let mut log = options.open(file).unwrap();
        assert!(!ends_with(&log, b"line\n").unwrap());
        log.write_all(b"line\n").unwrap();
        assert!(ends_with(&log, b"line\n").unwrap());
        assert!(!ends_with(&log, b"a line\n").unwrap());
        log.write_all(b"another line\n").unwrap();
        assert!(ends_with(&log, b"line\n").unwrap());
        log.write_all(b"last\n").unwrap();
        assert!(!ends_with(&log, b"line\n").unwrap());
    }
}
