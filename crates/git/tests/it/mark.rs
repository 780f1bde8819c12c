use std::collections::BTreeSet;
use std::fs;
use std::sync::Barrier;

use handoff_core::{ProjectId, ProjectMark, StoreId};
use handoff_git::{MarkError, Repository};
use uuid::Uuid;

use crate::stage::Stage;

fn mark(number: u128) -> ProjectMark {
    ProjectMark {
        project: ProjectId::from_uuid(Uuid::from_u128(number)),
        store: StoreId::from_uuid(Uuid::from_u128(number)),
    }
}

#[test]
fn a_mark_is_shared_by_worktrees_and_survives_a_move_and_no_clone_has_it() {
    let stage = Stage::new();
    let linked = stage.linked();
    assert_eq!(stage.here().read_mark().unwrap(), None);
    assert_eq!(linked.write_mark(&mark(1)).unwrap(), mark(1));
    assert_eq!(stage.here().read_mark().unwrap(), Some(mark(1)));

    let clone = stage.env.root().join("clone");
    stage
        .repo
        .git(["clone", "--quiet", ".", clone.to_str().unwrap()]);
    assert_eq!(
        Repository::discover(&clone).unwrap().read_mark().unwrap(),
        None
    );

    let moved = stage.env.root().join("moved");
    fs::rename(stage.repo.path(), &moved).unwrap();
    assert_eq!(
        Repository::discover(&moved).unwrap().read_mark().unwrap(),
        Some(mark(1))
    );
}

#[test]
fn of_many_that_mark_at_once_one_wins_and_all_know_it() {
    let stage = Stage::new();
    let repository = stage.here();
    let start = Barrier::new(8);
    let seen: BTreeSet<String> = std::thread::scope(|scope| {
        let write = |number| {
            start.wait();
            repository.write_mark(&mark(number)).unwrap().to_string()
        };
        let threads: Vec<_> = (0..8)
            .map(|number| scope.spawn(move || write(number)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let kept = repository.read_mark().unwrap().unwrap().to_string();
    assert_eq!(seen, BTreeSet::from([kept]));
}

#[test]
fn a_damaged_mark_is_named_and_left_as_it_is() {
    let stage = Stage::new();
    let repository = stage.here();
    repository.write_mark(&mark(1)).unwrap();
    let file = repository.common_dir().join("handoff/project");
    let torn = &mark(1).to_string()[..40];
    fs::write(&file, torn).unwrap();
    for error in [
        repository.read_mark().unwrap_err(),
        repository.write_mark(&mark(2)).unwrap_err(),
    ] {
        let MarkError::Damaged(path, _) = error else {
            panic!("{error}")
        };
        assert_eq!(path, file);
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), torn);
}
