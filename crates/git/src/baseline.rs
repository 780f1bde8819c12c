//! The last commit of a branch that was verified good: `refs/handoff/baseline/<branch>`.
//!
//! The ref points to a tag object whose message says by which command, when and by whom, so that
//! the record goes wherever the ref goes.

use handoff_core::{CommitId, Timestamp};

use crate::git::{Git, GitError, printable};
use crate::repository::Repository;

const PLACE: &str = "refs/handoff/baseline/";

/// A commit that was verified good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The branch, without `refs/heads/`.
    pub branch: String,
    /// The commit.
    pub commit: CommitId,
    /// By which command; none if somebody just said so.
    pub command: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
    /// By whom.
    pub by: String,
}

impl Git {
    /// The baseline of a branch, if it has one.
    pub fn baseline(&self, at: &Repository, branch: &str) -> Result<Option<Baseline>, GitError> {
        let call = self.call("for-each-ref", at.any_place());
        let format = "--format=%(refname)%0a%(*objectname)%0a%(contents)";
        let name = format!("{PLACE}{branch}");
        let answer = call.arguments([format, &name]).run()?;
        let text = String::from_utf8_lossy(&answer);
        // Git also lists what lies below the name.
        let own = text.split_once('\n').filter(|(found, _)| *found == name);
        Ok(own.and_then(|(_, text)| parse(branch, text)))
    }

    /// Says that a commit of a branch is good.
    pub fn set_baseline(&self, at: &Repository, baseline: &Baseline) -> Result<(), GitError> {
        let tag = format!(
            "object {}\ntype commit\ntag baseline\ntagger handoff <handoff@localhost> {} +0000\n\n{}",
            baseline.commit,
            baseline.at.map_or(0, Timestamp::as_second),
            message(baseline)
        );
        let call = self.call("mktag", at.any_place());
        let tag = call.input(tag.into_bytes()).run_for_commit()?;
        self.call("update-ref", at.any_place())
            .arguments([
                "--create-reflog",
                "-m",
                "handoff: baseline",
                "--end-of-options",
            ])
            .arguments([format!("{PLACE}{}", baseline.branch).as_str(), tag.as_str()])
            .run()?;
        Ok(())
    }

    /// The commit that a name stands for, as a person writes it.
    pub fn commit_named(&self, at: &Repository, name: &str) -> Result<Option<CommitId>, GitError> {
        self.resolve(at, name)
    }
}

fn message(baseline: &Baseline) -> String {
    let line = |key: &str, value: &str| format!("{key}: {}\n", printable(value));
    let command = baseline.command.as_deref().map(|it| line("Command", it));
    let at = baseline.at.map(|it| line("At", &it.to_string()));
    [command, at, Some(line("By", &baseline.by))]
        .into_iter()
        .flatten()
        .collect()
}

fn parse(branch: &str, text: &str) -> Option<Baseline> {
    let (commit, message) = text.split_once('\n')?;
    let value = |key: &str| {
        let line = message.lines().find_map(|line| line.strip_prefix(key))?;
        line.strip_prefix(": ").map(str::to_owned)
    };
    Some(Baseline {
        branch: branch.to_owned(),
        commit: commit.parse().ok()?,
        command: value("Command"),
        at: value("At").and_then(|at| at.parse().ok()),
        by: value("By").unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let baseline = Baseline {
            branch: "main".to_owned(),
            commit: "a".repeat(40).parse().unwrap(),
            command: Some("cargo test".to_owned()),
            at: Some(Timestamp::UNIX_EPOCH),
            by: "person".to_owned(),
        };
        let text = format!("{}\n{}", baseline.commit, message(&baseline));
        assert_eq!(parse("main", &text), Some(baseline));
        assert_eq!(parse("main", ""), None);
    }
}
