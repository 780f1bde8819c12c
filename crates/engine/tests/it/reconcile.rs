//! What a crash leaves between any two steps, and that it is put right.

use handoff_core::task::{Command, Evidence};
use handoff_core::{Caller, CommitId, SessionId, Task, TaskEvent, TaskState};
use handoff_engine::{Attempt, Ending, gc, reconcile};
use handoff_files::{Dir, Lock};
use handoff_git::Repository;
use handoff_store::queue::{Agents, Change, TenureWish};

use crate::stage::{Stage, names, spec};

/// How far a worker got before it was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Claimed,
    Prepared,
    Started,
    Worked,
    Committed,
    Evidenced,
    Ended,
}

/// Makes a test of each fact for a worker that died after each step.
macro_rules! wherever_it_died {
    ($($fact:ident),* $(,)?) => {$(
        mod $fact {
            use super::{Step, $fact as check};

            #[test]
            fn after_the_claim() {
                check(Step::Claimed);
            }

            #[test]
            fn after_the_worktree_was_made() {
                check(Step::Prepared);
            }

            #[test]
            fn after_the_agent_was_started() {
                check(Step::Started);
            }

            #[test]
            fn after_the_agent_worked() {
                check(Step::Worked);
            }

            #[test]
            fn after_the_commit() {
                check(Step::Committed);
            }

            #[test]
            fn after_the_commit_was_recorded() {
                check(Step::Evidenced);
            }
        }
    )*};
}

wherever_it_died! {
    a_task_goes_back_to_the_queue,
    work_is_saved_or_stays_on_its_branch,
    repairing_twice_changes_nothing_more,
    the_next_walk_finishes,
    a_live_session_is_left_alone,
}

/// A worker that went so far, and its holder's lock.
struct Worker {
    task: Task,
    lock: Lock,
}

/// Does what a worker does, up to and with a step.
fn work_until(stage: &mut Stage, step: Step) -> Worker {
    let session = SessionId::from_uuid(handoff_process::mint());
    Dir::create_private(&stage.places.session(session)).unwrap();
    let lock = Lock::try_acquire(&stage.places.holder_lock(session), "holder")
        .unwrap()
        .unwrap();
    let claim = Change::ClaimNext {
        project: stage.project,
        tenure: TenureWish::Anchored { session },
        agents: Agents::default(),
    };
    let task = stage.submit(Caller::Worker, claim);
    let fence = task.fence;
    if step >= Step::Prepared {
        add_worktree(stage, &task);
    }
    if step >= Step::Started {
        stage.tell(
            &task,
            Command::Start {
                fence,
                session,
                agent: None,
            },
        );
    }
    if step >= Step::Worked {
        std::fs::write(stage.worktree(&task).join("half.txt"), "half\n").unwrap();
    }
    if step >= Step::Committed {
        let commit = commit(stage, &task);
        if step >= Step::Evidenced {
            let branch = Attempt::of(&task).branch(&task);
            let evidence = Evidence::Committed { branch, commit };
            stage.tell(&task, Command::Prove { fence, evidence });
        }
    }
    if step >= Step::Ended {
        let fence = Some(fence);
        stage.tell(
            &task,
            Command::Complete {
                fence,
                summary: None,
            },
        );
    }
    Worker { task, lock }
}

fn add_worktree(stage: &Stage, task: &Task) -> Repository {
    let base: CommitId = stage.repo.head().parse().unwrap();
    Dir::create_private(&stage.places.worktrees(task.project)).unwrap();
    let branch = Attempt::of(task).branch(task);
    stage
        .git()
        .add_worktree(stage.repository(), &stage.worktree(task), &branch, &base)
        .unwrap()
}

fn commit(stage: &Stage, task: &Task) -> CommitId {
    let at = Repository::open(&stage.worktree(task)).unwrap();
    let paths = ["half.txt".parse().unwrap()];
    stage.git().commit_paths(&at, &paths, "half\n").unwrap()
}

/// Everything a repair may change.
fn everything(stage: &mut Stage, task: &Task) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        stage.history(task),
        stage.repo.refs(),
        stage.repo.status(),
        names(&stage.places.worktrees(stage.project)),
    )
}

/// Kills a worker after a step and repairs.
fn crash_and_repair(step: Step) -> (Stage, Task) {
    let mut stage = Stage::new();
    stage.add(spec("fix"));
    let worker = work_until(&mut stage, step);
    drop(worker.lock);
    stage.restart();
    reconcile::all(&mut stage.workshop()).unwrap();
    (stage, worker.task)
}

fn a_task_goes_back_to_the_queue(step: Step) {
    let (mut stage, task) = crash_and_repair(step);
    assert_eq!(stage.task(task.id).state, TaskState::Queued);
    let last = stage.history(&task).pop();
    assert_eq!(last, Some(TaskEvent::LeaseExpired { fence: task.fence }));
    stage.assert_sound();
}

fn work_is_saved_or_stays_on_its_branch(step: Step) {
    let (stage, task) = crash_and_repair(step);
    let changes = |commit: Option<String>| commit.map(|it| stage.repo.changes_of(&it));
    let half = Some(vec!["half.txt".to_owned()]);
    let saved = half.clone().filter(|_| step == Step::Worked);
    assert_eq!(changes(stage.quarantined(&task)), saved);
    if step >= Step::Committed {
        assert_eq!(changes(stage.branch(&task)), half);
    }
}

fn repairing_twice_changes_nothing_more(step: Step) {
    let (mut stage, task) = crash_and_repair(step);
    let before = everything(&mut stage, &task);
    let repaired = reconcile::all(&mut stage.workshop()).unwrap();
    assert!(repaired.is_nothing(), "{repaired:?}");
    assert_eq!(everything(&mut stage, &task), before);
}

