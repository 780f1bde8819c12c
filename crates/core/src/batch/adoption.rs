//! A batch that was opened in another store: its parts with what became of each, its fan-in and what comes after it.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::{Batch, BatchSpec};
use crate::task::{AdoptedEnding, AdoptedTask, Dependency, Evidence, Part, VerifyCommand};
use crate::{BatchId, CommitId, PackageId, Task, TaskId};

/// A batch as it is handed over. Its ids are those of the store that it comes from, until it is [taken over](Self::under).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdoptedBatch {
    /// What it is.
    pub spec: BatchSpec,
    /// Its tasks in the order of the queue, each behind those it waits for.
    pub tasks: Vec<AdoptedMember>,
}

/// A task of such a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdoptedMember {
    /// Which.
    pub id: TaskId,
    /// What it is, and what became of it.
    pub task: AdoptedTask,
}

impl AdoptedBatch {
    /// A batch as it stands. `tasks` are its own and what comes after it, in the order of the queue. What all of it waited for stays
    /// where it is: nobody else could wait for it.
    pub fn of(batch: &Batch, tasks: &[Task]) -> Self {
        let is_within = |it: &Dependency| tasks.iter().any(|task| task.id == it.task);
        let member = |task: &Task| {
            let mut adopted = AdoptedTask::of(task);
            adopted.spec.after.retain(is_within);
            AdoptedMember {
                id: task.id,
                task: adopted,
            }
        };
        Self {
            spec: batch.spec.clone(),
            tasks: tasks.iter().map(member).collect(),
        }
    }

    /// What the tasks of a batch go on from that is not among them. Such a batch can go on nowhere else: another store has neither
    /// that task nor what it leaves.
    pub fn bond(tasks: &[Task]) -> Option<TaskId> {
        let is_within = |id: TaskId| tasks.iter().any(|it| it.id == id);
        let awaited = tasks.iter().flat_map(|it| &it.spec.after);
        awaited.map(|it| it.task).find(|it| !is_within(*it))
    }

    /// The batch under ids of its own, for the store that takes it over with this package.
    pub fn under(&self, batch: BatchId, package: PackageId) -> Self {
        let mut adopted = self.clone();
        let spec = &mut adopted.spec;
        for part in &mut spec.parts {
            part.task = part.task.adopted(package);
        }
        spec.fan_in = spec.fan_in.adopted(package);
        spec.next = spec.next.map(|next| next.adopted(package));
        for member in &mut adopted.tasks {
            member.id = member.id.adopted(package);
            let spec = &mut member.task.spec;
            for dependency in &mut spec.after {
                dependency.task = dependency.task.adopted(package);
            }
            spec.part = spec.part.map(|part| match part {
                Part::SubTask { .. } => Part::SubTask { batch },
                Part::FanIn { .. } => Part::FanIn { batch },
                Part::Phase { run } => Part::Phase { run },
            });
        }
        adopted
    }

    /// Whether everything that it names is in it, each behind what it waits for, and nothing else. The batch of a run goes with it.
    pub fn is_whole(&self) -> bool {
        let mut seen = BTreeSet::new();
        let is_ordered = self.tasks.iter().all(|member| {
            let is_seen = |dependency: &Dependency| seen.contains(&dependency.task);
            let is_behind = member.task.spec.after.iter().all(is_seen);
            seen.insert(member.id) && is_behind
        });
        let spec = &self.spec;
        let parts = spec.parts.iter().map(|part| part.task);
        let named: BTreeSet<_> = parts.chain([spec.fan_in]).chain(spec.next).collect();
        let is_all = is_ordered && seen == named && spec.run.is_none();
        is_all && self.tasks.iter().all(|member| self.fits(member))
    }

    fn fits(&self, member: &AdoptedMember) -> bool {
        let spec = &self.spec;
        match member.task.spec.part {
            Some(Part::SubTask { .. }) => spec.parts.iter().any(|part| part.task == member.id),
            Some(Part::FanIn { .. }) => spec.fan_in == member.id,
            Some(Part::Phase { .. }) => false,
            None => spec.next == Some(member.id),
        }
    }

    /// The commits without which nobody can go on with it: its base, and the work that was accepted.
    pub fn commits(&self) -> Vec<&CommitId> {
        let proofs = self.tasks.iter().flat_map(|member| &member.task.evidence);
        let accepted = proofs.filter_map(Evidence::commit);
        [&self.spec.base].into_iter().chain(accepted).collect()
    }

    /// The packages of parts that have ended: what they left for others.
    pub fn packages(&self) -> impl Iterator<Item = PackageId> {
        let proofs = self.tasks.iter().flat_map(|member| &member.task.evidence);
        proofs.filter_map(Evidence::package)
    }

