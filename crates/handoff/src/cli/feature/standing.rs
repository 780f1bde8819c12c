//! What a check is worth on the code that is there now.

use handoff_api::{CheckRunDocument, CheckStanding, VerifiedCheck};
use handoff_core::feature::{CheckOutcome, CheckRun};
use handoff_workspace::config::Check;

use super::survey::Survey;
use super::trust::document;
use crate::output::Tone;

/// What a check is worth on the code that is there now.
pub(super) fn standing(survey: &Survey, check: &Check) -> VerifiedCheck {
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
pub(super) const fn is_passed(standing: CheckStanding) -> bool {
    matches!(standing, CheckStanding::Passed | CheckStanding::Unreadable)
}

/// What a check is worth, in a few words. Files that git ignores are not looked at, and nothing is said about them.
pub(super) fn word(check: &VerifiedCheck) -> (Tone, String) {
    let Some(run) = &check.last else {
        return (Tone::Faint, "never run".to_owned());
    };
    let attention = |text: &str| (Tone::Attention, text.to_owned());
    match check.standing {
        CheckStanding::NeverRun => (Tone::Faint, "never run".to_owned()),
        CheckStanding::Passed => (Tone::Good, format!("passed on this code, in {}", took(run))),
        CheckStanding::Unreadable => {
            attention("passed; what is not committed is too large to tell whether it is the same")
        }
        CheckStanding::Outdated if run.tree.is_none() => {
            attention("passed, but the code changed while it ran")
        }
        CheckStanding::Outdated => attention("passed, on other code"),
        CheckStanding::Failed => (Tone::Bad, failed(run)),
    }
}

fn took(run: &CheckRunDocument) -> String {
    format!("{}.{} s", run.took_ms / 1000, run.took_ms % 1000 / 100)
}

fn failed(run: &CheckRunDocument) -> String {
    match (run.exit_code, run.signal) {
        (Some(code), _) => format!("failed with exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "took too long".to_owned(),
    }
}
