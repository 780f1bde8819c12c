//! The shared index learns of a commit: it gets the entries of the paths that were committed, and no other.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use handoff_core::CommitId;

use super::Prepared;
use super::booth::Booth;
use super::graft::Graft;
use super::landing::IndexState;
use super::shared_index::{SharedIndex, Stamp, Swap, remove};
use crate::change::Difference;
use crate::git::{Git, GitError};
use crate::repository::Repository;

/// The index of a booth: the shared one as it was when the commit was begun, and after the commit that with its paths.
pub(super) const INDEX: &str = "index";
/// A second copy of the shared index, when the first is of no use.
pub(super) const NEXT_INDEX: &str = "index.next";
/// The shared index as it was when the commit was begun.
pub(super) const INDEX_BEFORE: &str = "index.before";

/// What an index has where it differs from a commit: mode and object, by path.
pub(super) type IndexEntries = BTreeMap<Vec<u8>, (String, String)>;

/// A file in the booth that may become the shared index, as long as that has this stamp.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offer {
    pub(super) name: &'static str,
    stamp: Stamp,
}

/// Why the shared index could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// Git failed.
    #[error("cannot bring the index up to date")]
    Git(#[from] GitError),
    /// A file failed.
    #[error("cannot replace the index")]
    File(#[from] io::Error),
}

impl Prepared<'_> {
    /// What can become the shared index: the booth's own if nobody wrote that meanwhile, and otherwise a graft. None if
    /// git has to put it together.
    pub(super) fn offer(&self) -> io::Result<Option<Offer>> {
        let Some(stamp) = self.fresh else {
            return Ok(None);
        };
        if SharedIndex::of(self.at.git_dir()).stamp()? == stamp {
            return Ok(Some(Offer { name: INDEX, stamp }));
        }
        self.graft()
    }

    /// It is as old as the older of the two it is made of: a file that was changed in the same tick of the clock, and kept its
    /// size, is looked into by git only because of that.
    fn graft(&self) -> io::Result<Option<Offer>> {
        let Some((shared, metadata)) = SharedIndex::of(self.at.git_dir()).read()? else {
            return Ok(None);
        };
        let (before, after) = (self.booth.file(INDEX_BEFORE), self.booth.file(INDEX));
        if self.at.has_long_ids() || !before.exists() {
            return Ok(None);
        }
        let written_at = metadata.modified()?.min(after.metadata()?.modified()?);
        let graft = Graft {
            shared: &shared,
            before: &fs::read(before)?,
            after: &fs::read(after)?,
        };
        let Some(grown) = graft.grown(&self.changed) else {
            return Ok(None);
        };
        let next = self.booth.file(NEXT_INDEX);
        remove(&next)?;
        let mut file = fs::File::create_new(next)?;
        file.write_all(&grown)?;
        file.set_modified(written_at)?;
        Ok(Some(Offer {
            name: NEXT_INDEX,
            stamp: Stamp::from(&metadata),
        }))
    }

    /// Makes the shared index agree with the commit on its paths. What is offered is synced.
    pub(super) fn publish(&self, mut offer: Option<Offer>) -> Result<IndexState, PublishError> {
        let shared = SharedIndex::of(self.at.git_dir());
        while let Some(Offer { name, stamp }) = offer {
            match shared.swap(&self.booth.file(name), stamp)? {
                Swap::Done => return Ok(IndexState::Current),
                Swap::Locked => return Ok(IndexState::Behind),
                Swap::Outdated => offer = self.graft()?,
            }
            if let Some(Offer { name, .. }) = offer {
                fs::File::open(self.booth.file(name))?.sync_all()?;
            }
        }
        let Self { git, at, booth, .. } = self;
        git.publish_anew(at, booth, &self.commit, |path| {
            self.changed.iter().any(|it| it.as_bytes() == path)
        })
    }
}

impl Git {
    /// The same with an index that git puts together.
    fn publish_anew(
        &self,
        at: &Repository,
        booth: &Booth,
        commit: &CommitId,
        is_meant: impl Fn(&[u8]) -> bool,
    ) -> Result<IndexState, PublishError> {
        let shared = SharedIndex::of(at.git_dir());
        let next = booth.file(NEXT_INDEX);
        let before = self.entries_before(at, booth, commit)?;
        loop {
            let stamp = shared.copy_to(&next)?;
            // An entry that is not as it was has been staged by somebody since, and is theirs.
            self.refresh_entries(at, &next, commit, |it| {
                before.get(&it.path) == Some(&it.new_entry()) && is_meant(&it.path)
            })?;
            match shared.sync_and_swap(&next, stamp)? {
                Swap::Done => return Ok(IndexState::Current),
                Swap::Locked => return Ok(IndexState::Behind),
                Swap::Outdated => {}
            }
        }
    }

    /// Makes an index agree with `commit` on those paths that `is_meant` names. The entries are
    /// named one by one, because a pathspec would also take what others have staged below a path.
    pub(super) fn refresh_entries(
        &self,
        at: &Repository,
        index: &Path,
        commit: &CommitId,
        is_meant: impl Fn(&Difference) -> bool,
    ) -> Result<(), GitError> {
        let root = at.tree()?;
        let call = |name| {
            self.call_in_tree(name, root)
                .variable("GIT_INDEX_FILE", index)
        };
        let differences = self.index_differences(at, index, commit)?;
        let entries = differences.iter().filter(|it| is_meant(it));
        let entries: Vec<u8> = entries.flat_map(crate::commit::index_entry).collect();
        if entries.is_empty() {
            return Ok(());
        }
        let info = call("update-index").arguments(["-z", "--index-info"]);
        info.input(entries).run()?;
        // Says 1 when some file differs, which is not our concern.
        call("update-index")
            .arguments(["-q", "--refresh"])
            .ask()
            .map(drop)
    }

    /// What the shared index had when the commit was begun, where that differs from `commit`.
    pub(super) fn entries_before(
        &self,
        at: &Repository,
        booth: &Booth,
        commit: &CommitId,
    ) -> Result<IndexEntries, GitError> {
        let before = self.index_differences(at, &booth.file(INDEX_BEFORE), commit)?;
        let entry = |it: Difference| (it.path.clone(), it.new_entry());
        Ok(before.into_iter().map(entry).collect())
    }

    fn index_differences(
        &self,
        at: &Repository,
        index: &Path,
        commit: &CommitId,
    ) -> Result<Vec<Difference>, GitError> {
        let call = self
            .call_in_tree("diff-index", at.tree()?)
            .variable("GIT_INDEX_FILE", index)
            .arguments(["--cached", "-z", "--raw", "--no-renames"])
            .arguments(["--ignore-submodules=none", "--end-of-options"])
            .arguments([commit.as_str()]);
        let unknown = call.unknown_answer();
        crate::change::parse(&call.run()?).ok_or(unknown)
    }
}
