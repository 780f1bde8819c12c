//! What a session is told: the baton, as Markdown with front matter.
//!
//! Text of a person stands as it is; it is the brief. Text of an earlier session is quoted line by line and named as
//! what it is, so that it cannot pose as ours.

use handoff_core::task::Evidence;
use handoff_core::{BranchName, CommitId, Task};
use handoff_package::Package;

/// What the prompt is made of.
pub(crate) struct Baton<'a> {
    pub(crate) task: &'a Task,
    pub(crate) base: &'a CommitId,
    pub(crate) branch: &'a BranchName,
    /// What the sessions before left for this one.
    pub(crate) packages: &'a [Package],
}

/// The text for the session.
pub(crate) fn prompt(baton: &Baton<'_>) -> String {
    let task = baton.task;
    let mut text = format!(
        "---\ntask: {}\nattempt: {}\nbase: {}\nbranch: {}\n---\n\n# Your task\n\n{}\n",
        task.spec.name, task.fence, baton.base, baton.branch, task.spec.brief
    );
    for package in baton.packages {
        text += &before(package);
    }
    text += &how_to_finish(task);
    text
}

fn before(package: &Package) -> String {
    let payload = &package.payload;
    let said = payload
        .summary
        .as_ref()
        .map_or("It said nothing.", |summary| summary.as_str());
    let quoted: Vec<_> = said.lines().map(|line| format!("> {line}")).collect();
    let proofs: Vec<_> = payload.proofs.iter().filter_map(proof).collect();
    format!(
        "\n# What the session before you left ({})\n\nIts own words, which nobody checked:\n\n{}\n\nProved by the tool: {}\n",
        payload.task_name.as_ref().map_or("", |name| name.as_str()),
        quoted.join("\n"),
        if proofs.is_empty() {
            "nothing".to_owned()
        } else {
            proofs.join("; ")
        }
    )
}

fn proof(evidence: &Evidence) -> Option<String> {
    match evidence {
        Evidence::Verified {
            command,
            exit_code: Some(0),
        } => Some(format!("`{command}` passed")),
        Evidence::Committed { branch, commit } => Some(format!("commit {commit} on {branch}")),
        Evidence::Verified { .. } | Evidence::Sealed { .. } => None,
    }
}

fn how_to_finish(task: &Task) -> String {
    let owned = task.spec.owns.as_ref().map_or_else(String::new, |owns| {
        let patterns: Vec<_> = owns.patterns().iter().map(|it| format!("`{it}`")).collect();
        format!("Change only {}. ", patterns.join(", "))
    });
    let checked = task
        .spec
        .verify
        .as_ref()
        .map_or_else(String::new, |command| {
            format!("Your work is checked with `{command}` after you exit. ")
        });
    format!(
        "\n# How to finish\n\n{owned}{checked}Do not commit: what you changed is committed for you. Exit with 0 when it is \
         done, with anything else when it is not.\n"
    )
}
