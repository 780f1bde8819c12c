use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, SystemTime};

use handoff_git::{ChangeKind, GitError, Repository, SnapshotError};
use handoff_testkit::TestEnv;

use crate::stage::Stage;

fn changes(stage: &Stage, base: &str) -> Vec<(String, ChangeKind)> {
    let changes = stage
        .git
        .changed_paths(&stage.here(), &base.parse().unwrap())
        .unwrap();
    changes
        .into_iter()
        .map(|change| (change.path.to_string(), change.kind))
        .collect()
}

fn expected(list: &[(&str, ChangeKind)]) -> Vec<(String, ChangeKind)> {
    list.iter()
        .map(|(path, kind)| ((*path).to_owned(), *kind))
        .collect()
}

#[test]
fn everything_since_the_base_is_found_and_ignored_files_are_not() {
    let stage = Stage::new();
    for name in [
        "same",
        "edited",
        "removed",
        "staged",
        "committed",
        ".gitignore",
    ] {
        stage.repo.write(name, "*.log\n");
    }
    let base = stage.repo.commit("base");
    stage
        .repo
        .write("committed", "new")
        .commit("of the session");
    stage.repo.write("staged", "new").git(["add", "staged"]);
    stage
        .repo
        .write("edited", "new")
        .write("dir/new\n\"file\"", "")
        .write("x.log", "");
    stage.repo.write("same", "*.log\n");
    fs::remove_file(stage.repo.path().join("removed")).unwrap();
    let status = stage.repo.status();
    use ChangeKind::{Added, Deleted, Modified};
    assert_eq!(
        changes(&stage, &base),
        expected(&[
            ("committed", Modified),
            ("dir/new\n\"file\"", Added),
            ("edited", Modified),
            ("removed", Deleted),
            ("staged", Modified),
        ])
    );
    assert_eq!(stage.repo.status(), status, "looking changes nothing");
    assert_eq!(leftovers(&stage.here()), [""; 0]);
}

fn leftovers(repository: &Repository) -> Vec<String> {
    let entries = fs::read_dir(repository.git_dir()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| name.starts_with("handoff-index"))
        .collect()
}

#[test]
fn bits_in_the_index_hide_nothing() {
    let stage = Stage::new();
    stage.repo.write("assumed", "old").write("skipped", "old");
    let base = stage.repo.commit("base");
    stage
        .repo
        .git(["update-index", "--assume-unchanged", "assumed"]);
    stage
        .repo
        .git(["update-index", "--skip-worktree", "skipped"]);
    stage.repo.write("assumed", "new").write("skipped", "new");
    assert_eq!(stage.repo.status(), [""; 0], "git itself sees nothing");
    let modified = [
        ("assumed", ChangeKind::Modified),
        ("skipped", ChangeKind::Modified),
    ];
    assert_eq!(changes(&stage, &base), expected(&modified));
}

/// Most gits compare times by the second, and none looks into a file that it passes over.
#[test]
fn a_hidden_change_of_the_same_size_and_second_is_seen_though_git_has_written_the_index_since() {
    let stage = Stage::new();
    let file = stage.repo.path().join("assumed");
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let date = || {
        fs::File::options()
            .append(true)
            .open(&file)
            .unwrap()
            .set_modified(second)
    };
    stage.repo.write("assumed", "old");
    date().unwrap();
    let base = stage.repo.commit("base");
    let git = |words: &[&str]| drop(stage.repo.git(words));
    git(&["config", "core.trustctime", "false"]);
    git(&["update-index", "--assume-unchanged", "assumed"]);
    stage.repo.write("assumed", "new");
    date().unwrap();
    git(&["update-index", "--refresh"]);
    let modified = [("assumed", ChangeKind::Modified)];
    assert_eq!(changes(&stage, &base), expected(&modified));
}

#[test]
fn a_repository_configured_to_lie_elsewhere_is_seen_where_it_is() {
    let stage = Stage::new();
    let elsewhere = TestEnv::without_binary();
    fs::write(elsewhere.work().join("private"), "").unwrap();
    stage.repo.git([
        "config",
        "core.worktree",
        elsewhere.work().to_str().unwrap(),
    ]);
    stage.repo.write("mine", "");
    let base = stage.git.head(&stage.here()).unwrap();
    assert_eq!(
        changes(&stage, base.as_str()),
        expected(&[("mine", ChangeKind::Added)])
    );
}

#[test]
fn a_path_that_is_not_utf8_is_named() {
    let stage = Stage::new();
    let name = std::ffi::OsStr::from_bytes(b"bad\xff");
    stage.repo.write(name, "");
    let error = stage
        .git
        .changed_paths(&stage.here(), &stage.head())
        .unwrap_err();
    let SnapshotError::Git(GitError::Path { path, .. }) = error else {
        panic!("{error}")
    };
    assert_eq!(path, "bad\u{fffd}");
}

#[test]
fn a_bare_repository_has_nothing_to_change() {
    let stage = Stage::new();
    let inside = Repository::discover(&stage.repo.path().join(".git")).unwrap();
    let error = stage.git.changed_paths(&inside, &stage.head()).unwrap_err();
    assert!(
        matches!(error, SnapshotError::Git(GitError::NoWorktree(_))),
        "{error}"
    );
}
