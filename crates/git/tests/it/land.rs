use handoff_core::{Baseline, BranchName, Caller, Timestamp};
use handoff_git::land::{LandError, Landed};
use handoff_git::{CommitLock, Repository};

use crate::stage::Stage;

fn land(stage: &Stage, at: &Repository, into: Option<&str>) -> Result<Landed, LandError> {
    let lock = CommitLock::take(at, "test", Timestamp::UNIX_EPOCH).unwrap();
    let branch: BranchName = "handoff/work".parse().unwrap();
    let into: Option<BranchName> = into.map(|into| into.parse().unwrap());
    stage.git.land(&lock, at, &branch, into.as_ref())
}

/// A branch of ours, two commits ahead of `main`, that nobody has checked out.
fn work(stage: &Stage) {
    stage
        .repo
        .git(["checkout", "--quiet", "-b", "handoff/work"]);
    stage.repo.write("a", "1").commit("one");
    stage.repo.write("b", "2").commit("two");
    stage.repo.git(["checkout", "--quiet", "main"]);
}

#[test]
fn a_clean_tree_moves_forward_with_its_branch() {
    let stage = Stage::new();
    work(&stage);
    let landed = land(&stage, &stage.here(), None).unwrap();
    assert_eq!((landed.into.as_str(), landed.commits), ("main", 2));
    assert_eq!(stage.repo.read("b").unwrap(), "2");
    assert_eq!(stage.repo.status(), Vec::<String>::new());
    assert_eq!(land(&stage, &stage.here(), None).unwrap().commits, 0);
}

#[test]
fn otherwise_it_waits_and_says_what_for() {
    let stage = Stage::new();
    work(&stage);
    let base = stage.repo.head();
    stage.repo.write("README.md", "edited");
    let waits = land(&stage, &stage.here(), None).unwrap_err();
    let says = "the tree has changes that are not committed: `README.md`";
    assert_eq!(waits.to_string(), says);
    assert_eq!(stage.repo.head(), base);

    stage.repo.commit("mine");
    let waits = land(&stage, &stage.here(), None).unwrap_err();
    let says = "`main` has 1 commits that `handoff/work` does not have";
    assert_eq!(waits.to_string(), says);

    let waits = land(&stage, &stage.here(), Some("none")).unwrap_err();
    assert_eq!(waits.to_string(), "there is no branch `none`");
}

#[test]
fn a_branch_is_never_moved_under_anyone() {
    let stage = Stage::new();
    work(&stage);
    let other = stage.env.root().join("other");
    let shown = other.to_str().unwrap();
    stage
        .repo
        .git(["worktree", "add", "--quiet", "-b", "release", shown, "main"]);
    let waits = land(&stage, &stage.here(), Some("release")).unwrap_err();
    assert_eq!(
        waits.to_string(),
        format!("`release` is checked out in `{shown}`")
    );
    stage.repo.git(["branch", "free", "main"]);
    let landed = land(&stage, &stage.here(), Some("free")).unwrap();
    assert_eq!(stage.repo.resolve("free").unwrap(), landed.to.as_str());
}

#[test]
fn a_baseline_says_by_what_when_and_by_whom() {
    let stage = Stage::new();
    let at = stage.here();
    let refs = || stage.git.baseline_refs(&at).unwrap().commits;
    assert!(refs().is_empty());
    let baseline = Baseline {
        branch: "main".parse().unwrap(),
        commit: stage.head(),
        command: Some("cargo test".parse().unwrap()),
        by: Caller::Person,
        at: Timestamp::UNIX_EPOCH,
    };
    stage.git.point_baseline(&at, &baseline).unwrap();
    let expected = [("main".to_owned(), stage.head())];
    assert_eq!(refs(), expected.into());
    let text = stage
        .repo
        .git(["cat-file", "tag", "refs/handoff/baseline/main"]);
    let said = "Command: cargo test\nAt: 1970-01-01T00:00:00Z\nBy: person";
    assert!(text.ends_with(said), "{text}");
    stage.git.remove_baseline(&at, "main").unwrap();
    assert!(refs().is_empty());
    stage.repo.fsck();
}

#[test]
fn a_branch_is_removed_where_it_was_seen_and_is_landed_when_another_has_all_of_it() {
    let stage = Stage::new();
    work(&stage);
    let (git, at) = (&stage.git, stage.here());
    let own = git.own_branches(&at).unwrap();
    let [(branch, commit)] = own.as_slice() else {
        panic!("{own:?}");
    };
    assert!(!git.is_landed(&at, commit).unwrap());
    let earlier = stage.repo.git(["rev-parse", "handoff/work~1"]);
    let earlier = earlier.parse().unwrap();
    assert!(git.remove_branch(&at, branch, &earlier).is_err());
    // A branch of ours that has it too is no copy of a person's.
    stage.repo.git(["branch", "handoff/other", "handoff/work"]);
    assert!(!git.is_landed(&at, commit).unwrap());
    land(&stage, &at, None).unwrap();
    assert!(git.is_landed(&at, commit).unwrap());
    git.remove_branch(&at, branch, commit).unwrap();
    let left: Vec<_> = git.own_branches(&at).unwrap();
    let names: Vec<_> = left.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["handoff/other"]);
}
