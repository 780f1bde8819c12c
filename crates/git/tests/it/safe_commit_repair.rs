use std::fs;

use handoff_core::Timestamp;
use handoff_git::safe_commit::repair::{Repaired, has_booths};
use handoff_git::{CommitLock, CommitRequest, IndexState, TreePath, Version};

use crate::stage::Stage;

/// What the next one who comes does.
fn repaired(stage: &Stage) -> Repaired {
    let at = stage.here();
    let lock = CommitLock::take(&at, "test", Timestamp::UNIX_EPOCH).unwrap();
    stage.git.repair_commits(&lock, &at).unwrap()
}

fn mine(stage: &Stage) -> [TreePath; 1] {
    let path = TreePath::locate(stage.repo.path(), stage.repo.path(), "mine".as_ref());
    [path.unwrap()]
}

fn request(paths: &[TreePath]) -> CommitRequest<'_> {
    CommitRequest {
        paths,
        message: "message",
        version: Version::Only,
        peers: Some(&[]),
        at: Timestamp::UNIX_EPOCH,
    }
}

/// Makes a commit of `mine` up to the moment before it lands, and then dies.
fn die_before_landing(stage: &Stage) {
    let at = stage.here();
    let lock = CommitLock::take(&at, "test", Timestamp::UNIX_EPOCH).unwrap();
    let paths = mine(stage);
    let request = request(&paths);
    // As a killed process does: nothing is dropped, and nobody has its booth any more.
    std::mem::forget(stage.git.prepare(&lock, &at, &request, None).unwrap());
    fs::remove_file(booth(stage).join("owner")).unwrap();
}

fn booth(stage: &Stage) -> std::path::PathBuf {
    let booths = stage.repo.path().join(".git/handoff/commits");
    let mut entries = fs::read_dir(booths).unwrap();
    entries.next().unwrap().unwrap().path()
}

#[test]
fn one_that_did_not_land_never_happened() {
    let stage = Stage::new();
    stage.repo.write("mine", "new");
    let base = stage.repo.head();
    die_before_landing(&stage);
    let expected = Repaired {
        forgotten: 1,
        ..Repaired::default()
    };
    assert_eq!(repaired(&stage), expected);
    assert_eq!(stage.repo.head(), base);
    assert_eq!(stage.repo.status(), ["?? mine"]);
    stage.assert_clean();
}

#[test]
fn one_that_landed_gets_its_index() {
    let stage = Stage::new();
    stage
        .repo
        .write("mine", "old")
        .write("theirs", "old")
        .commit("base");
    stage
        .repo
        .write("mine", "new")
        .write("theirs", "staged")
        .git(["add", "theirs"]);
    die_before_landing(&stage);
    let commit = fs::read_to_string(booth(&stage).join("HEAD")).unwrap();
    stage
        .repo
        .git(["update-ref", "refs/heads/main", commit.trim_end()]);
    assert_eq!(stage.repo.status(), ["MM mine", "M  theirs"]);
    let expected = Repaired {
        finished: 1,
        ..Repaired::default()
    };
    assert_eq!(repaired(&stage), expected);
    assert_eq!(stage.repo.status(), ["M  theirs"]);
    stage.assert_clean();
}

#[test]
fn a_power_cut_that_takes_gits_own_word_does_not_take_the_commit() {
    let stage = Stage::new();
    stage.repo.write("mine", "old").commit("base");
    stage.repo.write("mine", "new");
    die_before_landing(&stage);
    let head = booth(&stage).join("HEAD");
    // What is about to be the ref is synced; what git wrote is not.
    fs::copy(&head, booth(&stage).join("ref")).unwrap();
    let commit = fs::read_to_string(&head).unwrap();
    fs::write(head, "").unwrap();
    stage
        .repo
        .git(["update-ref", "refs/heads/main", commit.trim_end()]);
    assert_eq!(repaired(&stage).finished, 1);
    assert_eq!(stage.repo.status(), [""; 0]);
    stage.assert_clean();
}

#[test]
fn what_was_staged_since_is_somebodys() {
    let stage = Stage::new();
    stage.repo.write("mine", "old").commit("base");
    stage.repo.write("mine", "new");
    die_before_landing(&stage);
    let commit = fs::read_to_string(booth(&stage).join("HEAD")).unwrap();
    stage
        .repo
        .git(["update-ref", "refs/heads/main", commit.trim_end()]);
    stage.repo.write("mine", "theirs").git(["add", "mine"]);
    repaired(&stage);
    assert_eq!(stage.repo.status(), ["M  mine"]);
    assert_eq!(stage.repo.git(["show", ":mine"]), "theirs");
}

