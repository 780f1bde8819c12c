//! What a check is worth on the code that is there now.

use handoff_api::{CheckDocument, CheckRunDocument, CheckStanding, VerifiedCheck};
use handoff_core::feature::{CheckOutcome, CheckRun};
use handoff_workspace::config::Check;

use super::survey::Survey;

/// What a check is worth on the code that is there now.
pub fn standing(survey: &Survey, check: &Check) -> VerifiedCheck {
    let ran = survey.record.as_ref();
    let ran = ran.and_then(|record| record.checks.get(&check.name));
    let run = ran.map(|ran| &ran.run);
    let run = run.filter(|run| run.command == check.command);
    VerifiedCheck {
        check: document(check),
        standing: run.map_or(CheckStanding::NeverRun, |run| worth(survey, run)),
        last: run.map(CheckRunDocument::from),
    }
}

fn worth(survey: &Survey, run: &CheckRun) -> CheckStanding {
    let now = survey.code.as_ref().map(|code| &code.tree);
    let is_unread = run.tree.as_ref().is_some_and(|tree| !tree.is_read());
    if run.outcome != CheckOutcome::Passed {
        CheckStanding::Failed
    } else if now.is_some_and(|tree| run.proves(tree)) {
        CheckStanding::Passed
    } else if is_unread {
        CheckStanding::Unreadable
    } else {
        CheckStanding::Outdated
    }
}

/// Whether a check that just ran did what was asked of it.
pub const fn is_passed(standing: CheckStanding) -> bool {
    matches!(standing, CheckStanding::Passed | CheckStanding::Unreadable)
}

/// A check as it is told.
#[must_use]
pub fn document(check: &Check) -> CheckDocument {
    CheckDocument {
        name: check.name.to_string(),
        command: check.command.to_string(),
    }
}
