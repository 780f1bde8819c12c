use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use handoff_git::CommitError;

use crate::stage::{Stage, git_of, paths};

#[test]
fn exactly_the_declared_paths_are_committed_and_all_else_stays() {
    let stage = Stage::new();
    for name in [
        "mine",
        "gone",
        "tool",
        "other-staged",
        "other-edited",
        "both",
    ] {
        stage.repo.write(name, "old");
    }
    let base = stage.repo.commit("base");
    stage
        .repo
        .write("other-staged", "staged")
        .git(["add", "other-staged"]);
    stage.repo.write("both", "staged").git(["add", "both"]);
    stage
        .repo
        .write("both", "edited")
        .write("other-edited", "edited")
        .write("other-new", "");
    stage.repo.write("mine", "new").write("new/file", "new");
    fs::remove_file(stage.repo.path().join("gone")).unwrap();
    let tool = stage.repo.path().join("tool");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();

    let declared = paths(["mine", "gone", "tool", "new/file"]);
    let message = "subject\n\nTask: task_1\n";
    let commit = stage
        .git
        .commit_paths(&stage.here(), &declared, message)
        .unwrap();

    assert_eq!(stage.repo.head(), commit.as_str());
    assert_eq!(
        stage.repo.git(["rev-parse", "main", "main^"]),
        format!("{commit}\n{base}")
    );
    assert_eq!(
        stage.repo.changes_of(commit.as_str()),
        ["gone", "mine", "new/file", "tool"]
    );
    assert!(
        stage
            .repo
            .git(["ls-tree", commit.as_str(), "tool"])
            .starts_with("100755")
    );
    assert_eq!(stage.repo.git(["log", "-1", "--format=%B"]), message);
    let left = [
        "MM both",
        " M other-edited",
        "M  other-staged",
        "?? other-new",
    ];
    assert_eq!(stage.repo.status(), left);
    assert_eq!(stage.repo.git(["show", ":both"]), "staged");
    assert_eq!(
        stage.repo.git(["diff-files", "--name-only"]),
        "both\nother-edited"
    );
    stage.repo.fsck();
}

#[test]
fn names_that_look_like_something_else_are_only_names() {
    let stage = Stage::new();
    let names = [
        "-x",
        "--all",
        "a\nb",
        "a\"b'c",
        ":(glob)*",
        "*",
        "dir/-- ",
        "\u{e9}\\t",
        "HEAD",
    ];
    for name in names {
        stage.repo.write(name, "new");
    }
    stage.repo.write("undeclared", "");
    let commit = stage
        .git
        .commit_paths(&stage.here(), &paths(names), "names")
        .unwrap();
    let mut sorted = names;
    sorted.sort_unstable();
    assert_eq!(stage.repo.changes_of(commit.as_str()), sorted);
    assert_eq!(stage.repo.status(), ["?? undeclared"]);
}

#[test]
fn a_declared_path_that_was_staged_and_put_back_is_clean_afterwards() {
    let stage = Stage::new();
    stage.repo.write("back", "old").commit("base");
    stage.repo.write("back", "staged").git(["add", "back"]);
    stage.repo.write("back", "old").write("new", "");
    stage
        .git
        .commit_paths(&stage.here(), &paths(["back", "new"]), "m")
        .unwrap();
    assert_eq!(stage.repo.status(), [""; 0]);
}

#[test]
fn a_commit_in_a_linked_worktree_moves_its_branch_only() {
    let stage = Stage::new();
    let (base, linked) = (stage.head(), stage.linked());
    fs::write(linked.worktree_root().unwrap().join("new"), "").unwrap();
    let commit = stage
        .git
        .commit_paths(&linked, &paths(["new"]), "m")
        .unwrap();
    let branch = "handoff/work".parse().unwrap();
    assert_eq!(
        stage.git.resolve_branch(&linked, &branch).unwrap(),
        Some(commit)
    );
    assert_eq!(stage.head(), base);
}

