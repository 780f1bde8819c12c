//! What an event means for what is known of a feature.

use super::{
    Checkpoint, FeatureEvent, FeatureRecord, Finished, Mark, Marked, Proof, Ran, StepTitle,
};
use crate::{FeatureId, FeatureName, ProjectId, Timestamp};

/// So many finished steps are remembered: more than a plan has, few enough for one row.
const REMEMBERED: usize = 500;

/// A history that no feature can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The first event is not `Begun`, or there is none.
    #[error("the history of {0} does not begin with `begun`")]
    NoBeginning(FeatureId),
    /// A number is missing or stands twice.
    #[error("the history of {feature} has event {found} where {expected} was due")]
    Gap {
        /// Whose history.
        feature: FeatureId,
        /// The number that was due.
        expected: u64,
        /// The number found.
        found: u64,
    },
}

impl FeatureRecord {
    /// A feature right after the ledger heard of it.
    pub fn begin(id: FeatureId, project: ProjectId, name: FeatureName) -> Self {
        Self {
            id,
            project,
            name,
            mark: None,
            written_plan: None,
            checks: std::collections::BTreeMap::new(),
            finished: vec![],
            checkpoint: None,
            archived_at: None,
            version: 1,
        }
    }

    /// Rebuilds what is known from its history: (number, time, event), oldest first.
    pub fn replay(
        id: FeatureId,
        project: ProjectId,
        history: impl IntoIterator<Item = (u64, Timestamp, FeatureEvent)>,
    ) -> Result<Self, HistoryError> {
        let mut history = history.into_iter();
        let Some((1, _, FeatureEvent::Begun { name })) = history.next() else {
            return Err(HistoryError::NoBeginning(id));
        };
        let mut feature = Self::begin(id, project, name);
        for (found, at, event) in history {
            let expected = feature.version + 1;
            if found != expected {
                return Err(HistoryError::Gap {
                    feature: id,
                    expected,
                    found,
                });
            }
            feature.apply(event, at);
        }
        Ok(feature)
    }

    /// Takes an event in.
    pub fn apply(&mut self, event: FeatureEvent, at: Timestamp) {
        self.version += 1;
        match event {
            FeatureEvent::StepFinished { step, mark } => {
                self.write_plan(&mark, at);
                self.finish(step, mark, at);
            }
            FeatureEvent::StepStarted { step, mark }
            | FeatureEvent::StepBlocked { step, mark, .. } => {
                self.write_plan(&mark, at);
                self.finished.retain(|finished| finished.step != step);
            }
            FeatureEvent::StepAdded { mark, .. } => self.write_plan(&mark, at),
            FeatureEvent::Checked { run, .. } => {
                self.checks.insert(run.check.clone(), Ran { at, run });
            }
            FeatureEvent::Checkpointed {
                step,
                changes,
                reason,
                mark,
            } => {
                self.mark = Some(Marked { at, mark });
                self.checkpoint = Some(Checkpoint {
                    at,
                    step,
                    changes,
                    reason,
                });
            }
            FeatureEvent::Archived => self.archived_at = Some(at),
            FeatureEvent::Begun { .. }
            | FeatureEvent::Noted { .. }
            | FeatureEvent::Decided { .. } => {}
        }
    }

    /// A command has written the plan: what a checkpoint said before is overtaken.
    fn write_plan(&mut self, mark: &Mark, at: Timestamp) {
        self.checkpoint = None;
        self.written_plan.clone_from(&mark.plan);
        self.mark = Some(Marked {
            at,
            mark: mark.clone(),
        });
    }

    fn finish(&mut self, step: StepTitle, mark: Mark, at: Timestamp) {
        let passed = self.checks.values();
        let passed = passed.filter(|ran| ran.run.proves(&mark.tree));
        let proved_by = passed.map(Ran::proof).collect();
        self.finished.push(Finished {
            step,
            at,
            mark,
            proved_by,
        });
        let surplus = self.finished.len().saturating_sub(REMEMBERED);
        self.finished.drain(..surplus);
    }

    /// The newest record that a step of this text was finished.
    pub fn proof_of(&self, step: &str) -> Option<&Finished> {
        self.finished
            .iter()
            .rev()
            .find(|finished| finished.step.as_str() == step)
    }
}

