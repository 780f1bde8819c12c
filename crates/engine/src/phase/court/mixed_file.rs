//! Files in which tests and code stand together, as modules of Rust do.
//!
//! Whoever may not touch tests may touch such a file, and whoever may touch tests only may, too. Which of the two they touched is told
//! from its text; a proof in which one was changed is a weaker one, and is called so.

use handoff_core::CommitId;
use handoff_core::ownership::RepoPath;
use handoff_core::trial::{Objection, Source, only_adds};
use handoff_core::workflow::Scope;

use super::Court;
use crate::error::EngineError;
use crate::workshop::Workshop;

/// Such a file, as a session found it and as it left it.
pub(super) struct MixedFile {
    pub(super) path: RepoPath,
    before: String,
    after: String,
}

impl MixedFile {
    /// Whether all that changed in it is tests.
    pub(super) fn is_code_kept(&self) -> bool {
        Source::of(&self.before).code_text() == Source::of(&self.after).code_text()
    }

    fn are_tests_kept(&self) -> bool {
        Source::of(&self.before).tests_text() == Source::of(&self.after).tests_text()
    }

    fn are_tests_added(&self) -> bool {
        let (before, after) = (Source::of(&self.before), Source::of(&self.after));
        only_adds(&before.tests_text(), &after.tests_text())
    }

    /// The code as it was, with the tests as they are.
    pub(super) fn new_tests_on_old_code(&self) -> String {
        Source::of(&self.before).with_tests_of(&Source::of(&self.after))
    }
}

impl Court<'_> {
    /// Those of the changed files outside of the tests that have tests in them.
    pub(super) fn mixed(
        &self,
        workshop: &Workshop<'_>,
        candidate: &CommitId,
        paths: &[RepoPath],
    ) -> Result<Vec<MixedFile>, EngineError> {
        let text = |commit: &CommitId, path: &RepoPath| {
            let bytes = workshop.git.file_in(self.at, commit, path);
            let bytes = bytes.map_err(EngineError::Show)?;
            let text = bytes.and_then(|it| String::from_utf8(it).ok());
            Ok::<_, EngineError>(text.unwrap_or_default())
        };
        let is_rust = |path: &&RepoPath| path.as_str().ends_with(".rs") && !self.is_test(path);
        let mut found = vec![];
        for path in paths.iter().filter(is_rust) {
            let (before, after) = (text(self.base, path)?, text(candidate, path)?);
            if Source::of(&before).has_tests() || Source::of(&after).has_tests() {
                let path = path.clone();
                found.push(MixedFile {
                    path,
                    before,
                    after,
                });
            }
        }
        Ok(found)
    }

    /// Files of which only the tests were changed are files of tests, to whoever may touch those.
    pub(super) fn as_tests<'a>(&self, mixed: &'a [MixedFile]) -> Vec<&'a RepoPath> {
        if !self.phase.touch.may.contains(&Scope::Tests) {
            return vec![];
        }
        let of_tests = mixed.iter().filter(|it| it.is_code_kept());
        of_tests.map(|it| &it.path).collect()
    }
}

/// A file whose tests lost some of what they had.
pub(super) fn edited(mixed: &[MixedFile]) -> Option<Objection> {
    let edited = mixed.iter().find(|it| !it.are_tests_added());
    edited.map(|it| Objection::InlineEdited(it.path.clone()))
}

/// A file whose tests are not as they were.
pub(super) fn touched(mixed: &[MixedFile]) -> Option<Objection> {
    let touched = mixed.iter().find(|it| !it.are_tests_kept());
    touched.map(|it| Objection::InlineTouched(it.path.clone()))
}
