//! The results of the parts, one merge on top of the other.

use handoff_core::batch::BatchState;
use handoff_core::{Batch, CommitId, PartName, Task, Timestamp};
use handoff_git::{Git, KeptPack, Merge, Merged, Repository};

use super::gathering::{Conflict, FailedCheck, Gathering, MergedPart, Missing};
use crate::error::EngineError;

/// What a part that is done left.
#[derive(Debug, Clone)]
pub(super) struct Contribution {
    pub(super) name: PartName,
    pub(super) task: Task,
    /// None if it changed nothing.
    pub(super) commit: Option<CommitId>,
}

/// A part that lies on the pile.
struct Layer {
    part: Contribution,
    own: CommitId,
    /// With everything below.
    top: CommitId,
}

/// Commits on top of the batch's base.
pub(super) struct Pile<'a> {
    git: &'a Git,
    at: &'a Repository,
    batch: Batch,
    /// What every part began with.
    base: CommitId,
    /// The same for everybody who does it again.
    time: Timestamp,
    layers: Vec<Layer>,
    conflicts: Vec<Conflict>,
    unchanged: Vec<PartName>,
    /// The commits, until a ref names the top.
    kept: Vec<KeptPack>,
}

impl<'a> Pile<'a> {
    /// Merges onto `base` in order; what conflicts is left out.
    pub(super) fn new(
        (git, at): (&'a Git, &'a Repository),
        batch: &Batch,
        (base, kept): (CommitId, Vec<KeptPack>),
        given: Vec<Contribution>,
    ) -> Result<Self, EngineError> {
        let mut pile = Self {
            git,
            at,
            batch: batch.clone(),
            base,
            time: time_of(batch),
            layers: vec![],
            conflicts: vec![],
            unchanged: vec![],
            kept,
        };
        for part in given {
            pile.put(part)?;
        }
        Ok(pile)
    }

    fn put(&mut self, part: Contribution) -> Result<(), EngineError> {
        let Some(own) = part.commit.clone() else {
            self.unchanged.push(part.name);
            return Ok(());
        };
        let message = self.message(&part);
        let merge = Merge {
            ours: self.top(),
            theirs: &own,
            message: &message,
            at: self.time,
        };
        match self.git.merge(self.at, &merge)? {
            Merged::Clean(top, kept) => {
                self.layers.push(Layer { part, own, top });
                self.kept.extend(kept);
            }
            Merged::Conflict(paths) => self.conflicts.push(Conflict {
                part: part.name,
                task: part.task.id,
                commit: own,
                paths,
            }),
        }
        Ok(())
    }

    fn message(&self, part: &Contribution) -> String {
        format!(
            "Merge part {} of {}\n\nHandoff-Batch: {}\nHandoff-Batch-Id: {}\nHandoff-Task: {}\nHandoff-Task-Id: {}\n",
            part.name,
            self.batch.spec.name,
            self.batch.spec.name,
            self.batch.id,
            part.task.spec.name,
            part.task.id
        )
    }

    pub(super) fn top(&self) -> &CommitId {
        self.at_height(self.height())
    }

    pub(super) const fn height(&self) -> usize {
        self.layers.len()
    }

    /// The commit with so many parts; the base with none.
    pub(super) fn at_height(&self, height: usize) -> &CommitId {
        match height.checked_sub(1) {
            None => &self.base,
            Some(place) => &self.layers[place].top,
        }
    }

    pub(super) fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }

    /// Takes off the part that was put on at this height, and those that were built on it, and puts the rest together again.
    pub(super) fn take_off(
        &mut self,
        height: usize,
    ) -> Result<(PartName, Vec<PartName>), EngineError> {
        let mut above = self.layers.split_off(height - 1);
        let culprit = above.remove(0);
        let mut also = vec![];
        for layer in above {
            let is_built_on_it = self.git.is_ancestor(self.at, &culprit.own, &layer.own);
            if is_built_on_it.map_err(EngineError::Gather)? {
                also.push(layer.part.name);
            } else {
                self.put(layer.part)?;
            }
        }
        Ok((culprit.part.name, also))
    }

    /// What keeps the commits from being pruned.
    pub(super) fn into_kept(self) -> Vec<KeptPack> {
        self.kept
    }

    pub(super) fn gathered(
        self,
        batch: &Batch,
        blocked: Vec<Missing>,
        failed_checks: Vec<FailedCheck>,
    ) -> Gathering {
        let tip = self.top().clone();
        let merged = self.layers.into_iter().map(|layer| MergedPart {
            part: layer.part.name,
            commit: layer.own,
        });
        Gathering {
            batch: batch.spec.name.clone(),
            base: self.base,
            merged: merged.collect(),
            tip,
            unchanged: self.unchanged,
            conflicts: self.conflicts,
            blocked,
            failed_checks,
            checked: None,
        }
    }
}

/// When the last part had ended; for what is begun before that, when the batch was opened.
fn time_of(batch: &Batch) -> Timestamp {
    match &batch.state {
        BatchState::FanIn { ready_at } => *ready_at,
        BatchState::Open | BatchState::Ended { .. } | BatchState::Cancelled { .. } => {
            batch.opened_at
        }
    }
}
