use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use handoff_git::{IndexState, SafeCommitError, StagingRefusal, Version};

use crate::stage::Stage;

#[test]
fn exactly_the_declared_paths_are_committed_and_all_else_stays() {
    let stage = Stage::new();
    for name in ["mine", "gone", "tool", "theirs", "edited", "both"] {
        stage.repo.write(name, "old");
    }
    let base = stage.repo.commit("base");
    stage.repo.write("theirs", "staged").git(["add", "theirs"]);
    stage.repo.write("both", "staged").git(["add", "both"]);
    stage.repo.write("both", "edited").write("edited", "edited");
    stage.repo.write("mine", "new").write("new/file", "new");
    fs::remove_file(stage.repo.path().join("gone")).unwrap();
    let tool = stage.repo.path().join("tool");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();

    let made = stage
        .safe_commit(&["mine", "gone", "tool", "new/file"])
        .unwrap();

    assert_eq!(stage.repo.head(), made.commit.as_str());
    assert_eq!(made.parent.unwrap().as_str(), base);
    assert_eq!(made.branch.unwrap(), "refs/heads/main");
    assert_eq!(made.index, IndexState::Current);
    let changes = stage.repo.changes_of(made.commit.as_str());
    assert_eq!(changes, ["gone", "mine", "new/file", "tool"]);
    assert_eq!(stage.repo.status(), ["MM both", " M edited", "M  theirs"]);
    assert_eq!(stage.repo.git(["show", ":both"]), "staged");
    let log = stage.repo.git(["reflog", "-1", "--format=%H %gs"]);
    assert_eq!(log, format!("{} commit: message", made.commit));
    let branch_log = stage.repo.git(["reflog", "-1", "--format=%H %gs", "main"]);
    assert_eq!(branch_log, log);
    stage.assert_clean();
}

#[test]
fn odd_names_are_only_names() {
    let stage = Stage::new();
    let names: [&[u8]; 9] = [
        b"-x",
        b"--all",
        b"a\nb",
        b"q\"uo'te",
        b":(top)x",
        b"*",
        b"tab\there",
        b"not-utf8-\xff\xfe",
        "\u{fc}mlaut \u{4e2d}".as_bytes(),
    ];
    stage.repo.write("other", "left alone");
    for name in names {
        stage.repo.write(std::ffi::OsStr::from_bytes(name), "text");
    }
    let root = stage.repo.path().to_owned();
    let made = stage.safe_commit_in(&root, &names, Version::Only).unwrap();
    assert_eq!(made.paths.len(), 9);
    assert_eq!(stage.repo.status(), ["?? other"]);
    for name in names {
        fs::remove_file(root.join(std::ffi::OsStr::from_bytes(name))).unwrap();
    }
    stage.safe_commit_in(&root, &names, Version::Only).unwrap();
    assert_eq!(stage.repo.files_of("HEAD"), ["README.md"]);
    stage.assert_clean();
}

#[test]
fn two_versions_need_a_word() {
    let stage = Stage::new();
    stage
        .repo
        .write("a", "old")
        .write("b", "old")
        .commit("base");
    stage.repo.write("a", "staged").git(["add", "a"]);
    stage.repo.write("b", "theirs").git(["add", "b"]);
    stage.repo.write("a", "tree");
    let root = stage.repo.path().to_owned();
    let base = stage.repo.head();

    let refused = stage.safe_commit(&["a"]).unwrap_err();
    let SafeCommitError::Staging(StagingRefusal::TwoVersions(_)) = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(
        refused.to_string(),
        "`a` is staged and edited further: two versions could be meant"
    );
    assert_eq!(stage.repo.head(), base);

    let made = stage
        .safe_commit_in(&root, &[b"a"], Version::Staged)
        .unwrap();
    assert_eq!(stage.repo.file_of(made.commit.as_str(), "a"), "staged");
    assert_eq!(stage.repo.changes_of("HEAD"), ["a"]);
    assert_eq!(stage.repo.status(), [" M a", "M  b"]);

    stage.repo.write("a", "staged again").git(["add", "a"]);
    stage.repo.write("a", "tree");
    let made = stage.safe_commit_in(&root, &[b"a"], Version::Tree).unwrap();
    assert_eq!(stage.repo.file_of(made.commit.as_str(), "a"), "tree");
    assert_eq!(stage.repo.status(), ["M  b"]);
    stage.assert_clean();
}

