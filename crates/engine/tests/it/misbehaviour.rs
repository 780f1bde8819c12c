//! Agents that do what they were not asked for, and worktrees that git did not finish.

use handoff_core::task::Evidence;
use handoff_core::{Caller, SessionId, Task, TaskState};
use handoff_engine::{Attempt, Ending, reconcile};
use handoff_files::Dir;
use handoff_store::queue::{Agents, Change, TenureWish};

use crate::stage::{Stage, names, spec, verified};

/// Checks that nothing is said to be on the branch that is not there.
#[track_caller]
fn assert_honest(stage: &Stage, task: &Task) {
    for proof in &task.evidence {
        if let Evidence::Committed { commit, .. } = proof {
            assert_eq!(stage.branch(task), Some(commit.to_string()));
        }
    }
}

/// Lets an agent leave its branch by this command and work on.
fn leaves_its_branch(command: &str) {
    let mut stage = Stage::new();
    let task = stage.add(spec("fix"));
    let walked = stage.walk(&format!("git checkout -q {command}; echo new > new.txt"));
    assert!(matches!(walked.ending, Ending::Blocked(_)), "{walked:?}");
    let task = stage.task(task.id);
    assert_honest(&stage, &task);
    let kept = stage.quarantined(&task).unwrap();
    assert_eq!(stage.repo.file_of(&kept, "new.txt"), "new\n");
}

#[test]
fn work_on_another_branch_is_kept_and_not_believed() {
    leaves_its_branch("-b elsewhere");
}

#[test]
fn work_on_no_branch_is_kept_and_not_believed() {
    leaves_its_branch("--detach");
}

#[test]
fn what_the_check_writes_is_not_the_work_of_the_session() {
    let mut stage = Stage::new();
    let task = stage.add(verified("fix", "echo log > check.log"));
    stage.walk("echo new > new.txt");
    let task = stage.task(task.id);
    assert_honest(&stage, &task);
    let commit = stage.branch(&task).unwrap();
    assert_eq!(stage.repo.changes_of(&commit), ["new.txt"]);
}

#[test]
fn a_repository_within_the_tree_stops_only_its_own_task() {
    let mut stage = Stage::new();
    stage.add(spec("nest"));
    stage.add(spec("next"));
    let nest = "git init -q in; echo x > in/x; git -C in add x; git -C in commit -qm x";
    let walked = stage.walk(nest);
    assert!(!matches!(walked.ending, Ending::Done), "{walked:?}");
    let walked = stage.walk("echo new > new.txt");
    assert_eq!(
        (walked.name.as_str(), walked.ending),
        ("next", Ending::Done)
    );
}

/// A task whose worker died, without a worktree.
fn abandoned(stage: &mut Stage) -> Task {
    stage.add(spec("fix"));
    let session = SessionId::from_uuid(handoff_process::mint());
    Dir::create_private(&stage.places.session(session)).unwrap();
    Dir::create_private(&stage.places.worktrees(stage.project)).unwrap();
    let tenure = TenureWish::Anchored { session };
    let project = stage.project;
    let agents = Agents::default();
    let claim = Change::ClaimNext {
        project,
        tenure,
        agents,
    };
    stage.submit(Caller::Worker, claim)
}

#[track_caller]
fn assert_cleared(stage: &mut Stage, task: &Task) {
    let repaired = reconcile::all(&mut stage.workshop()).unwrap();
    assert!(repaired.stuck.is_empty(), "{:?}", repaired.stuck);
    assert_eq!(stage.task(task.id).state, TaskState::Queued);
    stage.assert_sound();
}

#[test]
fn a_worktree_without_anything_in_it_is_cleared_away() {
    let mut stage = Stage::new();
    let task = abandoned(&mut stage);
    std::fs::create_dir(stage.worktree(&task)).unwrap();
    assert_cleared(&mut stage, &task);
}

#[test]
fn a_worktree_that_git_was_still_making_is_cleared_away() {
    let mut stage = Stage::new();
    let task = abandoned(&mut stage);
    let branch = Attempt::of(&task).branch(&task);
    let path = stage.worktree(&task);
    let words = ["worktree", "add", "--quiet", "-b", branch.as_str()];
    stage.repo.git(words.into_iter().chain(path.to_str()));
    // Git keeps a new worktree locked until it is complete, and leaves it so when it is killed.
    let admin = stage.repo.path().join(".git/worktrees");
    for entry in names(&admin) {
        std::fs::write(admin.join(entry).join("locked"), "initializing\n").unwrap();
    }
    assert_cleared(&mut stage, &task);
}

#[test]
fn retiring_an_attempt_twice_is_harmless() {
    let mut stage = Stage::new();
    let task = stage.add(spec("fix"));
    stage.walk("echo new > new.txt");
    let task = stage.task(task.id);
    let attempt = Attempt::of(&task);
    for _ in 0..2 {
        reconcile::retire(&mut stage.workshop(), &task, attempt).unwrap();
    }
    stage.assert_sound();
}

/// What a session can write into its own tree, to have its program run by whoever clears up.
const TRAP: &str = "
    printf '#!/bin/sh\\ntouch \"%s\"; cat\\n' \"$HOME/sprung\" > x.sh
    chmod +x x.sh
    cp -r \"$(git rev-parse --git-common-dir)/.\" evil
    for key in filter.e.clean filter.e.smudge core.fsmonitor; do
        git --git-dir=evil config $key \"$PWD/x.sh\"
    done
    echo '* filter=e' > .gitattributes
    rm .git
    echo \"gitdir: $PWD/evil\" > .git
    echo work > work.txt
";

/// Lets a session set its trap and end so; its work is in a ref of this place then.
#[track_caller]
fn trapped(ending: &str, place: &str) {
    let mut stage = Stage::new();
    stage.add(spec("fix"));
    stage.walk(&format!("{TRAP}\n{ending}"));
    let repaired = reconcile::all(&mut stage.workshop()).unwrap();
    assert!(repaired.stuck.is_empty(), "{:?}", repaired.stuck);
    let home = stage.environment()[std::ffi::OsStr::new("HOME")].clone();
    let sprung = std::path::Path::new(&home).join("sprung");
    assert!(!sprung.exists(), "a program of the session ran");
    let is_there = |name: &String| {
        let file = format!("{name}:work.txt");
        let asked = stage.repo.command(["cat-file", "-e", &file]);
        stage.env.run(asked).code() == Some(0)
    };
    let refs = stage.repo.refs();
    let mut found = refs.keys().filter(|name| is_there(name));
    assert!(found.any(|name| name.starts_with(place)), "{refs:?}");
}

#[test]
fn a_tree_that_names_another_repository_is_collected_into_the_right_one() {
    trapped("", "refs/heads/handoff/");
}

#[test]
fn a_tree_that_names_another_repository_is_saved_into_the_right_one() {
    trapped("exit 1", "refs/handoff/quarantine/");
}

#[test]
fn a_tree_whose_link_is_gone_is_saved() {
    let mut stage = Stage::new();
    let task = stage.add(spec("fix"));
    stage.walk("rm .git; echo work > work.txt; exit 1");
    let repaired = reconcile::all(&mut stage.workshop()).unwrap();
    assert!(repaired.stuck.is_empty(), "{:?}", repaired.stuck);
    let task = stage.task(task.id);
    let kept = stage.quarantined(&task).unwrap();
    assert_eq!(stage.repo.file_of(&kept, "work.txt"), "work\n");
}
