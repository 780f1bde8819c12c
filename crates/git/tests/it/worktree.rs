use std::fs;

use handoff_core::BranchName;
use handoff_git::{Checkout, GitError, Repository, Worktree, WorktreeError};

use crate::stage::Stage;

#[test]
fn a_new_worktree_stands_on_its_branch_at_the_base() {
    let stage = Stage::new();
    let base = stage.head();
    stage.repo.write("later", "").commit("later");
    let branch: BranchName = "handoff/fix-1".parse().unwrap();
    let path = stage.env.root().join("fix -1");
    let linked = stage
        .git
        .add_worktree(&stage.here(), &path, &branch, &base)
        .unwrap();
    assert_eq!(stage.git.head(&linked).unwrap(), base);
    assert_eq!(
        stage.git.resolve_branch(&linked, &branch).unwrap(),
        Some(base.clone())
    );
    assert!(path.join("README.md").exists() && !path.join("later").exists());

    let on = |name: &str, commit| Checkout::Branch {
        full_name: format!("refs/heads/{name}"),
        commit,
    };
    let expected = [
        Worktree {
            path: stage.repo.path().to_owned(),
            checkout: on("main", stage.head()),
        },
        Worktree {
            path,
            checkout: on("handoff/fix-1", base),
        },
    ];
    assert_eq!(stage.git.list_worktrees(&linked).unwrap(), expected);
}

#[test]
fn a_branch_that_is_not_there_is_none() {
    let stage = Stage::new();
    let branch = "handoff/never".parse().unwrap();
    assert_eq!(
        stage.git.resolve_branch(&stage.here(), &branch).unwrap(),
        None
    );
}

#[test]
fn a_taken_branch_is_refused_with_gits_reason() {
    let stage = Stage::new();
    stage.linked();
    let branch = "handoff/work".parse().unwrap();
    let path = stage.env.root().join("second");
    let error = stage
        .git
        .add_worktree(&stage.here(), &path, &branch, &stage.head())
        .unwrap_err();
    let WorktreeError::Git(GitError::Failed { complaint, .. }) = error else {
        panic!("{error}")
    };
    assert!(
        complaint.ends_with("reference already exists"),
        "{complaint}"
    );
    assert!(!path.exists());
    assert_eq!(stage.git.list_worktrees(&stage.here()).unwrap().len(), 2);
}

#[test]
fn eight_worktrees_made_at_once_are_all_there() {
    let stage = Stage::new();
    let (repository, base) = (stage.here(), stage.head());
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (stage, repository, base) = (&stage, &repository, &base);
            scope.spawn(move || {
                let branch = format!("handoff/parallel-{number}").parse().unwrap();
                let path = stage.env.root().join(format!("parallel-{number}"));
                stage
                    .git
                    .add_worktree(repository, &path, &branch, base)
                    .unwrap();
            });
        }
    });
    assert_eq!(stage.git.list_worktrees(&repository).unwrap().len(), 9);
    stage.repo.fsck();
}

#[test]
fn a_worktree_is_removed_with_what_is_in_it_also_when_it_is_gone_already() {
    let stage = Stage::new();
    let repository = stage.here();
    for is_gone in [false, true] {
        let branch = format!("handoff/gone-{is_gone}").parse().unwrap();
        let path = stage.env.root().join("brief");
        stage
            .git
            .add_worktree(&repository, &path, &branch, &stage.head())
            .unwrap();
        fs::write(path.join("untracked"), "").unwrap();
        if is_gone {
            fs::remove_dir_all(&path).unwrap();
        }
        stage.git.remove_worktree(&repository, &path).unwrap();
        assert!(!path.exists());
        assert_eq!(stage.git.list_worktrees(&repository).unwrap().len(), 1);
        assert!(
            stage
                .git
                .resolve_branch(&repository, &branch)
                .unwrap()
                .is_some()
        );
    }
}

#[test]
fn the_main_worktree_is_never_removed() {
    let stage = Stage::new();
    stage
        .git
        .remove_worktree(&stage.here(), stage.repo.path())
        .unwrap_err();
    assert!(stage.repo.path().join("README.md").exists());
}