#[test]
fn what_is_refused_leaves_nothing_behind() {
    let stage = Stage::new();
    stage
        .repo
        .write("src/a", "old")
        .write(".gitignore", "ignored\n");
    stage.repo.commit("base");
    stage.repo.write("src/a", "new").write("src/b", "new");
    stage.repo.write("ignored", "");
    let before = fs::read(stage.repo.path().join(".git/index")).unwrap();
    let table = [
        (&["src"][..], "`src` is a directory; name the files"),
        (&["ignored"], "`ignored` is ignored by git"),
        (&["nowhere"], "`nowhere` is neither in the tree nor in HEAD"),
        (&["README.md"], "nothing has changed in the declared paths"),
    ];
    for (paths, says) in table {
        let refused = stage.safe_commit(paths).unwrap_err();
        assert_eq!(refused.to_string(), says);
    }
    assert_eq!(
        fs::read(stage.repo.path().join(".git/index")).unwrap(),
        before
    );
    stage.assert_clean();
}

#[test]
fn the_first_commit_of_a_branch_is_made() {
    let stage = Stage::new();
    stage
        .repo
        .git(["checkout", "--quiet", "--orphan", "new/born"]);
    stage.repo.git(["rm", "--quiet", "--cached", "README.md"]);
    stage
        .repo
        .write("a", "first")
        .write("b", "staged")
        .git(["add", "b"]);
    let made = stage.safe_commit(&["a"]).unwrap();
    assert_eq!(made.parent, None);
    assert_eq!(stage.repo.files_of("HEAD"), ["a"]);
    assert_eq!(
        stage.repo.git(["symbolic-ref", "HEAD"]),
        "refs/heads/new/born"
    );
    assert_eq!(stage.repo.status(), ["A  b", "?? README.md"]);
    stage.assert_clean();
}

#[test]
fn a_detached_head_moves_alone() {
    let stage = Stage::new();
    let base = stage.repo.head();
    stage.repo.git(["checkout", "--quiet", "--detach"]);
    stage.repo.write("a", "new");
    let made = stage.safe_commit(&["a"]).unwrap();
    assert_eq!(made.branch, None);
    assert_eq!(stage.repo.head(), made.commit.as_str());
    assert_eq!(stage.repo.resolve("main").unwrap(), base);
    assert_eq!(stage.repo.status(), Vec::<String>::new());
    stage.assert_clean();
}

#[test]
fn a_linked_worktree_commits_to_its_own_branch() {
    let stage = Stage::new();
    let linked = stage.linked();
    let root = linked.worktree_root().unwrap();
    let base = stage.repo.head();
    fs::write(root.join("a"), "linked").unwrap();
    let made = stage.safe_commit_in(root, &[b"a"], Version::Only).unwrap();
    assert_eq!(made.branch.unwrap(), "refs/heads/handoff/work");
    assert_eq!(
        stage.repo.resolve("handoff/work").unwrap(),
        made.commit.as_str()
    );
    assert_eq!(stage.repo.head(), base);
    stage.assert_clean();
}

