//! Judging a test that was written: it is new, it is alone, and neither it nor the code was bent to make it fail or pass.

use handoff_core::CommitId;
use handoff_core::ownership::RepoPath;
use handoff_core::trial::{
    FailureKind, Objection, Red, Results, TestName, Wanted, green, only_adds, red,
};
use serde_json::Value;

use super::{Changed, Court, Exhibit, Finding, Found, mixed_file, results};
use crate::error::EngineError;
use crate::workshop::Workshop;

impl Court<'_> {
    pub(super) fn red_proof(
        &self,
        workshop: &mut Workshop<'_>,
        said: &Value,
        left: &Changed<'_>,
    ) -> Finding<Found> {
        // Where tests are to ask for something else, a person sees what became of them.
        if self.altered().is_empty() {
            let edited = self.edited(workshop, left.candidate, left.paths)?;
            if let Some(objection) = edited.or_else(|| mixed_file::edited(left.mixed)) {
                return Ok(Err(objection.to_string()));
            }
        }
        let (before, after) = match self.trial(workshop, &Exhibit::of(left.candidate))? {
            Ok(both) => both,
            Err(why) => return Ok(Err(why)),
        };
        let expected = expected(said);
        let wanted = Wanted {
            test: said.get("test").and_then(Value::as_str).unwrap_or_default(),
            expected: &expected,
            altered: self.altered(),
        };
        let shown = match red(&before, &after, &wanted) {
            Ok(shown) => shown,
            Err(objection) => return Ok(Err(objection.to_string())),
        };
        let (outcome, test) = match &shown {
            Red::Failing(test) => ("red", test.clone()),
            Red::Covered(test) => ("covered", test.clone()),
        };
        let passes = self.passes_without(workshop, &test, left)?;
        match (shown, passes) {
            (Red::Failing(test), Some(true)) => {
                return Ok(Err(Objection::MadeToFail(test).to_string()));
            }
            (Red::Covered(test), Some(false)) => {
                return Ok(Err(Objection::MadeToPass(test).to_string()));
            }
            (Red::Failing(_), None | Some(false)) | (Red::Covered(_), None | Some(true)) => {}
        }
        Ok(Ok(Found {
            item: self.item(),
            test: Some(test),
            results: results(after),
            weaker: left.weaker(),
            alters: self.altered().to_vec(),
            ..Found::of(outcome)
        }))
    }

    /// A file of tests that was there before and lost some of what it had.
    fn edited(
        &self,
        workshop: &Workshop<'_>,
        candidate: &CommitId,
        paths: &[RepoPath],
    ) -> Result<Option<Objection>, EngineError> {
        let of = |commit: &CommitId, path: &RepoPath| {
            let bytes = workshop.git.file_in(self.at, commit, path);
            bytes.map_err(EngineError::Show)
        };
        for path in paths.iter().filter(|it| self.is_test(it)) {
            let Some(before) = of(self.base, path)? else {
                continue;
            };
            let after = of(candidate, path)?.unwrap_or_default();
            let is_kept = match (str::from_utf8(&before), str::from_utf8(&after)) {
                (Ok(before), Ok(after)) => only_adds(before, after),
                (_, _) => before == after,
            };
            if !is_kept {
                return Ok(Some(Objection::Edited(path.clone())));
            }
        }
        Ok(None)
    }

    /// Whether the test passes with the code as it was: then the session damaged that, if it fails, and wrote none, if it does not.
    /// Nothing if the session left the code alone.
    fn passes_without(
        &self,
        workshop: &mut Workshop<'_>,
        test: &TestName,
        left: &Changed<'_>,
    ) -> Result<Option<bool>, EngineError> {
        let Some(suite) = &self.suite else {
            return Ok(None);
        };
        let is_mixed = |path: &RepoPath| left.mixed.iter().any(|it| it.path == *path);
        let code: Vec<_> = { left.paths.iter() }
            .filter(|it| !self.is_test(it) && !is_mixed(it))
            .cloned()
            .collect();
        let mixed = left.mixed.iter().filter(|it| !it.is_code_kept());
        let written: Vec<_> = mixed
            .map(|it| (&it.path, it.new_tests_on_old_code()))
            .collect();
        if code.is_empty() && written.is_empty() {
            return Ok(None);
        }
        let exhibit = Exhibit {
            commit: left.candidate,
            laid_over: Some((self.base, &code)),
            written,
        };
        let without = self.referee.run(workshop, self.task, suite, &exhibit)?;
        Ok(Some(green(&Results::default(), &without, test).is_ok()))
    }
}

/// Why the test may fail, as its session says; by an assertion or something unimplemented, if it says nothing.
fn expected(said: &Value) -> Vec<FailureKind> {
    let said = said.get("expected").cloned();
    let said: Option<Vec<FailureKind>> = said.and_then(|it| serde_json::from_value(it).ok());
    said.unwrap_or_else(|| vec![FailureKind::Assertion, FailureKind::Unimplemented])
}
