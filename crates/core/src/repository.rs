//! What the ledger knows of the repository of a project: which commits were proved good, and which refs moved past our hooks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::baseline::Baseline;
use crate::checked_text::checked_text;
use crate::tree::HeadName;
use crate::{CommitId, ProjectId};

/// What happened to a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RepositoryEvent {
    /// A commit of a branch was proved good.
    BaselineSet {
        /// Which, and how.
        baseline: Baseline,
    },
    /// A ref moved past our hooks while somebody lived who may not move it.
    RefMovedUnseen {
        /// Which, and who lived.
        moved: UnseenMove,
    },
}

/// The full name of a ref, only to be shown and compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RefName(String);

/// What somebody is watched as: the id of a session, or what a person called it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WatchName(String);

/// A text that is neither.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a name has 1 to 1024 bytes and no control character")]
pub struct NameError;

fn is_shown(text: &str) -> Result<(), NameError> {
    let is_name = !text.is_empty() && text.len() <= 1024 && !text.contains(char::is_control);
    is_name.then_some(()).ok_or(NameError)
}

checked_text!(RefName, NameError, is_shown);
checked_text!(WatchName, NameError, is_shown);

/// A ref that moved past our hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnseenMove {
    /// Which.
    pub name: RefName,
    /// Where it was; none if it was nowhere, or a link.
    pub old: Option<CommitId>,
    /// Where it went; none if it went away, or is a link.
    pub new: Option<CommitId>,
    /// What it led to, if it was a link, as HEAD is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_link: Option<RefName>,
    /// What it leads to, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_link: Option<RefName>,
    /// Who was watched at the time. If it is one, nobody else of ours can have done it.
    pub watched: Vec<WatchName>,
}

/// All that is known of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryRecord {
    /// Of which project.
    pub project: ProjectId,
    /// The baselines by branch, each with the number of the event that set it.
    pub baselines: BTreeMap<HeadName, (u64, Baseline)>,
    /// The number of its last event.
    pub version: u64,
}

/// A history that no repository can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the history of the repository of {project} has event {found} where {expected} was due")]
pub struct HistoryError {
    project: ProjectId,
    expected: u64,
    found: u64,
}

impl RepositoryRecord {
    /// Rebuilds what is known from its history: (number, event), oldest first.
    pub fn replay(
        project: ProjectId,
        history: impl IntoIterator<Item = (u64, RepositoryEvent)>,
    ) -> Result<Self, HistoryError> {
        let mut record = Self {
            project,
            baselines: BTreeMap::new(),
            version: 0,
        };
        for (found, event) in history {
            let expected = record.version + 1;
            if found != expected {
                return Err(HistoryError {
                    project,
                    expected,
                    found,
                });
            }
            record.apply(event);
        }
        Ok(record)
    }

    /// Takes an event in.
    pub fn apply(&mut self, event: RepositoryEvent) {
        self.version += 1;
        match event {
            RepositoryEvent::BaselineSet { baseline } => {
                let branch = baseline.branch.clone();
                self.baselines.insert(branch, (self.version, baseline));
            }
            // It is history only: nothing follows from it.
            RepositoryEvent::RefMovedUnseen { moved: _ } => {}
        }
    }
}
