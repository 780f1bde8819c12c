//! The new objects of a commit: which they are, and how they are kept until the branch has the commit.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use super::new_objects::Making;
use super::{Prepared, publishing, syncing};
use crate::kept_pack::{KeepError, KeptPack, Wanted};
use crate::private_objects::PrivateObjects;

impl Prepared<'_> {
    /// Says that the hooks ran more than once for this commit, and why.
    pub fn explain_again(&mut self, why: &str) {
        if self.wrapped.is_any {
            self.said = format!("the hooks ran again: {why}\n{}", self.said);
        }
    }

    /// Keeps the objects of the commit from being pruned: without git where they are few and plain.
    pub(super) fn keep_objects(
        &mut self,
        private: Option<&PrivateObjects>,
    ) -> Result<(), KeepError> {
        if private.is_none() && !self.at.has_long_ids() {
            self.new_objects = self.plain_objects();
            if let Some(objects) = &self.new_objects {
                self.kept = KeptPack::of_loose(self.at, objects)?;
            }
        }
        if self.kept.is_none() {
            self.kept = Some(self.keep_with_git(private)?);
        }
        Ok(())
    }

    fn keep_with_git(&self, private: Option<&PrivateObjects>) -> Result<KeptPack, KeepError> {
        let known = self.intent.parent.iter().collect();
        let tip = &self.commit;
        let wanted = Wanted::Beyond { tip, known };
        match private {
            Some(private) => self.git.keep_objects(self.at, private, &wanted),
            None => {
                let place = PrivateObjects::make(self.at);
                let failed = |error| KeepError::File(self.at.common_dir().to_owned(), error);
                self.git
                    .keep_objects(self.at, &place.map_err(failed)?, &wanted)
            }
        }
    }

    /// The files of all objects that the commit needs and its parent does not, if no hook can have made more.
    fn plain_objects(&self) -> Option<BTreeSet<PathBuf>> {
        self.fresh?;
        self.objects_by_paths()
    }

    fn objects_by_paths(&self) -> Option<BTreeSet<PathBuf>> {
        let making = Making {
            objects: &self.at.common_dir().join("objects"),
            commit: &self.commit,
            changed: &self.changed,
            before: &self.booth.file(publishing::INDEX_BEFORE),
            after: &self.booth.file(publishing::INDEX),
        };
        making.objects()
    }

    /// The files of all objects that must be on stable storage before the branch has the commit.
    pub(super) fn objects(&self) -> io::Result<BTreeSet<PathBuf>> {
        if let Some(found) = &self.new_objects {
            return Ok(found.clone());
        }
        let objects = self.at.common_dir().join("objects");
        let found = self.objects_by_paths();
        // A hook may have made more; and trees that an earlier commit made which came to nothing are not made again.
        let since = syncing::objects_since(&objects, &self.booth.begun())?;
        let mut found: BTreeSet<_> = since.into_iter().chain(found.unwrap_or_default()).collect();
        if !self.at.has_long_ids() {
            let index = self.booth.file(publishing::INDEX);
            found.extend(syncing::staged_objects(&objects, &index, &self.changed));
        }
        Ok(found)
    }
}
