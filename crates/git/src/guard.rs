//! Which git commands a role may run. A sub-task is judged by `handoff-guard`; the others do as they please.

use std::ffi::OsString;

use handoff_core::caller::Role;
pub use handoff_guard::{CommandLine, Ground, Verdict};

use crate::git::{Git, GitError};
use crate::repository::Repository;

/// Decides whether `role` may run git with these arguments. `alias` says what a name stands for in the configuration; it is
/// asked only for names that git itself does not know.
pub fn judge(
    role: Role,
    ground: Ground,
    arguments: &[OsString],
    alias: &mut dyn FnMut(&str) -> Option<String>,
) -> Verdict {
    match role {
        Role::Main | Role::FanIn => Verdict::Allowed,
        Role::SubTask => handoff_guard::judge(ground, arguments, alias),
    }
}

impl Git {
    /// What a name stands for, if it is an alias.
    pub fn alias(&self, at: &Repository, name: &str) -> Result<Option<String>, GitError> {
        let key = format!("alias.{name}");
        let call = self.call("config", at.any_place());
        let answer = call.arguments(["--get", &key]).ask()?;
        Ok(answer.map(|answer| String::from_utf8_lossy(&answer).trim_end().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_others_do_as_they_please() {
        let commit = ["commit".into()];
        let may = |role| judge(role, Ground::Shared, &commit, &mut |_| None) == Verdict::Allowed;
        assert!(may(Role::Main) && may(Role::FanIn) && !may(Role::SubTask));
    }
}