#[test]
fn a_lock_is_removed_only_with_proof() {
    let stage = Stage::new();
    stage.repo.write("mine", "new");
    die_before_landing(&stage);
    let git_dir = stage.repo.path().join(".git");
    let (index, branch) = (
        git_dir.join("index.lock"),
        git_dir.join("refs/heads/main.lock"),
    );
    fs::write(&index, "somebody's").unwrap();
    fs::write(&branch, stage.repo.head() + "\n").unwrap();
    repaired(&stage);
    assert!(index.exists() && branch.exists());
    fs::remove_file(&index).unwrap();
    fs::remove_file(&branch).unwrap();

    die_before_landing(&stage);
    let booth = booth(&stage);
    fs::hard_link(booth.join("index"), &index).unwrap();
    fs::copy(booth.join("HEAD"), &branch).unwrap();
    repaired(&stage);
    stage.assert_clean();

    die_before_landing(&stage);
    fs::write(&branch, "").unwrap();
    repaired(&stage);
    stage.assert_clean();
}

#[test]
fn an_index_that_is_locked_is_brought_up_later() {
    let stage = Stage::new();
    stage.repo.write("mine", "old").commit("base");
    stage.repo.write("mine", "new");
    let lock = stage.repo.path().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let made = stage.safe_commit(&["mine"]).unwrap();
    assert_eq!(made.index, IndexState::Behind);
    assert_eq!(stage.repo.head(), made.commit.as_str());
    fs::remove_file(&lock).unwrap();
    repaired(&stage);
    assert_eq!(stage.repo.status(), Vec::<String>::new());
    stage.assert_clean();
}

#[test]
fn a_booth_that_was_never_finished_is_nobodys() {
    let stage = Stage::new();
    let left = stage.repo.path().join(".git/handoff/commits/half");
    let at = stage.here();
    at.own_dir().unwrap().create_dir("commits").unwrap();
    fs::create_dir(&left).unwrap();
    assert_eq!(repaired(&stage).forgotten, 1);
    assert!(!left.exists());
}

#[test]
fn a_booth_whose_owner_waits_or_clears_away_is_left_alone() {
    let stage = Stage::new();
    stage.repo.write("mine", "new");
    let (at, paths) = (stage.here(), mine(&stage));
    let request = request(&paths);
    let outlook = stage.git.look_ahead(&at, &request).unwrap();
    assert_eq!(repaired(&stage), Repaired::default());
    let lock = CommitLock::take(&at, "test", Timestamp::UNIX_EPOCH).unwrap();
    let prepared = stage.git.prepare(&lock, &at, &request, Some(outlook));
    let landed = prepared.unwrap().land().unwrap();
    drop(lock);
    assert_eq!(repaired(&stage), Repaired::default());
    landed.settle().1.unwrap();
    stage.assert_clean();
    assert!(!has_booths(&at));
}

#[test]
fn what_was_staged_before_the_commit_is_not_put_back_after_it() {
    let stage = Stage::new();
    stage.repo.write("mine", "old").commit("base");
    stage.repo.write("mine", "staged").git(["add", "mine"]);
    stage.repo.write("mine", "new");
    let lock = stage.repo.path().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let root = stage.repo.path();
    let made = stage.safe_commit_in(root, &[b"mine"], Version::Tree);
    assert_eq!(made.unwrap().index, IndexState::Behind);
    fs::remove_file(&lock).unwrap();
    repaired(&stage);
    assert_eq!(stage.repo.status(), Vec::<String>::new());
    stage.assert_clean();
}

#[test]
fn a_booth_that_nobody_understands_stops_nobody() {
    let stage = Stage::new();
    stage.repo.write("mine", "new");
    let damage: [fn(&str) -> String; 3] = [
        |_| String::new(),
        |text| text.replace("\"schema_version\":1", "\"schema_version\":99"),
        |text| text.replace("refs/heads/main", "refs/../../../victim"),
    ];
    for damage in damage {
        die_before_landing(&stage);
        let intent = booth(&stage).join("intent.json");
        let text = fs::read_to_string(&intent).unwrap();
        fs::write(&intent, damage(&text)).unwrap();
        assert_eq!(repaired(&stage).set_aside, 1);
    }
    let own = stage.repo.path().join(".git/handoff");
    assert_eq!(
        fs::read_dir(own.join("damaged-commits")).unwrap().count(),
        3
    );
    fs::write(own.join("commits/stray"), "").unwrap();
    stage.safe_commit(&["mine"]).unwrap();
    assert_eq!(stage.repo.status(), Vec::<String>::new());
}