/// As a worker does it: repair, then the next task.
fn the_next_walk_finishes(step: Step) {
    let mut stage = Stage::new();
    stage.add(spec("fix"));
    let worker = work_until(&mut stage, step);
    drop(worker.lock);
    stage.restart();
    let walked = stage.walk("test ! -e half.txt; echo whole > whole.txt");
    assert_eq!(walked.ending, Ending::Done);
    let task = stage.task(worker.task.id);
    assert_eq!(task.fence, worker.task.fence.next());
    let commit = stage.branch(&task).unwrap();
    assert_eq!(stage.repo.changes_of(&commit), ["whole.txt"]);
    stage.assert_sound();
}

fn a_live_session_is_left_alone(step: Step) {
    let mut stage = Stage::new();
    stage.add(spec("fix"));
    let worker = work_until(&mut stage, step);
    let before = everything(&mut stage, &worker.task);
    reconcile::all(&mut stage.workshop()).unwrap();
    assert!(stage.try_walk("true").unwrap().is_none());
    assert_eq!(everything(&mut stage, &worker.task), before);
    drop(worker.lock);
}

#[test]
fn a_task_that_had_ended_stays_ended_and_its_worktree_goes() {
    let (mut stage, task) = crash_and_repair(Step::Ended);
    assert!(matches!(stage.task(task.id).state, TaskState::Done { .. }));
    assert_eq!(stage.quarantined(&task), None);
    stage.assert_sound();
}

#[test]
fn a_late_worker_cannot_end_the_attempt_that_followed_its_own() {
    let mut stage = Stage::new();
    stage.add(spec("fix"));
    let first = work_until(&mut stage, Step::Worked);
    drop(first.lock);
    reconcile::all(&mut stage.workshop()).unwrap();
    let second = work_until(&mut stage, Step::Worked);
    let late = Change::Tell {
        task: handoff_store::queue::TaskRef::Id(first.task.id),
        command: Command::Complete {
            fence: Some(first.task.fence),
            summary: None,
        },
    };
    let request = handoff_store::queue::Request {
        by: Caller::Worker,
        key: "late".parse().unwrap(),
        change: late,
    };
    assert!(handoff_store::queue::submit(&mut stage.store, &request).is_err());
    assert!(matches!(
        stage.task(second.task.id).state,
        TaskState::Running { .. }
    ));
    drop(second.lock);
}

#[test]
fn a_worktree_whose_directory_is_gone_stops_nobody() {
    let mut stage = Stage::new();
    stage.add(spec("fix"));
    let worker = work_until(&mut stage, Step::Worked);
    drop(worker.lock);
    std::fs::remove_dir_all(stage.worktree(&worker.task)).unwrap();
    reconcile::all(&mut stage.workshop()).unwrap();
    assert_eq!(stage.walk("echo whole > whole.txt").ending, Ending::Done);
}

#[test]
fn a_directory_that_is_no_attempt_of_ours_is_left_alone() {
    let mut stage = Stage::new();
    let foreign = stage.places.worktrees(stage.project).join("notes");
    let unknown = format!("task_{}-1", "0".repeat(32));
    let unknown = stage.places.worktrees(stage.project).join(unknown);
    for path in [&foreign, &unknown] {
        std::fs::create_dir_all(path).unwrap();
        std::fs::write(path.join("mine.txt"), "mine").unwrap();
    }
    reconcile::all(&mut stage.workshop()).unwrap();
    assert!(foreign.join("mine.txt").exists() && unknown.join("mine.txt").exists());
}

#[test]
fn a_worktree_that_somebody_works_in_stays_whatever_became_of_its_lease() {
    let mut stage = Stage::new();
    let task = stage.add(spec("fix"));
    stage.walk("echo x > x.txt");
    let task = stage.task(task.id);
    let attempt = Attempt::of(&task);
    let path = stage.places.worktree(stage.project, attempt);
    std::fs::create_dir_all(&path).unwrap();
    let lock = Lock::acquire(&stage.places.worktree_lock(stage.project, attempt), "agent").unwrap();
    let repaired = reconcile::all(&mut stage.workshop()).unwrap();
    assert_eq!((repaired.retired(), path.exists()), (0, true));
    drop(lock);
    let repaired = reconcile::all(&mut stage.workshop()).unwrap();
    assert_eq!((repaired.retired(), path.exists()), (1, false));
}

/// What `gc` says of the worktrees that are there.
fn told(stage: &mut Stage) -> Vec<&'static str> {
    let found = gc::survey(&mut stage.workshop(), gc::Limits::default()).unwrap();
    let trees = found.iter().filter(|it| it.kind == gc::Kind::Worktree);
    trees.map(|it| it.verdict.why()).collect()
}

#[test]
fn clearing_away_says_who_has_a_worktree() {
    let mut stage = Stage::new();
    stage.add(spec("fix"));
    let worker = work_until(&mut stage, Step::Worked);
    let attempt = Attempt::of(&worker.task);
    let place = stage.places.worktree_lock(stage.project, attempt);
    let lock = Lock::acquire(&place, "agent").unwrap();
    assert_eq!(told(&mut stage), ["somebody works with it"]);
    drop(lock);
    assert_eq!(
        told(&mut stage),
        ["somebody works with it"],
        "its agent does"
    );
    drop(worker.lock);
    let gone = "whoever worked there is gone; a worker or `handoff watchdog` sees to it";
    assert_eq!(told(&mut stage), [gone]);
    let cleared = gc::clear(&mut stage.workshop(), gc::Limits::default()).unwrap();
    assert!(cleared.iter().all(|it| !it.verdict.goes()), "{cleared:?}");
    reconcile::all(&mut stage.workshop()).unwrap();
    assert_eq!(told(&mut stage), [""; 0]);
}