#[test]
fn a_merge_is_concluded_with_its_own_paths_and_the_declared_ones() {
    let stage = Stage::new();
    stage
        .repo
        .write("both", "base")
        .write("other", "base")
        .commit("base");
    stage.repo.git(["checkout", "--quiet", "-b", "side"]);
    stage
        .repo
        .write("both", "side")
        .write("side", "side")
        .commit("side");
    stage.repo.git(["checkout", "--quiet", "main"]);
    stage.repo.write("both", "main").commit("main");
    let merge = stage.repo.command(["merge", "side"]).output().unwrap();
    assert!(!merge.status.success());

    let unresolved = stage.safe_commit(&["other"]).unwrap_err();
    assert_eq!(
        unresolved.to_string(),
        "the merge is not resolved in `both`"
    );

    stage.repo.write("theirs", "staged").git(["add", "theirs"]);
    stage.repo.write("both", "resolved");
    let swept = stage.safe_commit(&["both"]).unwrap_err();
    assert_eq!(swept.to_string(), "the merge would also commit `theirs`");

    stage.repo.git(["rm", "--quiet", "--cached", "theirs"]);
    let made = stage.safe_commit(&["both"]).unwrap();
    let parents = stage
        .repo
        .git(["rev-list", "--parents", "-1", made.commit.as_str()]);
    assert_eq!(parents.split(' ').count(), 3);
    assert_eq!(stage.repo.file_of("HEAD", "both"), "resolved");
    assert_eq!(stage.repo.file_of("HEAD", "side"), "side");
    assert_eq!(stage.repo.status(), ["?? theirs"]);
    assert!(!stage.repo.path().join(".git/MERGE_HEAD").exists());
    stage.assert_clean();
}

#[test]
fn another_operation_under_way_is_not_torn_apart() {
    let stage = Stage::new();
    stage.repo.write("a", "base").commit("base");
    stage.repo.git(["checkout", "--quiet", "-b", "side"]);
    stage.repo.write("a", "side").commit("side");
    stage.repo.git(["checkout", "--quiet", "main"]);
    stage.repo.write("a", "main").commit("main");
    let pick = stage
        .repo
        .command(["cherry-pick", "side"])
        .output()
        .unwrap();
    assert!(!pick.status.success());
    let refused = stage.safe_commit(&["a"]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a cherry-pick is under way in this tree"
    );
}

#[test]
fn links_submodules_and_changed_kinds_are_committed() {
    let stage = Stage::new();
    stage
        .repo
        .write("file", "text")
        .write("dir/a", "text")
        .commit("base");
    let module = stage.env.repo("module");
    let source = module.path().to_str().unwrap();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        source,
        "sub",
    ];
    stage.repo.git(add);
    stage.repo.commit("with a submodule");

    fs::remove_file(stage.repo.path().join("file")).unwrap();
    symlink("dir/a", stage.repo.path().join("file")).unwrap();
    let inner = stage.repo.path().join("sub");
    fs::write(inner.join("more"), "").unwrap();
    for args in [&["add", "more"][..], &["commit", "--quiet", "-m", "more"]] {
        let mut git = stage.repo.command(args);
        assert!(git.current_dir(&inner).status().unwrap().success());
    }
    let made = stage.safe_commit(&["file", "sub"]).unwrap();
    assert_eq!(stage.repo.changes_of(made.commit.as_str()), ["file", "sub"]);

    fs::remove_dir_all(stage.repo.path().join("dir")).unwrap();
    stage.repo.write("dir", "a file now");
    let refused = stage.safe_commit(&["dir"]).unwrap_err();
    assert_eq!(refused.to_string(), "the commit would also change `dir/a`");
    assert_eq!(stage.repo.head(), made.commit.as_str());
    stage.assert_clean();
}

#[test]
fn what_somebody_stages_meanwhile_stays_staged() {
    let stage = Stage::new();
    stage.repo.write("mine", "new").write("theirs", "new");
    let repo = stage.repo.path().display();
    stage.hook(
        "pre-commit",
        &format!("env -u GIT_INDEX_FILE git -C {repo} add theirs"),
    );
    let made = stage.safe_commit(&["mine"]).unwrap();
    assert_eq!(stage.repo.changes_of(made.commit.as_str()), ["mine"]);
    assert_eq!(stage.repo.status(), ["A  theirs"]);
    stage.assert_clean();
}

