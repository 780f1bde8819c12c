//! What is published when a batch is opened: the batch, and its tasks.

use super::manifest::{Manifest, Successor};
use super::plan::Plan;
use super::record::{BatchPart, BatchSpec};
use crate::task::{Dependency, Part, TaskSpec, Until, dependencies};
use crate::{BatchId, CommitId, PartName, RunId, TaskId};

/// What a batch gets when it is opened: identities, and where its parts begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The batch's.
    pub batch: BatchId,
    /// The parts', in the order of the manifest.
    pub parts: Vec<TaskId>,
    /// The fan-in's.
    pub fan_in: TaskId,
    /// That of what comes after; only used if the manifest has a task for it.
    pub next: TaskId,
    /// The commit that every part begins with.
    pub base: CommitId,
    /// What must be done before any part begins: the task of the session that opens it.
    pub after: Option<TaskId>,
    /// The run that waits for its results.
    pub run: Option<RunId>,
}

/// What is published at once, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    /// The batch.
    pub spec: BatchSpec,
    /// Its tasks in the order of the queue: parts as planned, each after those it waits for; the fan-in; what comes after.
    pub tasks: Vec<(TaskId, TaskSpec)>,
}

impl Manifest {
    /// What opening it publishes. `plan` gives the order in which equal parts are handed out.
    pub fn publication(&self, opening: &Opening, plan: &Plan) -> Publication {
        let parts = plan.parts.iter().map(|it| {
            let id = opening.parts[it.place];
            (id, self.part_task(it.place, opening))
        });
        let mut tasks: Vec<_> = parts.collect();
        tasks.push((opening.fan_in, self.fan_in_task(opening)));
        tasks.extend(self.next_task(opening));
        Publication {
            spec: self.spec(opening),
            tasks,
        }
    }

    fn spec(&self, opening: &Opening) -> BatchSpec {
        let parts = self.parts.iter().zip(&opening.parts);
        let part = |(part, task): (&super::manifest::PartSpec, &TaskId)| BatchPart {
            name: part.name.clone(),
            task: *task,
            estimate: part.estimate,
        };
        let has_task = matches!(self.next, Some(Successor::Task { .. }));
        BatchSpec {
            name: self.name.clone(),
            base: opening.base.clone(),
            parts: parts.map(part).collect(),
            fan_in: opening.fan_in,
            fan_in_estimate: self.fan_in.estimate,
            next: has_task.then_some(opening.next),
            next_name: self.next.as_ref().map(|it| it.task().clone()),
            rationale: self.rationale.clone(),
            run: opening.run,
        }
    }

    fn part_task(&self, place: usize, opening: &Opening) -> TaskSpec {
        let part = &self.parts[place];
        let id_of = |name: &PartName| {
            let place = self.parts.iter().position(|it| it.name == *name)?;
            opening.parts.get(place).copied()
        };
        let needed = part.after.iter().filter_map(id_of).chain(opening.after);
        let after = needed.map(|task| Dependency {
            task,
            until: Until::Done,
        });
        TaskSpec {
            owns: Some(part.owns.clone()),
            verify: part.verify.clone(),
            after: dependencies(after),
            part: Some(Part::SubTask {
                batch: opening.batch,
            }),
            agent: part.agent.clone(),
            limit: part.limit,
            ..TaskSpec::new(part.task.clone(), part.brief.clone())
        }
    }

    /// It waits for the end of every part, however it ended: a part that failed is worth telling too.
    fn fan_in_task(&self, opening: &Opening) -> TaskSpec {
        let fan_in = &self.fan_in;
        let until = Until::Ended;
        let after = opening.parts.iter().map(|&task| Dependency { task, until });
        TaskSpec {
            verify: fan_in.verify.clone(),
            after: after.collect(),
            part: Some(Part::FanIn {
                batch: opening.batch,
            }),
            agent: fan_in.agent.clone(),
            ..TaskSpec::new(fan_in.task.clone(), fan_in.brief.clone())
        }
    }

    fn next_task(&self, opening: &Opening) -> Option<(TaskId, TaskSpec)> {
        let Some(Successor::Task {
            task,
            brief,
            verify,
            agent,
        }) = &self.next
        else {
            return None;
        };
        let after = vec![Dependency {
            task: opening.fan_in,
            until: Until::Done,
        }];
        let spec = TaskSpec {
            verify: verify.clone(),
            after,
            agent: agent.clone(),
            ..TaskSpec::new(task.clone(), brief.clone())
        };
        Some((opening.next, spec))
    }
}