#[test]
fn a_commit_of_nothing_is_refused() {
    let stage = Stage::new();
    stage.repo.write("other", "");
    let base = stage.head();
    for declared in [&paths(["README.md", "not/there"])[..], &[]] {
        let error = stage
            .git
            .commit_paths(&stage.here(), declared, "m")
            .unwrap_err();
        assert!(matches!(error, CommitError::Empty), "{error}");
    }
    assert_eq!(stage.head(), base);
}

#[test]
fn a_file_in_the_place_of_a_directory_needs_both_declared() {
    let stage = Stage::new();
    stage.repo.write("place/inner", "").commit("base");
    fs::remove_dir_all(stage.repo.path().join("place")).unwrap();
    stage.repo.write("place", "now a file");
    let error = stage
        .git
        .commit_paths(&stage.here(), &paths(["place"]), "m")
        .unwrap_err();
    let CommitError::Others(others) = error else {
        panic!("{error}")
    };
    assert_eq!(others, ["place/inner"]);
    let both = paths(["place", "place/inner"]);
    let commit = stage.git.commit_paths(&stage.here(), &both, "m").unwrap();
    assert_eq!(
        stage.repo.changes_of(commit.as_str()),
        ["place", "place/inner"]
    );
    assert_eq!(stage.repo.status(), [""; 0]);
}

/// A clean filter runs between reading HEAD and moving it, and so can get in between.
#[test]
fn a_commit_onto_a_head_that_moved_meanwhile_is_refused() {
    let stage = Stage::new();
    let base = stage.head();
    let body = "unset GIT_INDEX_FILE; git update-ref HEAD \
                $(git commit-tree -p HEAD -m intruder HEAD^{tree} </dev/null); cat";
    let filter = stage.script("intrude", body);
    stage.repo.write(".gitattributes", "mine filter=intrude\n");
    stage
        .repo
        .git(["config", "filter.intrude.clean", filter.to_str().unwrap()]);
    stage.repo.write("mine", "new");
    let error = stage
        .git
        .commit_paths(&stage.here(), &paths(["mine"]), "m")
        .unwrap_err();
    let CommitError::HeadMoved { expected, found } = error else {
        panic!("{error}")
    };
    assert_eq!((expected, found), (base, stage.head()));
    assert_eq!(stage.repo.git(["log", "-1", "--format=%s"]), "intruder");
}

#[test]
fn a_locked_index_is_reported_with_the_commit_that_was_made() {
    let stage = Stage::new();
    stage.repo.write("mine", "new").write(".git/index.lock", "");
    let error = stage
        .git
        .commit_paths(&stage.here(), &paths(["mine"]), "m")
        .unwrap_err();
    let CommitError::IndexLeft { commit, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(stage.head(), commit);
    assert!(stage.repo.path().join(".git/index.lock").exists());
}

#[test]
fn the_author_is_the_user_or_else_handoff() {
    let mut stage = Stage::new();
    let author = |stage: &Stage, name: &str| {
        stage.repo.write(name, "");
        stage
            .git
            .commit_paths(&stage.here(), &paths([name]), "m")
            .unwrap();
        stage
            .repo
            .git(["log", "-1", "--format=%an <%ae> %cn <%ce>"])
    };
    assert_eq!(
        author(&stage, "a"),
        "Test <test@example.org> Test <test@example.org>"
    );
    stage.env.set("GIT_CONFIG_GLOBAL", "/dev/null");
    stage.git = git_of(&stage.env);
    assert_eq!(
        author(&stage, "b"),
        "handoff <handoff@localhost> handoff <handoff@localhost>"
    );
}

#[test]
fn a_repository_within_the_tree_is_not_committed() {
    let stage = Stage::new();
    stage.repo.git(["clone", "--quiet", ".", "nested"]);
    let error = stage
        .git
        .commit_paths(&stage.here(), &paths(["nested"]), "m")
        .unwrap_err();
    assert!(matches!(error, CommitError::NestedRepository(_)), "{error}");
}