#[test]
fn a_commit_of_somebody_else_meanwhile_is_not_undone() {
    let stage = Stage::new();
    stage.repo.write("mine", "new").write("theirs", "new");
    let repo = stage.repo.path().display();
    let git = format!("env -u GIT_INDEX_FILE git -C {repo}");
    stage.hook(
        "pre-commit",
        &format!("rm .git/hooks/pre-commit; {git} add theirs && {git} commit -q -m theirs"),
    );
    let refused = stage.safe_commit(&["mine"]).unwrap_err();
    assert!(matches!(refused, SafeCommitError::HeadMoved), "{refused:?}");
    assert_eq!(stage.repo.files_of("HEAD"), ["README.md", "theirs"]);
    stage.safe_commit(&["mine"]).unwrap();
    assert_eq!(stage.repo.files_of("HEAD"), ["README.md", "mine", "theirs"]);
    stage.assert_clean();
}

#[test]
fn what_somebody_stages_of_a_declared_path_meanwhile_stays_staged() {
    let stage = Stage::new();
    stage.repo.write("a", "0").commit("base");
    stage.repo.write("a", "1");
    let repo = stage.repo.path().display();
    let git = format!("env -u GIT_INDEX_FILE git -C {repo}");
    let hook = format!("printf 2 > {repo}/a; {git} add a; printf 3 > {repo}/a");
    stage.hook("pre-commit", &hook);
    let made = stage.safe_commit(&["a"]).unwrap();
    assert_eq!(stage.repo.file_of(made.commit.as_str(), "a"), "1");
    assert_eq!(stage.repo.git(["show", ":a"]), "2");
    assert_eq!(stage.repo.status(), ["MM a"]);
    stage.assert_clean();
}

/// Nobody can tell who wrote which line. Who has a tree of their own need not.
#[test]
fn who_edits_the_same_file_in_the_same_tree_is_in_the_commit() {
    let stage = Stage::new();
    stage.repo.write("a", "base\n").commit("base");
    let linked = stage.linked();
    let own = linked.worktree_root().unwrap();
    stage
        .repo
        .write("a", "base\nmine\n")
        .write("a", "base\nmine\ntheirs\n");
    let made = stage.safe_commit(&["a"]).unwrap();
    let text = stage.repo.file_of(made.commit.as_str(), "a");
    assert_eq!(text, "base\nmine\ntheirs\n");
    fs::write(own.join("a"), "base\nown\n").unwrap();
    let made = stage.safe_commit_in(own, &[b"a"], Version::Only).unwrap();
    let text = stage.repo.file_of(made.commit.as_str(), "a");
    assert_eq!(text, "base\nown\n");
}

#[test]
fn an_index_in_two_halves_is_used() {
    let stage = Stage::new();
    stage
        .repo
        .write("a", "old")
        .write("theirs", "old")
        .commit("base");
    stage.repo.git(["update-index", "--split-index"]);
    stage.repo.write("theirs", "staged").git(["add", "theirs"]);
    stage.repo.write("a", "new");
    let made = stage.safe_commit(&["a"]).unwrap();
    assert_eq!(stage.repo.changes_of(made.commit.as_str()), ["a"]);
    assert_eq!(stage.repo.status(), ["M  theirs"]);
    stage.assert_clean();
}

#[test]
fn ids_may_be_long() {
    let stage = Stage::new();
    let root = stage.env.root().join("long");
    let shown = root.to_str().unwrap();
    let git = |words: &[&str]| stage.repo.git([&["-C", shown], words].concat());
    stage
        .repo
        .git(["init", "-q", "-b", "main", "--object-format=sha256", shown]);
    std::fs::write(root.join("a"), "1").unwrap();
    std::fs::write(root.join("theirs"), "1").unwrap();
    git(&["add", "a", "theirs"]);
    let first = stage.safe_commit_in(&root, &[b"a"], Version::Staged);
    assert_eq!(first.unwrap().commit.as_str().len(), 64);
    std::fs::write(root.join("a"), "2").unwrap();
    stage.safe_commit_in(&root, &[b"a"], Version::Tree).unwrap();
    assert_eq!(git(&["show", "HEAD:a"]), "2");
    assert_eq!(git(&["status", "--short"]), "A  theirs");
}
