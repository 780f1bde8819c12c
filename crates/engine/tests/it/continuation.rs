//! Tasks one after the other: each goes on from what the one before it did.

use handoff_core::task::{Dependency, Evidence, TaskSpec, Until};
use handoff_core::{Task, TaskState};
use handoff_engine::Ending;

use crate::stage::{Stage, after, names, spec, verified};

/// The commit that an attempt left.
#[track_caller]
fn commit(stage: &mut Stage, task: &Task) -> String {
    let task = stage.task(task.id);
    let commit = task.evidence.iter().find_map(Evidence::commit);
    commit.expect("it was committed").to_string()
}

fn parents(stage: &Stage, commit: &str) -> Vec<String> {
    let listed = stage.repo.git(["rev-list", "-1", "--parents", commit]);
    listed
        .split_whitespace()
        .skip(1)
        .map(str::to_owned)
        .collect()
}

/// Lets the next task be done by a script that also keeps what it is told.
#[track_caller]
fn walk(stage: &mut Stage, agent: &str) -> (Ending, String) {
    let copy = stage.env.work().join("told.md");
    let kept = format!("cp \"$HANDOFF_PROMPT_FILE\" {}; {agent}", copy.display());
    let ending = stage.walk(&kept).ending;
    (ending, std::fs::read_to_string(copy).unwrap_or_default())
}

fn after_both(name: &str, one: &Task, other: &Task) -> TaskSpec {
    let until = Until::Done;
    let after = [one, other].map(|it| Dependency { task: it.id, until });
    TaskSpec {
        after: after.into(),
        ..spec(name)
    }
}

#[test]
fn a_successor_begins_at_the_commit_of_the_one_before() {
    let mut stage = Stage::new();
    let first = stage.add(verified("first", "test -e one.txt"));
    let second = stage.add(after("second", &first));
    let third = stage.add(after("third", &second));
    stage.walk("echo 1 > one.txt");
    let (ending, told) = walk(&mut stage, "test -e one.txt && echo 2 > two.txt");
    assert_eq!(ending, Ending::Done);
    let one = commit(&mut stage, &first);
    let two = commit(&mut stage, &second);
    assert_eq!(parents(&stage, &two), std::slice::from_ref(&one));
    assert_eq!(stage.repo.changes_of(&two), ["two.txt"]);
    let base = format!("base: {one}\n");
    let ground = format!("without it you would start at {:.12}.", stage.repo.head());
    for part in [&base, "with what `first` left. It has not landed", &ground] {
        assert!(told.contains(part), "{part:?} is not in {told}");
    }
    let (ending, _) = walk(&mut stage, "cat one.txt two.txt > three.txt");
    assert_eq!(ending, Ending::Done);
    let three = commit(&mut stage, &third);
    assert_eq!(stage.repo.file_of(&three, "three.txt"), "1\n2\n");
    assert_eq!(stage.repo.git(["rev-list", "--count", &three]).trim(), "4");
    stage.assert_sound();
}

#[test]
fn what_has_landed_is_found_at_head() {
    let mut stage = Stage::new();
    let first = stage.add(spec("first"));
    let second = stage.add(after("second", &first));
    stage.walk("echo 1 > one.txt");
    let one = commit(&mut stage, &first);
    stage.repo.git(["merge", "--ff-only", &one]);
    stage.repo.write("more.txt", "more\n").commit("more");
    let head = stage.repo.head();
    let (ending, told) = walk(&mut stage, "echo 2 > two.txt");
    assert_eq!(ending, Ending::Done);
    let two = commit(&mut stage, &second);
    assert_eq!(parents(&stage, &two), [head]);
    assert!(!told.contains("It has not landed"), "{told}");
}

#[test]
fn several_beginnings_and_a_head_that_went_on_are_merged() {
    let mut stage = Stage::new();
    let one = stage.add(spec("one"));
    let other = stage.add(spec("other"));
    let both = stage.add(after_both("both", &one, &other));
    stage.walk("echo 1 > one.txt");
    stage.walk("echo 2 > other.txt");
    stage.repo.write("more.txt", "more\n").commit("more");
    let head = stage.repo.head();
    let (ending, told) = walk(&mut stage, "cat one.txt other.txt more.txt > all.txt");
    assert_eq!(ending, Ending::Done);
    assert!(told.contains("with what `one` and `other` left"), "{told}");
    let all = commit(&mut stage, &both);
    assert_eq!(stage.repo.file_of(&all, "all.txt"), "1\n2\nmore\n");
    assert_eq!(stage.repo.changes_of(&all), ["all.txt"]);
    for before in [head, commit(&mut stage, &one), commit(&mut stage, &other)] {
        stage
            .repo
            .git(["merge-base", "--is-ancestor", &before, &all]);
    }
    stage.assert_sound();
}

#[test]
fn beginnings_that_do_not_fit_together_are_left_to_a_person() {
    let mut stage = Stage::new();
    let one = stage.add(spec("one"));
    let other = stage.add(spec("other"));
    let both = stage.add(after_both("both", &one, &other));
    stage.walk("echo 1 > same.txt");
    stage.walk("echo 2 > same.txt");
    let (ending, _) = walk(&mut stage, "touch never.txt");
    let Ending::Blocked(reason) = ending else {
        panic!("{ending:?}");
    };
    assert!(
        reason.as_str().starts_with("what `other` did conflicts")
            && reason.as_str().contains("same.txt"),
        "{reason}"
    );
    let both = stage.task(both.id);
    assert!(matches!(both.state, TaskState::Blocked { .. }));
    assert_eq!(names(&stage.places.worktrees(stage.project)), [""; 0]);
}

#[test]
fn work_that_nobody_has_any_more_keeps_nobody_from_going_on() {
    let mut stage = Stage::new();
    let first = stage.add(spec("first"));
    let second = stage.add(after("second", &first));
    stage.walk("echo 1 > one.txt");
    let refs = stage
        .repo
        .git(["for-each-ref", "--format=%(refname)", "refs/heads/handoff/"]);
    for name in refs.lines() {
        stage.repo.git(["update-ref", "-d", name]);
    }
    stage
        .repo
        .git(["reflog", "expire", "--expire=now", "--all"]);
    stage.repo.git(["gc", "--quiet", "--prune=now"]);
    let head = stage.repo.head();
    let (ending, _) = walk(&mut stage, "echo 2 > two.txt");
    assert_eq!(ending, Ending::Done);
    let two = commit(&mut stage, &second);
    assert_eq!(parents(&stage, &two), [head]);
}
