//! What takes the place of something else, and what a squashed merge leaves.

use std::fs;
use std::os::unix::fs::symlink;

use handoff_git::Version;

use crate::stage::Stage;

/// `name` becomes a directory with a file in it.
fn replace_by_directory(stage: &Stage, name: &str) {
    fs::remove_file(stage.repo.path().join(name)).unwrap();
    stage.repo.write(format!("{name}/inside"), "new");
}

#[test]
fn a_directory_takes_the_place_of_a_file_or_a_link() {
    let stage = Stage::new();
    stage.repo.write("file", "old").write("theirs", "old");
    symlink("theirs", stage.repo.path().join("link")).unwrap();
    stage.repo.commit("base");
    stage.repo.write("theirs", "staged").git(["add", "theirs"]);
    for name in ["file", "link"] {
        replace_by_directory(&stage, name);
        let inside = format!("{name}/inside");
        let refused = stage.safe_commit(&[&inside]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("the commit would also change `{name}`")
        );
        let made = stage.safe_commit(&[name, &inside]).unwrap();
        let changes = stage.repo.changes_of(made.commit.as_str());
        assert_eq!(changes, [name, inside.as_str()]);
        stage.assert_clean();
    }
    assert_eq!(stage.repo.status(), ["M  theirs"]);
}

#[test]
fn what_was_staged_of_the_file_is_another_version() {
    let stage = Stage::new();
    stage.repo.write("file", "old").commit("base");
    stage.repo.write("file", "staged").git(["add", "file"]);
    replace_by_directory(&stage, "file");
    stage.safe_commit(&["file", "file/inside"]).unwrap_err();
    let root = stage.repo.path();
    let paths: [&[u8]; 2] = [b"file", b"file/inside"];
    stage.safe_commit_in(root, &paths, Version::Tree).unwrap();
    assert_eq!(stage.repo.status(), Vec::<String>::new());
}

#[test]
fn who_commits_the_last_of_a_squashed_merge_concludes_it() {
    let stage = Stage::new();
    stage.repo.write("mine", "old").commit("base");
    stage.repo.git(["checkout", "--quiet", "-b", "side"]);
    stage
        .repo
        .write("one", "new")
        .write("two", "new")
        .commit("side");
    stage.repo.git(["checkout", "--quiet", "main"]);
    stage.repo.git(["merge", "--quiet", "--squash", "side"]);
    let message = stage.repo.path().join(".git/SQUASH_MSG");
    assert!(message.exists());
    stage.safe_commit(&["one"]).unwrap();
    assert!(message.exists());
    stage.safe_commit(&["two"]).unwrap();
    assert!(!message.exists());
    assert_eq!(stage.repo.status(), Vec::<String>::new());
}
