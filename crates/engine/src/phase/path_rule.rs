//! What a session of a phase changed and may not.

use handoff_core::ownership::RepoPath;
use handoff_core::workflow::{Phase, Scope, Suite};

use crate::collect::listed;

/// Why what a session changed is not accepted.
pub(super) fn objection(
    phase: &Phase,
    suite: Option<&Suite>,
    paths: &[RepoPath],
    declared: &[RepoPath],
) -> Option<String> {
    let is_wrong = |path: &&RepoPath| !phase.touch.allows(path, suite, declared);
    let wrong: Vec<_> = paths.iter().filter(is_wrong).collect();
    if wrong.is_empty() {
        return None;
    }
    Some(format!(
        "phase `{}` changed {}, which it may not: {}",
        phase.name,
        listed(&wrong),
        rule(phase)
    ))
}

/// What a phase may change, in a sentence.
pub(super) fn rule(phase: &Phase) -> String {
    let listed = |scopes: &[Scope]| {
        let words: Vec<_> = scopes.iter().map(words).collect();
        words.join(", ")
    };
    match (phase.touch.may.as_slice(), phase.touch.may_not.as_slice()) {
        ([], []) => "it may change anything".to_owned(),
        (may, []) => format!("it may change only {}", listed(may)),
        ([], not) => format!("it may change anything but {}", listed(not)),
        (may, not) => format!(
            "it may change only {}, and never {}",
            listed(may),
            listed(not)
        ),
    }
}

fn words(scope: &Scope) -> String {
    match scope {
        Scope::Tests => "the tests".to_owned(),
        Scope::Config => "what decides how tests are run".to_owned(),
        Scope::Declared => "the files it names as stubs".to_owned(),
        Scope::Paths { pattern } => format!("`{pattern}`"),
    }
}
