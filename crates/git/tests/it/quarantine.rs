use std::fs;

use handoff_core::BranchName;
use handoff_git::{QuarantineError, SnapshotError};

use crate::stage::Stage;

const REF: &str = "refs/handoff/quarantine/handoff/work";

fn branch() -> BranchName {
    "handoff/work".parse().unwrap()
}

#[test]
fn everything_uncommitted_is_kept_on_top_of_head() {
    let stage = Stage::new();
    for name in ["edited", "removed", "staged", ".gitignore"] {
        stage.repo.write(name, "ignored\n");
    }
    let head = stage.repo.commit("base");
    stage.repo.write("staged", "new").git(["add", "staged"]);
    stage
        .repo
        .write("edited", "new")
        .write("untracked", "new")
        .write("ignored", "");
    fs::remove_file(stage.repo.path().join("removed")).unwrap();
    let status = stage.repo.status();

    let kept = stage
        .git
        .quarantine(&stage.here(), &branch())
        .unwrap()
        .unwrap();

    assert_eq!(stage.repo.resolve(REF).as_deref(), Some(kept.as_str()));
    assert_eq!(stage.repo.git(["rev-parse", &format!("{kept}^@")]), head);
    let changed = ["edited", "removed", "staged", "untracked"];
    assert_eq!(stage.repo.changes_of(kept.as_str()), changed);
    assert_eq!(stage.repo.file_of(kept.as_str(), "untracked"), "new");
    assert_eq!((stage.repo.head(), stage.repo.status()), (head, status));
}

#[test]
fn a_clean_tree_leaves_nothing() {
    let stage = Stage::new();
    assert_eq!(
        stage.git.quarantine(&stage.here(), &branch()).unwrap(),
        None
    );
    assert_eq!(stage.repo.resolve(REF), None);
}

#[test]
fn the_same_work_is_kept_once_and_other_work_beside_it() {
    let stage = Stage::new();
    let quarantine = || {
        stage
            .git
            .quarantine(&stage.here(), &branch())
            .unwrap()
            .unwrap()
    };
    stage.repo.write("a", "first");
    let first = quarantine();
    assert_eq!(quarantine(), first);
    stage.repo.write("a", "second");
    let second = quarantine();
    let parents = stage.repo.git(["rev-parse", &format!("{second}^@")]);
    assert_eq!(parents, format!("{}\n{first}", stage.repo.head()));
    assert_eq!(stage.repo.resolve(REF).as_deref(), Some(second.as_str()));
}

#[test]
fn files_of_a_nested_repository_are_not_given_up() {
    let stage = Stage::new();
    stage.repo.git(["clone", "--quiet", ".", "nested"]);
    let error = stage.git.quarantine(&stage.here(), &branch()).unwrap_err();
    let QuarantineError::Snapshot(SnapshotError::NestedRepository(path)) = error else {
        panic!("{error}")
    };
    assert_eq!(path, "nested");
}

#[test]
fn what_is_too_large_for_a_repository_stays_where_it_is() {
    let stage = Stage::new();
    let file = stage.repo.path().join("large");
    // It has no content, and would still have to be read.
    let large = fs::File::create(&file).unwrap();
    large.set_len(5 << 30).unwrap();
    let kept = stage.git.quarantine(&stage.here(), &branch());
    let told = kept.unwrap_err().to_string();
    assert_eq!(
        told,
        "its uncommitted files have 5120 MiB, and 1024 MiB are saved at most"
    );
    assert_eq!(stage.repo.resolve(REF), None);
    stage.repo.write(".gitignore", "large\n").commit("ignored");
    assert_eq!(
        stage.git.quarantine(&stage.here(), &branch()).unwrap(),
        None
    );
    assert!(file.exists());
}
