//! What was built or installed, where only what was written belongs.

use handoff_core::Ownership;
use handoff_core::ownership::{CaseRule, RepoPath};
use handoff_core::workflow::{Suite, SuiteFormat};

/// Where tools leave what nobody wrote.
const EVERYWHERE: [&str; 9] = [
    "**/node_modules/**",
    "**/__pycache__/**",
    "**/*.pyc",
    "**/.pytest_cache/**",
    "**/.mypy_cache/**",
    "**/.venv/**",
    "**/.tox/**",
    "**/.gradle/**",
    "**/.idea/**",
];
/// A directory that may well be source anywhere else.
const OF_CARGO: &str = "**/target/**";

/// Why what a session left is not accepted: there is output among it that was not kept in the repository before.
pub(super) fn objection(
    suite: Option<&Suite>,
    paths: &[RepoPath],
    is_new: impl Fn(&RepoPath) -> bool,
) -> Option<String> {
    let is_cargo = suite.is_some_and(|it| it.format == SuiteFormat::Cargo);
    let patterns = EVERYWHERE.into_iter().chain(is_cargo.then_some(OF_CARGO));
    let patterns = patterns.map(|it| it.parse().expect("a pattern"));
    let output = Ownership::new(patterns.collect()).expect("a few patterns");
    let found = { paths.iter() }.find(|it| output.covers(it, CaseRule::NATIVE) && is_new(it))?;
    Some(format!(
        "`{found}` was built or installed, not written; remove what tools left, or have git ignore it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_leave_is_refused_unless_it_was_kept_before() {
        let paths: Vec<RepoPath> = ["src/lib.rs", "src/__pycache__/a.pyc"]
            .map(|it| it.parse().unwrap())
            .to_vec();
        let why = objection(None, &paths, |_| true).unwrap();
        assert!(
            why.starts_with("`src/__pycache__/a.pyc` was built"),
            "{why}"
        );
        assert_eq!(objection(None, &paths, |_| false), None);
        assert_eq!(objection(None, &paths[..1], |_| true), None);
    }

    #[test]
    fn a_directory_called_target_is_output_of_cargo_only() {
        let paths: Vec<RepoPath> = vec!["target/debug/calc".parse().unwrap()];
        assert_eq!(objection(None, &paths, |_| true), None);
        let suite = crate::suite::found(|it| it == "Cargo.toml");
        assert!(objection(suite.as_ref(), &paths, |_| true).is_some());
    }
}
