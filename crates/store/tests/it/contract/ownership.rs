//! Two live leases never cover the same path.

use handoff_store::StoreError;
use handoff_store::queue::{Answer, Change, TaskRef, TenureWish, submit};

use super::on_both_stores;
use crate::fixture::{Fixture, claim_next, owning, request, spec};

on_both_stores! {
    a_task_whose_paths_are_taken_is_passed_over,
    claiming_it_by_name_names_the_owner_and_an_example,
    racing_claimers_never_overlap,
}

fn a_task_whose_paths_are_taken_is_passed_over(fixture: &mut Fixture) {
    fixture.add(owning("a", "src/"));
    fixture.add(owning("b", "src/new.rs"));
    fixture.add(owning("c", "docs/"));
    fixture.add(spec("d"));
    let first = fixture.claim().unwrap();
    let names: Vec<_> = std::iter::from_fn(|| fixture.claim())
        .map(|task| task.spec.name.to_string())
        .collect();
    assert_eq!(names, ["c", "d"]);
    fixture.complete(&first).unwrap();
    assert_eq!(fixture.claim().unwrap().spec.name.as_str(), "b");
}

fn claiming_it_by_name_names_the_owner_and_an_example(fixture: &mut Fixture) {
    fixture.add(owning("a", "src/"));
    let second = fixture.add(owning("b", "src/*.rs"));
    fixture.claim().unwrap();
    let tenure = TenureWish::Timed {
        ttl: handoff_core::lease::Ttl::default(),
    };
    let refused = fixture.submit(Change::Claim {
        task: TaskRef::Id(second.id),
        tenure,
    });
    let Err(StoreError::OwnershipTaken { by, overlap }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(by.as_str(), "a");
    assert!(overlap.example.starts_with("src/"), "{}", overlap.example);
}

fn racing_claimers_never_overlap(fixture: &mut Fixture) {
    for number in 0..6 {
        fixture.add(owning(
            &format!("t{number}"),
            if number % 2 == 0 { "src/" } else { "docs/" },
        ));
    }
    let (door, project) = (fixture.door(), fixture.project);
    let claimers: Vec<_> = (0..18)
        .map(|_| {
            let door = door.clone();
            std::thread::spawn(move || {
                let receipt = submit(&mut *door.open(), &request(claim_next(project))).unwrap();
                matches!(receipt.answer, Answer::Task(_))
            })
        })
        .collect();
    let won = claimers
        .into_iter()
        .map(|claimer| claimer.join().unwrap())
        .filter(|won| *won)
        .count();
    assert_eq!(won, 2);
}
