//! Which part of a batch is built on which.
//!
//! A part begins with what the parts have done that it needs. Where owners may overlap (`overlap = "serialise"`), they are worked
//! on one after the other, and the later one begins with what the earlier ones did: beginning with the base of the batch, it would
//! change the same lines as they did, and only one of them could be in the result.

use crate::ownership::{CaseRule, overlap};
use crate::{Task, TaskState, Timestamp};

/// Whether `task` is built on what `earlier` did; for one that is about to begin, whether it will be.
pub fn is_built_on(task: &Task, earlier: &Task, case: CaseRule) -> bool {
    let is_needed = task.spec.after.iter().any(|it| it.task == earlier.id);
    is_needed || (came_before(earlier, task) && own_a_common_path(task, earlier, case))
}

/// In which order results are merged: as they are given, but what others are built on comes before them. A check that fails
/// with one part is then not blamed on another that only contains it.
pub fn merging_order(parts: &[Task], case: CaseRule) -> Vec<usize> {
    let mut order: Vec<usize> = vec![];
    while order.len() < parts.len() {
        let is_open = |place: &usize| !order.contains(place);
        let is_next = |place: &usize| {
            let mut others = (0..parts.len()).filter(|other| other != place && is_open(other));
            !others.any(|other| is_built_on(&parts[*place], &parts[other], case))
        };
        let open = || (0..parts.len()).filter(is_open);
        // Nothing can be built on itself; if that were said all the same, the order given is as good as any.
        let next = open().find(is_next).or_else(|| open().next());
        order.extend(next);
    }
    order
}

fn came_before(earlier: &Task, task: &Task) -> bool {
    match (done_at(earlier), done_at(task)) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(earlier), Some(later)) => earlier < later,
    }
}

const fn done_at(task: &Task) -> Option<Timestamp> {
    if let TaskState::Done { at, .. } = task.state {
        Some(at)
    } else {
        None
    }
}

fn own_a_common_path(one: &Task, other: &Task, case: CaseRule) -> bool {
    let owners = one.spec.owns.as_ref().zip(other.spec.owns.as_ref());
    owners.is_some_and(|(one, other)| overlap(one, other, case).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Brief, Dependency, TaskSpec, Until};
    use crate::{Ownership, ProjectId, TaskId};
    use uuid::Uuid;

    fn part(number: u128, owns: &str) -> Task {
        let id = TaskId::from_uuid(Uuid::from_u128(number));
        let project = ProjectId::from_uuid(Uuid::from_u128(99));
        let brief: Brief = "Do it.".parse().unwrap();
        let spec = TaskSpec {
            owns: Some(Ownership::new(vec![owns.parse().unwrap()]).unwrap()),
            ..TaskSpec::new(format!("p{number}").parse().unwrap(), brief)
        };
        Task::begin(id, project, spec, Timestamp::UNIX_EPOCH)
    }

    fn done(number: u128, owns: &str, second: i64) -> Task {
        let at = Timestamp::from_second(second).unwrap();
        let summary = None;
        Task {
            state: TaskState::Done { at, summary },
            ..part(number, owns)
        }
    }

    fn order(parts: &[Task]) -> Vec<usize> {
        merging_order(parts, CaseRule::Sensitive)
    }

    #[test]
    fn one_that_begins_goes_on_from_those_that_own_the_same() {
        let next = part(1, "src/");
        let is_built_on = |earlier: &Task| is_built_on(&next, earlier, CaseRule::Sensitive);
        assert!(is_built_on(&done(2, "src/a.rs", 5)));
        assert!(!is_built_on(&done(3, "docs/", 5)));
        assert!(!is_built_on(&part(4, "src/a.rs")), "it is not done");
    }

    #[test]
    fn results_are_merged_as_given_where_nothing_is_built_on_anything() {
        let parts = [done(1, "a", 30), done(2, "b", 20), done(3, "c", 10)];
        assert_eq!(order(&parts), [0, 1, 2]);
    }

    #[test]
    fn what_others_are_built_on_is_merged_before_them() {
        let parts = [done(1, "a", 30), done(2, "b", 20), done(3, "a", 10)];
        assert_eq!(order(&parts), [1, 2, 0]);
        let mut needing = done(1, "a", 10);
        needing.spec.after = vec![Dependency {
            task: TaskId::from_uuid(Uuid::from_u128(2)),
            until: Until::Done,
        }];
        assert_eq!(order(&[needing, done(2, "b", 5)]), [1, 0]);
    }
}
