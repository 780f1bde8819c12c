use std::fs;

use handoff_core::TreeState;
use handoff_core::tree::Relation;
use handoff_git::{Git, Repository};

use crate::stage::Stage;

fn tree(stage: &Stage) -> TreeState {
    stage.git.status(&stage.here()).unwrap().tree
}

#[test]
fn a_clean_tree_has_branch_and_commit_and_no_edits() {
    let stage = Stage::new();
    stage.repo.write("a", "1").commit("first");
    let status = stage.git.status(&stage.here()).unwrap();
    assert_eq!(status.tree.commit, Some(stage.head()));
    assert_eq!(status.tree.branch.unwrap().as_str(), "main");
    assert_eq!((status.tree.dirty, status.edited), (None, vec![]));
}

#[test]
fn edits_are_named_and_the_workspace_is_not_among_them() {
    let stage = Stage::new();
    stage
        .repo
        .write("a", "1")
        .write("gone", "1")
        .commit("first");
    stage
        .repo
        .write("a", "2")
        .write("new dir/b", "1")
        .write(".handoff/features/x/STATE.md", "1");
    fs::remove_file(stage.repo.path().join("gone")).unwrap();
    let status = stage.git.status(&stage.here()).unwrap();
    assert_eq!(status.edited, ["a", "gone", "new dir/b"]);
    assert_eq!(status.tree.dirty.unwrap().files, 3);
}

#[test]
fn staging_changes_nothing_and_content_does() {
    let stage = Stage::new();
    stage.repo.write("a", "1").commit("first");
    stage.repo.write("a", "2");
    let before = tree(&stage);
    stage.repo.git(["add", "a"]);
    assert_eq!(tree(&stage), before);
    stage.repo.write("a", "3");
    assert_ne!(tree(&stage), before);
    stage.repo.write("a", "2");
    assert_eq!(tree(&stage), before);
}

#[test]
fn what_cannot_be_read_has_no_digest() {
    let stage = Stage::new();
    stage.repo.write("a", "1").commit("first");
    let large = fs::File::create(stage.repo.path().join("large")).unwrap();
    large.set_len(64 * 1024 * 1024).unwrap();
    assert_eq!(tree(&stage).dirty.unwrap().digest, None);
}

#[test]
fn before_the_first_commit_there_is_a_branch() {
    let stage = Stage::new();
    let empty = stage.env.root().join("empty");
    fs::create_dir(&empty).unwrap();
    stage
        .repo
        .git(["init", "-q", "-b", "trunk", empty.to_str().unwrap()]);
    let status = stage
        .git
        .status(&Repository::open(&empty).unwrap())
        .unwrap();
    assert_eq!(status.tree.commit, None);
    assert_eq!(status.tree.branch.unwrap().as_str(), "trunk");
}

#[test]
fn commits_since_an_earlier_one_are_counted_and_named() {
    let stage = Stage::new();
    stage.repo.write("a", "1").commit("first");
    let first = stage.head();
    stage.repo.write("a", "2").commit("second");
    let second = stage.head();
    let relation = |commit| stage.git.relation(&stage.here(), commit).unwrap();
    assert_eq!(relation(&first), Relation::Counted { gained: 1, lost: 0 });
    stage.repo.git(["reset", "-q", "--hard", first.as_str()]);
    assert_eq!(relation(&second), Relation::Counted { gained: 0, lost: 1 });
    stage.repo.write("b", "1").commit("third \u{1b}[31m");
    assert_eq!(relation(&second), Relation::Counted { gained: 1, lost: 1 });
    assert_eq!(
        relation(&"e".repeat(40).parse().unwrap()),
        Relation::Missing
    );
    let subjects = stage.git.subjects_since(&stage.here(), &first, 5).unwrap();
    assert_eq!(subjects.len(), 1);
    assert!(subjects[0].ends_with(r"third \u{1b}[31m"), "{subjects:?}");
}

#[test]
fn the_amount_of_change_is_in_gits_words() {
    let stage = Stage::new();
    stage.repo.write("a", "1\n").commit("first");
    assert_eq!(stage.git.shortstat(&stage.here()).unwrap(), "");
    stage.repo.write("a", "2\n");
    let stat = stage.git.shortstat(&stage.here()).unwrap();
    assert_eq!(stat, "1 file changed, 1 insertion(+), 1 deletion(-)");
}

/// Each way to write a commit that git tells in its own way, with and without much to pack.
#[test]
fn the_newest_commits_are_told_alike_whether_git_is_asked_or_not() {
    let stage = Stage::new();
    let long: String = (0..400).map(|it| format!("word-{it} ")).collect();
    let nobody = Git::new([("PATH".into(), "/nowhere".into())]);
    for message in [
        "plain",
        "two lines\nof one title\n\nand a body",
        "ümlaut 漢字\n\n- with\n- a list\n",
        long.as_str(),
        "x\n\n\n\ny",
    ] {
        stage.repo.commit(message);
        let at = stage.here();
        let read = nobody.newest_subjects(&at, 3).unwrap().answer().unwrap();
        let told = stage.repo.git(["log", "-3", "--format=%h %s"]);
        assert_eq!(read, told.lines().collect::<Vec<_>>());
    }
    stage.repo.git(["gc", "--quiet"]);
    let at = stage.here();
    assert!(nobody.newest_subjects(&at, 3).is_err(), "they are packed");
    let asked = stage.git.newest_subjects(&at, 2).unwrap().answer().unwrap();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].ends_with(" x"), "{asked:?}");
}

#[test]
fn of_a_merge_git_is_asked() {
    let stage = Stage::new();
    stage.repo.commit("one");
    stage.repo.git(["branch", "side"]);
    stage.repo.write("a", "1").commit("two");
    stage.repo.git(["checkout", "--quiet", "side"]);
    stage.repo.write("b", "1").commit("three");
    stage.repo.git(["merge", "--quiet", "-m", "both", "main"]);
    let subjects = stage.git.newest_subjects(&stage.here(), 5).unwrap();
    let told = stage.repo.git(["log", "-5", "--format=%h %s"]);
    assert_eq!(subjects.answer().unwrap(), told.lines().collect::<Vec<_>>());
}
