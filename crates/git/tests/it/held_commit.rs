use std::fs;

use handoff_core::Timestamp;
use handoff_git::safe_commit::repair::has_leftovers;
use handoff_git::{CommitLock, Repository};
use handoff_testkit::{Need, skip_without};

use crate::stage::{Stage, git_of, paths};

#[test]
fn what_a_filter_of_the_tree_does_outside_does_not_happen() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let stage = Stage::new();
    let repo = &stage.repo;
    repo.write("file", "text").commit("first");
    let tree = stage.env.root().join("tree");
    let shown = tree.to_str().unwrap();
    repo.git(["worktree", "add", "-q", "-b", "handoff/x-1", shown]);
    let marker = stage.env.root().join("escaped");
    repo.git(["config", "filter.own.clean", "sh ./filter.sh"]);
    let script = format!("tr a-z A-Z; echo x > {} || :\n", marker.display());
    fs::write(tree.join("filter.sh"), script).unwrap();
    fs::write(tree.join(".gitattributes"), "file filter=own\n").unwrap();
    fs::write(tree.join("file"), "changed\n").unwrap();
    let at = Repository::open(repo.path()).unwrap();
    let at = at.linked_at(&tree).unwrap();
    let git = git_of(&stage.env).bound_to(&at);
    let declared = paths(["file", ".gitattributes"]);
    let commit = git.commit_paths_held(&at, &declared, "held\n").unwrap();
    assert!(!marker.exists());
    let shown = repo.git(["show", &format!("{commit}:file")]);
    assert_eq!(shown.to_lowercase(), "changed");
    assert_eq!(repo.git(["rev-parse", "handoff/x-1"]), commit.as_str());
    let held = repo.path().join(".git/handoff/held");
    assert!(fs::read_dir(held).unwrap().next().is_none());
}

#[test]
fn what_a_killed_one_left_goes_with_the_next_who_has_the_lock() {
    let stage = Stage::new();
    let at = stage.here();
    let left = stage.repo.path().join(".git/handoff/held/killed/objects");
    fs::create_dir_all(&left).unwrap();
    assert!(has_leftovers(&at));
    let lock = CommitLock::take(&at, "test", Timestamp::UNIX_EPOCH).unwrap();
    stage.git.repair_commits(&lock, &at).unwrap();
    assert!(!left.exists() && !has_leftovers(&at));
}