#[test]
fn one_that_was_never_finished_goes_with_the_lock_on_its_branch() {
    let stage = Stage::new();
    let linked = stage.linked();
    let path = linked.worktree_root().unwrap().to_owned();
    let admin = linked.git_dir().to_owned();
    std::fs::remove_dir_all(&path).unwrap();
    std::fs::write(admin.join("HEAD"), "0".repeat(40) + "\n").unwrap();
    std::fs::write(admin.join("locked"), "initializing\n").unwrap();
    let lock = stage.repo.path().join(".git/refs/heads/handoff/work.lock");
    std::fs::write(&lock, "").unwrap();

    stage.git.remove_worktree(&stage.here(), &path).unwrap();
    let branch = "handoff/work".parse().unwrap();
    stage.git.unlock_branch(&stage.here(), &branch).unwrap();
    assert!(!admin.exists() && !lock.exists());
    assert_eq!(stage.git.list_worktrees(&stage.here()).unwrap().len(), 1);
    stage.repo.fsck();
}

#[test]
fn the_lock_on_packed_refs_that_a_killed_git_left_goes_with_the_next_change() {
    let stage = Stage::new();
    let git_dir = stage.repo.path().join(".git");
    let lock = git_dir.join("packed-refs.lock");
    let path = stage.env.root().join("brief");
    let remove = || stage.git.remove_worktree(&stage.here(), &path).unwrap();
    remove();
    // Nobody of ours was killed, so it is somebody's.
    fs::write(&lock, "").unwrap();
    remove();
    assert!(lock.exists());
    fs::remove_file(&lock).unwrap();

    fs::write(git_dir.join("handoff/worktrees.note"), "").unwrap();
    fs::write(&lock, "").unwrap();
    remove();
    assert!(!lock.exists() && !git_dir.join("handoff/worktrees.note").exists());
}

#[test]
fn a_tree_in_which_a_git_was_killed_is_laid_out_again() {
    let stage = Stage::new();
    let path = stage.env.root().join("referee");
    let (git, here, base) = (&stage.git, stage.here(), stage.head());
    let at = git.lay_out(&here, &path, &base).unwrap();
    for name in ["index.lock", "HEAD.lock"] {
        fs::write(at.git_dir().join(name), "").unwrap();
    }
    fs::write(path.join("left"), "").unwrap();
    git.lay_out(&here, &path, &base).unwrap();
    assert!(path.join("README.md").exists() && !path.join("left").exists());
}

#[test]
fn a_lock_that_stays_on_a_ref_of_ours_is_removed() {
    let stage = Stage::new();
    let lock = stage.repo.path().join(".git/refs/notes/handoff.lock");
    stage.repo.write(".git/refs/notes/handoff.lock", "");
    for _ in 0..2 {
        let name = "refs/notes/handoff";
        stage.git.unlock_ref(&stage.here(), name).unwrap();
        assert!(!lock.exists());
    }
}

#[test]
fn a_worktree_is_told_where_its_repository_was_moved_and_keeps_nothing_of_before() {
    let stage = Stage::new();
    let base = stage.head();
    let branch: BranchName = "handoff/fix-1".parse().unwrap();
    let path = stage.env.root().join("fix-1");
    let linked = stage
        .git
        .add_worktree(&stage.here(), &path, &branch, &base)
        .unwrap();
    assert!(!linked.is_left_behind());
    let elsewhere = stage.env.root().join("elsewhere");
    fs::rename(stage.repo.path(), &elsewhere).unwrap();
    let moved = Repository::discover(&elsewhere).unwrap();
    let moved = moved.linked_at(&path).unwrap();
    assert!(moved.is_left_behind());
    moved.relink().unwrap();
    assert!(!moved.is_left_behind());
    let names: Vec<_> = { fs::read_dir(&path).unwrap() }
        .map(|it| it.unwrap().file_name())
        .filter(|it| it.to_string_lossy().contains("git"))
        .collect();
    assert_eq!(names, [".git"]);
}
