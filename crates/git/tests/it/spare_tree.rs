//! Trees that are made ahead, and what a killed process leaves of one that is being given away.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use handoff_core::{BranchName, CommitId};
use handoff_git::{Repository, SpareTree};

use crate::stage::Stage;

fn spare(stage: &Stage) -> SpareTree {
    let path = stage.env.root().join("spare-1");
    let base = stage.head();
    stage.git.make_spare(&stage.here(), &path, &base).unwrap()
}

fn attempt(stage: &Stage) -> (PathBuf, BranchName) {
    let path = stage.env.root().join("fix-1");
    (path, "handoff/fix-1".parse().unwrap())
}

#[track_caller]
fn give(stage: &Stage, spare: SpareTree, base: &CommitId) -> Repository {
    let (path, branch) = attempt(stage);
    let here = stage.here();
    let tree = stage
        .git
        .begin_worktree_in(spare, &here, &path, &branch, base)
        .unwrap();
    stage.git.finish_worktree(&here, tree).unwrap()
}

/// What git itself says of a tree.
fn status(tree: &Path) -> String {
    let tree = tree.to_str().unwrap();
    format!("-C {tree} status --porcelain --branch")
}

#[test]
fn a_spare_tree_becomes_the_worktree_of_whoever_needs_one() {
    let stage = Stage::new();
    let spare = spare(&stage);
    let before = spare.path().to_owned();
    let (path, branch) = attempt(&stage);
    assert!(before.join("README.md").exists() && stage.here().has_half_made_tree(&before));

    let base = stage.head();
    let linked = give(&stage, spare, &base);
    assert_eq!(stage.git.head(&linked).unwrap(), base);
    assert!(stage.git.is_on_branch(&linked, &branch).unwrap());
    assert!(path.join("README.md").exists() && !before.exists());
    assert!(!stage.here().has_half_made_tree(&path));
    let said = stage.repo.git(status(&path).split(' '));
    assert_eq!(said, "## handoff/fix-1");
    assert_eq!(stage.git.list_worktrees(&linked).unwrap().len(), 2);

    stage.git.remove_worktree(&stage.here(), &path).unwrap();
    assert_eq!(stage.git.list_worktrees(&stage.here()).unwrap().len(), 1);
}

#[test]
fn whoever_looks_at_worktrees_meanwhile_finds_none_that_cannot_be_read() {
    let stage = Stage::new();
    let (base, is_over) = (stage.head(), AtomicBool::new(false));
    let (path, here) = (attempt(&stage).0, stage.here());
    thread::scope(|scope| {
        let looking = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                stage.git.list_worktrees(&here).unwrap();
            }
        });
        for _ in 0..40 {
            give(&stage, spare(&stage), &base);
            stage.git.remove_worktree(&here, &path).unwrap();
            stage.repo.git(["branch", "--quiet", "-D", "handoff/fix-1"]);
        }
        is_over.store(true, Ordering::Relaxed);
        looking.join().unwrap();
    });
}

#[test]
fn a_spare_tree_of_another_commit_is_brought_up_to_date() {
    let stage = Stage::new();
    stage
        .repo
        .write("old", "old")
        .write("both", "one")
        .commit("one");
    let spare = spare(&stage);
    stage.repo.git(["rm", "--quiet", "old"]);
    stage
        .repo
        .write("new", "new")
        .write("both", "two")
        .commit("two");

    give(&stage, spare, &stage.head());
    let (path, _) = attempt(&stage);
    let found = ["old", "new", "both"].map(|name| fs::read_to_string(path.join(name)).ok());
    assert_eq!(
        found,
        [None, Some("new".to_owned()), Some("two".to_owned())]
    );
    let said = stage.repo.git(status(&path).split(' '));
    assert_eq!(said, "## handoff/fix-1");
}

/// How far somebody came who was killed while a tree was given away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Killed {
    BeforeAnything,
    AfterTheRecord,
    AfterTheTree,
}

#[test]
fn what_is_left_of_giving_a_tree_away_goes_whoever_was_killed() {
    for killed in [
        Killed::BeforeAnything,
        Killed::AfterTheRecord,
        Killed::AfterTheTree,
    ] {
        let stage = Stage::new();
        let before = spare(&stage).path().to_owned();
        let (path, _) = attempt(&stage);
        let records = stage.here().common_dir().join("worktrees");
        if killed != Killed::BeforeAnything {
            fs::rename(records.join("spare-1"), records.join("fix-1")).unwrap();
            assert!(stage.here().has_half_made_tree(&path), "{killed:?}");
        }
        if killed == Killed::AfterTheTree {
            fs::rename(&before, &path).unwrap();
        }
        for place in [&path, &before] {
            stage.git.remove_worktree(&stage.here(), place).unwrap();
        }
        assert!(!path.exists() && !before.exists(), "{killed:?}");
        let left = stage.git.list_worktrees(&stage.here()).unwrap();
        assert_eq!(left.len(), 1, "{killed:?}");
    }
}

#[test]
fn a_place_that_somebody_has_is_left_to_them() {
    let stage = Stage::new();
    let spare = spare(&stage);
    let before = spare.path().to_owned();
    let (path, branch) = attempt(&stage);
    fs::create_dir(&path).unwrap();
    fs::write(path.join("theirs"), "theirs").unwrap();

    let (here, base) = (stage.here(), stage.head());
    let begun = stage
        .git
        .begin_worktree_in(spare, &here, &path, &branch, &base);
    assert!(begun.is_err());
    assert_eq!(fs::read_to_string(path.join("theirs")).unwrap(), "theirs");
    assert!(!before.exists());
    assert_eq!(stage.git.list_worktrees(&here).unwrap().len(), 1);
}
