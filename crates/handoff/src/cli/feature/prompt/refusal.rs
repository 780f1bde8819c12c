//! A prompt that makes no sense now, and what does.

use handoff_api::ExitCode;
use handoff_operations::Failure;
use handoff_workspace::prompt::{Purpose, Refusal};

use super::word;

/// The refusal on the command line; `path` is where the goal belongs.
pub(super) fn refused(refusal: Refusal, purpose: Purpose, path: &str) -> Failure {
    let failure = Failure::new(ExitCode::Conflict, refusal.to_string());
    let anyway = format!("the prompt anyway: `handoff prompt {}`", word(purpose));
    match refusal {
        Refusal::NoGoal | Refusal::UntouchedGoal => failure
            .hint(format!(
                "say what you want built in `{path}`, then repeat the command"
            ))
            .hint(anyway),
        Refusal::Invalid => failure
            .hint("see what is wrong: `handoff validate`")
            .hint(anyway),
        Refusal::NothingRemaining => failure
            .hint("prove it: `handoff verify`; more to do: `handoff step add TEXT`")
            .hint("put it away when it is finished: `handoff archive <feature>`"),
        Refusal::Blocked => failure
            .hint("see what is missing: `handoff status`")
            .hint(anyway),
    }
}
