//! Trees that are made ahead of those who work in them.

use std::path::PathBuf;

use handoff_engine::{Ending, Places, gc, reconcile};
use handoff_files::Lock;

use crate::stage::{Stage, spec};

/// The names of the spare trees that are there, without their locks.
fn spares(stage: &Stage) -> usize {
    let place = stage.places.worktrees(stage.project);
    let names = std::fs::read_dir(place)
        .unwrap()
        .map(|it| it.unwrap().path());
    let is_tree = |path: &std::path::PathBuf| path.is_dir() && Places::is_spare(path);
    names.filter(is_tree).count()
}

fn lay_in(stage: &mut Stage, wanted: usize) {
    let stock = std::sync::Arc::clone(&stage.stock);
    stock.lay_in(&stage.workshop(), wanted).unwrap();
}

#[test]
fn an_attempt_begins_in_a_tree_that_was_made_ahead() {
    let mut stage = Stage::new();
    lay_in(&mut stage, 2);
    let before = stage.git().list_worktrees(stage.repository()).unwrap();
    assert_eq!(before.len(), 1, "nobody knows where attempts begin");
    stage.add(spec("one"));
    assert_eq!(stage.walk("echo 1 > one.txt").ending, Ending::Done);
    lay_in(&mut stage, 2);
    assert_eq!(spares(&stage), 2);

    // Somebody went on meanwhile: it begins where they are.
    stage.repo.write("later.txt", "later").commit("later");
    stage.add(spec("two"));
    let walked = stage.walk("test -f later.txt && echo 2 > two.txt");
    assert_eq!(walked.ending, Ending::Done);
    assert_eq!(spares(&stage), 1);
    lay_in(&mut stage, 1);
    assert_eq!(spares(&stage), 1, "there are enough");

    let stock = std::sync::Arc::clone(&stage.stock);
    stock.clear(&stage.workshop()).unwrap();
    assert_eq!(spares(&stage), 0);
    let left = stage.git().list_worktrees(stage.repository()).unwrap();
    assert_eq!(left.len(), 1);
}

/// A spare tree of a worker that lives, and one of a worker that was killed; that one is named.
fn one_of_the_dead(stage: &mut Stage) -> PathBuf {
    stage.add(spec("one"));
    stage.walk("echo 1 > one.txt");
    lay_in(stage, 1);
    reconcile::all(&mut stage.workshop()).unwrap();
    assert_eq!(spares(stage), 1, "its worker lives");

    // As a killed one leaves it: the tree, and a lock that nobody holds.
    let place = stage.places.spare(stage.project);
    let base = stage.git().head(stage.repository()).unwrap();
    stage
        .git()
        .make_spare(stage.repository(), &place, &base)
        .unwrap();
    drop(Lock::try_acquire(&place.with_extension("lock"), "spare").unwrap());
    assert_eq!(spares(stage), 2);
    place
}

#[test]
fn a_spare_tree_goes_with_its_worker_and_not_before() {
    let mut stage = Stage::new();
    let place = one_of_the_dead(&mut stage);
    reconcile::all(&mut stage.workshop()).unwrap();
    assert_eq!(spares(&stage), 1);
    assert!(!place.exists() && !place.with_extension("lock").exists());
}

#[test]
fn clearing_away_takes_the_spare_trees_of_the_dead() {
    let mut stage = Stage::new();
    let place = one_of_the_dead(&mut stage);
    let mut cleared = gc::clear(&mut stage.workshop(), gc::Limits::default()).unwrap();
    cleared.retain(|it| it.kind == gc::Kind::Worktree);
    let gone: Vec<_> = cleared.iter().filter(|it| it.verdict.goes()).collect();
    assert_eq!((cleared.len(), gone.len(), spares(&stage)), (2, 1, 1));
    assert!(!place.exists() && gone[0].bytes > 0);
}
