//! Where attempts begin, and what was proved of the branches they leave.

use handoff_core::{Baseline, Caller, HeadName, Task};
use handoff_engine::{Attempt, Ending, Ground, publish_baseline, reconcile};
use handoff_store::queue::{Change, Proved, Request, submit};
use handoff_store::{read, repositories};

use crate::stage::{Stage, after, spec, verified};

fn prove(stage: &mut Stage, branch: &str, commit: &str) -> Baseline {
    let change = Change::SetBaseline(Proved {
        project: stage.project,
        branch: branch.parse().unwrap(),
        commit: commit.parse().unwrap(),
        command: Some("make check".parse().unwrap()),
    });
    let request = Request {
        by: Caller::Person,
        key: handoff_process::mint()
            .simple()
            .to_string()
            .parse()
            .unwrap(),
        change,
    };
    let receipt = submit(&mut stage.store, &request).unwrap();
    publish_baseline(&stage.git(), stage.repository(), &receipt.answer).unwrap()
}

fn known(stage: &mut Stage, branch: &HeadName) -> Option<Baseline> {
    let project = stage.project;
    read(&mut stage.store, |tx| {
        repositories::baseline(tx, project, branch)
    })
    .unwrap()
}

fn ground(stage: &mut Stage) -> Ground {
    let workshop = stage.workshop();
    Ground::survey(
        workshop.store,
        workshop.project,
        &workshop.git,
        workshop.repository,
    )
    .unwrap()
}

fn repair(stage: &mut Stage) -> usize {
    let workshop = stage.workshop();
    let (git, at) = (&workshop.git, workshop.repository);
    reconcile::baselines(workshop.store, workshop.project, git, at).unwrap()
}

/// A commit on `main` that says which task made it.
fn left_by(stage: &Stage, task: &Task) {
    stage.repo.write("half.txt", "half\n");
    stage.repo.git(["add", "half.txt"]);
    let message = format!("half\n\nHandoff-Task-Id: {}", task.id);
    stage.repo.git(["commit", "--quiet", "-m", &message]);
}

/// The commit that the newest attempt at a task was built on.
fn parent_of(stage: &Stage, task: &Task) -> String {
    let commit = stage.branch(task).unwrap();
    stage.repo.resolve(&format!("{commit}^")).unwrap()
}

#[test]
fn what_passed_its_check_is_the_baseline_of_its_branch() {
    let mut stage = Stage::new();
    let task = stage.add(verified("fix", "test -e one.txt"));
    assert_eq!(stage.walk("echo 1 > one.txt").ending, Ending::Done);
    let task = stage.task(task.id);
    let branch = Attempt::of(&task).branch(&task);
    let baseline = known(&mut stage, &branch.as_str().parse().unwrap()).unwrap();
    assert_eq!(
        Some(baseline.commit.as_str()),
        stage.branch(&task).as_deref()
    );
    assert_eq!(baseline.by, Caller::Worker);
    let name = format!("refs/handoff/baseline/{branch}");
    let seen = stage.repo.resolve(&format!("{name}^{{commit}}"));
    assert_eq!(seen.as_deref(), Some(baseline.commit.as_str()));

    assert_eq!(repair(&mut stage), 0);
    stage.repo.git(["update-ref", "-d", &name]);
    assert_eq!(repair(&mut stage), 1);
    assert_eq!(stage.repo.resolve(&format!("{name}^{{commit}}")), seen);
    stage.repo.git(["branch", "-q", "-D", branch.as_str()]);
    assert_eq!(repair(&mut stage), 1);
    assert_eq!(stage.repo.resolve(&name), None);
    stage.assert_sound();
}

#[test]
fn a_failed_check_proves_nothing() {
    let mut stage = Stage::new();
    let task = stage.add(verified("fix", "false"));
    stage.walk("echo 1 > one.txt");
    let task = stage.task(task.id);
    let branch = Attempt::of(&task).branch(&task);
    let found = known(&mut stage, &branch.as_str().parse().unwrap());
    assert_eq!(found, None);
}

#[test]
fn a_persons_commits_are_built_on_and_told_as_unverified() {
    let mut stage = Stage::new();
    let proved = stage.repo.head();
    prove(&mut stage, "main", &proved);
    stage.repo.write("mine.txt", "mine\n");
    stage.repo.commit("mine");
    let task = stage.add(spec("fix"));
    let copy = stage.env.work().join("prompt.md");
    let agent = format!(
        "echo 1 > one.txt; cp \"$HANDOFF_PROMPT_FILE\" {}",
        copy.display()
    );
    stage.walk(&agent);
    let task = stage.task(task.id);
    assert_eq!(parent_of(&stage, &task), stage.repo.head());
    let prompt = std::fs::read_to_string(copy).unwrap();
    let told = format!(
        "# Where the code stands\n\nBaseline {proved:.12} is verified, by `make check`. HEAD, where you start, is 1 commit ahead, unverified.\n"
    );
    assert!(prompt.contains(&told), "{prompt}");
}

#[test]
fn what_an_unfinished_task_left_is_not_built_on() {
    let mut stage = Stage::new();
    let proved = stage.repo.head();
    prove(&mut stage, "main", &proved);
    let lost = stage.add(verified("lost", "false"));
    stage.walk("echo 1 > one.txt");
    left_by(&stage, &lost);
    let told = ground(&mut stage).told().unwrap();
    assert!(told.contains("1 commit ahead, unverified, with work of `lost`"));
    let task = stage.add(spec("fix"));
    stage.walk("echo 2 > two.txt");
    let task = stage.task(task.id);
    assert_eq!(parent_of(&stage, &task), proved);
    stage.assert_sound();
}

#[test]
fn what_a_task_left_that_is_done_is_built_on() {
    let mut stage = Stage::new();
    let proved = stage.repo.head();
    prove(&mut stage, "main", &proved);
    let done = stage.add(verified("done", "true"));
    stage.walk("echo 1 > one.txt");
    left_by(&stage, &done);
    assert_eq!(ground(&mut stage).base().as_str(), stage.repo.head());
}

#[test]
fn a_successor_is_told_of_the_ground_below_it_too() {
    let mut stage = Stage::new();
    let proved = stage.repo.head();
    prove(&mut stage, "main", &proved);
    let first = stage.add(spec("first"));
    stage.add(after("second", &first));
    stage.walk("echo 1 > one.txt");
    let copy = stage.env.work().join("prompt.md");
    let agent = format!(
        "echo 2 > two.txt; cp \"$HANDOFF_PROMPT_FILE\" {}",
        copy.display()
    );
    stage.walk(&agent);
    let told = std::fs::read_to_string(copy).unwrap();
    let ground = format!(
        "Baseline {proved:.12} is verified, by `make check`. You start there. This task comes after others: you start at "
    );
    assert!(told.contains(&ground), "{told}");
}

#[test]
fn a_baseline_that_head_does_not_contain_is_told_and_left() {
    let mut stage = Stage::new();
    stage.repo.git(["checkout", "--quiet", "-b", "other"]);
    stage.repo.write("other.txt", "other\n");
    stage.repo.commit("other");
    let elsewhere = stage.repo.head();
    stage.repo.git(["checkout", "--quiet", "main"]);
    prove(&mut stage, "main", &elsewhere);
    let ground = ground(&mut stage);
    assert_eq!(ground.base().as_str(), stage.repo.head());
    let told = ground.told().unwrap();
    assert!(told.ends_with("HEAD does not contain it. You start at HEAD, unverified."));
}