impl Ran {
    fn proof(&self) -> Proof {
        Proof {
            check: self.run.check.clone(),
            command: self.run.command.clone(),
            at: self.at,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;
    use crate::TreeState;
    use crate::feature::{CheckOutcome, CheckRun, NoteKind, OutputTail};

    fn mark(commit: char) -> Mark {
        Mark {
            tree: TreeState {
                branch: None,
                commit: Some(commit.to_string().repeat(40).parse().unwrap()),
                dirty: None,
            },
            plan: None,
        }
    }

    fn checked(mark: &Mark, outcome: CheckOutcome) -> FeatureEvent {
        FeatureEvent::Checked {
            run: CheckRun {
                check: "test".parse().unwrap(),
                command: "make test".parse().unwrap(),
                outcome,
                took: Duration::from_secs(1),
                tree: Some(mark.tree.clone()),
                output: OutputTail::default(),
            },
            mark: mark.clone(),
        }
    }

    fn finished(mark: &Mark) -> FeatureEvent {
        FeatureEvent::StepFinished {
            step: "do it".parse().unwrap(),
            mark: mark.clone(),
        }
    }

    fn after(events: impl IntoIterator<Item = FeatureEvent>) -> FeatureRecord {
        let begun = FeatureEvent::Begun {
            name: "login".parse().unwrap(),
        };
        let history = [begun].into_iter().chain(events);
        let history = (1..)
            .zip(history)
            .map(|(seq, event)| (seq, Timestamp::UNIX_EPOCH, event));
        let (id, project) = (
            FeatureId::from_uuid(Uuid::nil()),
            ProjectId::from_uuid(Uuid::nil()),
        );
        FeatureRecord::replay(id, project, history).unwrap()
    }

    #[test]
    fn a_step_is_proved_by_what_passed_on_the_same_code() {
        let here = mark('a');
        let record = after([checked(&here, CheckOutcome::Passed), finished(&here)]);
        let proof = record.proof_of("do it").unwrap();
        let [proof] = &proof.proved_by[..] else {
            panic!("{proof:?}");
        };
        assert_eq!(proof.command.as_str(), "make test");
    }

    #[test]
    fn a_step_is_not_proved_by_what_failed_or_passed_elsewhere() {
        let (here, elsewhere) = (mark('a'), mark('b'));
        for check in [
            checked(&here, CheckOutcome::Failed { code: 1 }),
            checked(&elsewhere, CheckOutcome::Passed),
        ] {
            let record = after([check, finished(&here)]);
            assert_eq!(record.proof_of("do it").unwrap().proved_by, []);
        }
    }

    #[test]
    fn a_step_that_is_opened_again_has_lost_its_proof() {
        let here = mark('a');
        let step = "do it".parse().unwrap();
        let opened = FeatureEvent::StepStarted {
            step,
            mark: mark('b'),
        };
        let record = after([
            checked(&here, CheckOutcome::Passed),
            finished(&here),
            opened,
        ]);
        assert_eq!(record.proof_of("do it"), None);
    }

    #[test]
    fn notes_and_checks_do_not_say_that_the_plan_is_current() {
        let note = FeatureEvent::Noted {
            kind: NoteKind::Note,
            text: "hello".parse().unwrap(),
            mark: mark('b'),
        };
        let record = after([
            finished(&mark('a')),
            note,
            checked(&mark('b'), CheckOutcome::Passed),
        ]);
        assert_eq!(record.mark.unwrap().mark, mark('a'));
    }

    #[test]
    fn a_history_with_a_gap_is_refused() {
        let id = FeatureId::from_uuid(Uuid::nil());
        let name = "login".parse().unwrap();
        let history = [
            (1, Timestamp::UNIX_EPOCH, FeatureEvent::Begun { name }),
            (3, Timestamp::UNIX_EPOCH, FeatureEvent::Archived),
        ];
        let replayed = FeatureRecord::replay(id, ProjectId::from_uuid(Uuid::nil()), history);
        assert!(matches!(
            replayed,
            Err(HistoryError::Gap {
                expected: 2,
                found: 3,
                ..
            })
        ));
    }
}