    /// What would be run to prove the work that is left. What ended without success can be tried again.
    pub fn commands(&self) -> BTreeSet<&VerifyCommand> {
        let is_done = |task: &AdoptedTask| matches!(task.ending, Some(AdoptedEnding::Done { .. }));
        let left = self.tasks.iter().map(|member| &member.task);
        let left = left.filter(|task| !is_done(task));
        left.filter_map(|task| task.spec.verify.as_ref()).collect()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::batch::BatchPart;
    use crate::task::{TaskSpec, Until};
    use crate::{RunId, TaskState};

    fn id(number: u128) -> TaskId {
        TaskId::from_uuid(Uuid::from_u128(number))
    }

    fn member(number: u128, part: Option<Part>, after: &[u128]) -> AdoptedMember {
        let name = format!("b.{number}").parse().unwrap();
        let until = Until::Ended;
        let on = |task: &u128| Dependency {
            task: id(*task),
            until,
        };
        let spec = TaskSpec {
            part,
            after: after.iter().map(on).collect(),
            verify: format!("make {number}").parse().ok(),
            ..TaskSpec::new(name, "B".parse().unwrap())
        };
        AdoptedMember {
            id: id(number),
            task: AdoptedTask {
                spec,
                evidence: vec![],
                ending: None,
                hold: None,
            },
        }
    }

    fn commit(digit: &str) -> CommitId {
        digit.repeat(40).parse().unwrap()
    }

    /// Two parts, of which the first is done; the fan-in; what comes after.
    fn batch() -> AdoptedBatch {
        let batch = BatchId::from_uuid(Uuid::from_u128(9));
        let part = |number| BatchPart {
            name: format!("p{number}").parse().unwrap(),
            task: id(number),
            estimate: None,
        };
        let (sub, fan_in) = (Part::SubTask { batch }, Part::FanIn { batch });
        let mut done = member(1, Some(sub), &[]);
        done.task.ending = Some(AdoptedEnding::Done { summary: None });
        done.task.evidence = vec![Evidence::Committed {
            branch: "handoff/x".parse().unwrap(),
            commit: commit("2"),
        }];
        AdoptedBatch {
            spec: BatchSpec {
                name: "b".parse().unwrap(),
                base: commit("1"),
                parts: vec![part(1), part(2)],
                fan_in: id(3),
                fan_in_estimate: None,
                next: Some(id(4)),
                next_name: None,
                rationale: None,
                run: None,
            },
            tasks: vec![
                done,
                member(2, Some(sub), &[1]),
                member(3, Some(fan_in), &[1, 2]),
                member(4, None, &[3]),
            ],
        }
    }

    #[test]
    fn it_is_the_same_batch_under_other_ids() {
        let (batch, package) = (batch(), PackageId::from_uuid(Uuid::from_u128(7)));
        let here = BatchId::from_uuid(Uuid::from_u128(8));
        let adopted = batch.under(here, package);
        assert!(batch.is_whole() && adopted.is_whole());
        let ids = adopted.tasks.iter().map(|it| it.id);
        let expected = [1, 2, 3, 4].map(|number| id(number).adopted(package));
        assert_eq!(ids.collect::<Vec<_>>(), expected);
        let of_batch = adopted
            .tasks
            .iter()
            .filter_map(|it| it.task.spec.part?.batch());
        assert_eq!(of_batch.collect::<Vec<_>>(), [here; 3]);
        assert_eq!(adopted.under(here, package).spec.name, batch.spec.name);
        let other = PackageId::from_uuid(Uuid::from_u128(6));
        assert_ne!(batch.under(here, other).spec.fan_in, adopted.spec.fan_in);
    }

    #[test]
    fn what_goes_on_from_elsewhere_is_bound() {
        let project = crate::ProjectId::from_uuid(Uuid::from_u128(9));
        let at = crate::Timestamp::UNIX_EPOCH;
        let begun = |member: AdoptedMember| Task::begin(member.id, project, member.task.spec, at);
        let mut tasks = [member(1, None, &[7]), member(2, None, &[1])].map(begun);
        // Also when it is done: the fan-in begins with what all parts waited for.
        tasks[0].state = TaskState::Done { at, summary: None };
        assert_eq!(AdoptedBatch::bond(&tasks), Some(id(7)));
        tasks[0].spec.after.clear();
        assert_eq!(AdoptedBatch::bond(&tasks), None);
    }

    #[test]
    fn what_does_not_fit_together_is_seen() {
        let broken: [fn(&mut AdoptedBatch); 7] = [
            |it| it.tasks.swap(0, 1),
            |it| drop(it.tasks.pop()),
            |it| it.tasks.push(it.tasks[0].clone()),
            |it| it.spec.fan_in = id(2),
            |it| it.spec.next = None,
            |it| it.tasks[1].task.spec.part = None,
            |it| it.spec.run = Some(RunId::from_uuid(Uuid::from_u128(5))),
        ];
        for (number, damage) in broken.iter().enumerate() {
            let mut batch = batch();
            damage(&mut batch);
            assert!(!batch.is_whole(), "{number}");
        }
    }

    #[test]
    fn it_says_what_it_needs() {
        let mut batch = batch();
        let reason = "no".parse().unwrap();
        batch.tasks[1].task.ending = Some(AdoptedEnding::Failed { reason });
        assert_eq!(batch.commits(), [&commit("1"), &commit("2")]);
        let commands: Vec<_> = batch.commands().iter().map(|it| it.as_str()).collect();
        assert_eq!(commands, ["make 2", "make 3", "make 4"]);
    }
}
