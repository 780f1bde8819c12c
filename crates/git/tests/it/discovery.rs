use std::fs;

use handoff_git::{DiscoverError, Repository};

use crate::stage::Stage;

#[test]
fn a_repository_is_found_from_a_sub_directory_and_through_a_link() {
    let stage = Stage::new();
    stage.repo.write("a/b/file", "");
    let link = stage.env.root().join("link");
    std::os::unix::fs::symlink(stage.repo.path().join("a/b"), &link).unwrap();
    for start in [stage.repo.path().join("a/b"), link] {
        let repository = Repository::discover(&start).unwrap();
        assert_eq!(repository.worktree_root(), Some(stage.repo.path()));
        assert_eq!(repository.main_worktree(), Some(stage.repo.path()));
        assert_eq!(repository.common_dir(), stage.repo.path().join(".git"));
    }
}

#[test]
fn a_linked_worktree_shares_the_common_directory() {
    let stage = Stage::new();
    let linked = stage.linked();
    assert_eq!(
        linked.worktree_root(),
        Some(&*stage.env.root().join("linked"))
    );
    assert_eq!(linked.main_worktree(), Some(stage.repo.path()));
    assert_eq!(linked.common_dir(), stage.here().common_dir());
    assert_eq!(
        linked.git_dir(),
        stage.repo.path().join(".git/worktrees/linked")
    );
}

#[test]
fn a_bare_repository_and_its_worktree_have_no_main_worktree() {
    let stage = Stage::new();
    let bare = stage.env.root().join("bare.git");
    let linked = stage.env.root().join("of-bare");
    stage.repo.git(
        ["clone", "--quiet", "--bare", "."]
            .map(Into::into)
            .into_iter()
            .chain([bare.clone()]),
    );
    stage.repo.git([
        "-C".into(),
        bare.clone(),
        "worktree".into(),
        "add".into(),
        "-q".into(),
        linked.clone(),
    ]);
    let inside = Repository::discover(&bare.join("objects")).unwrap();
    assert_eq!(
        (inside.common_dir(), inside.worktree_root()),
        (&*bare, None)
    );
    let linked = Repository::discover(&linked).unwrap();
    assert_eq!(
        (linked.common_dir(), linked.main_worktree()),
        (&*bare, None)
    );
}

#[test]
fn inside_dot_git_there_is_a_repository_and_no_tree() {
    let stage = Stage::new();
    stage.linked();
    let dot_git = stage.repo.path().join(".git");
    for place in ["", "objects", "worktrees/linked"] {
        let repository = Repository::discover(&dot_git.join(place)).unwrap();
        assert_eq!(repository.worktree_root(), None, "{place}");
        assert_eq!(repository.common_dir(), dot_git, "{place}");
        assert_eq!(
            repository.main_worktree(),
            Some(stage.repo.path()),
            "{place}"
        );
    }
}

#[test]
fn a_relative_git_file_is_relative_to_its_directory() {
    let stage = Stage::new();
    stage.repo.write("sub/.git", "gitdir: ../elsewhere\n");
    fs::rename(
        stage.repo.path().join(".git"),
        stage.repo.path().join("elsewhere"),
    )
    .unwrap();
    let repository = Repository::discover(&stage.repo.path().join("sub")).unwrap();
    assert_eq!(repository.git_dir(), stage.repo.path().join("elsewhere"));
}

#[test]
fn a_malformed_git_file_is_refused_and_no_outer_repository_taken() {
    let stage = Stage::new();
    for content in [
        "",
        "\n",
        "gitdir:",
        "gitdir: ",
        "gitdir: \n",
        "../.git\n",
        "gitdir: a\nb\n",
        "gitdir: a\0b",
    ] {
        stage.repo.write("sub/.git", content);
        let error = Repository::discover(&stage.repo.path().join("sub")).unwrap_err();
        assert!(
            matches!(error, DiscoverError::MalformedGitFile(_)),
            "{content:?}: {error}"
        );
    }
    stage.repo.write("sub/.git", "gitdir: ../nowhere\n");
    let error = Repository::discover(&stage.repo.path().join("sub")).unwrap_err();
    assert!(
        matches!(error, DiscoverError::PointsNowhere { .. }),
        "{error}"
    );
}

#[test]
fn open_takes_no_repository_around_a_tree_that_is_gone() {
    let stage = Stage::new();
    stage.repo.write("sub/file", "");
    let error = Repository::open(&stage.repo.path().join("sub")).unwrap_err();
    assert!(matches!(error, DiscoverError::NotFound(_)), "{error}");
    assert_eq!(Repository::open(stage.repo.path()).unwrap(), stage.here());
}

#[test]
fn a_directory_outside_of_any_repository_is_named() {
    let stage = Stage::new();
    fs::create_dir(stage.env.work().join(".git")).unwrap();
    let error = Repository::discover(&stage.env.work()).unwrap_err();
    assert!(matches!(error, DiscoverError::NotFound(_)), "{error}");
}
