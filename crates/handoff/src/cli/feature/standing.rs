//! What a check is worth, in words.

use handoff_api::{CheckRunDocument, CheckStanding, VerifiedCheck};

use crate::output::Tone;

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
