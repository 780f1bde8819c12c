//! A package as its history makes it.

use serde::{Deserialize, Serialize};

use super::event::{Claim, Origin, PackageEvent, Receipt};
use super::label::{KeyId, Label, Recipient};
use crate::text::Reason;
use crate::{ContextScope, Digest, Fence, Moment, PackageId, ProjectId, TaskId, Timestamp};

/// Where a package is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PackageState {
    /// Whoever may, can claim it.
    Created,
    /// Somebody has the right to receive it.
    Claimed {
        /// The right.
        claim: Claim,
    },
    /// It was received, for good.
    Consumed {
        /// When.
        at: Timestamp,
        /// What became of it.
        receipt: Receipt,
    },
    /// Another store decides about it.
    Transferred {
        /// When.
        at: Timestamp,
        /// Who has it.
        to: Recipient,
    },
    /// It was deleted.
    Cancelled {
        /// When.
        at: Timestamp,
        /// Why, if they said.
        reason: Option<Reason>,
    },
    /// Its time was over when somebody wanted it.
    Expired {
        /// When that was seen.
        at: Timestamp,
    },
}

/// The same in one word, at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PackageStanding {
    /// It can be received.
    Created,
    /// Somebody is receiving it.
    Claimed,
    /// It was received.
    Consumed,
    /// Another store has it.
    Transferred,
    /// It was deleted.
    Cancelled,
    /// Its time is over.
    Expired,
}

impl PackageStanding {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Claimed => "claimed",
            Self::Consumed => "consumed",
            Self::Transferred => "transferred",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    /// Whether it can still come to something.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Created | Self::Claimed)
    }
}

/// What is known of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageRecord {
    /// What stands on it.
    pub label: Label,
    /// The project whose ledger has it; its label may name another.
    pub project: ProjectId,
    /// SHA-256 of its header.
    pub digest: Digest,
    /// How it came here.
    pub origin: Origin,
    /// The number of the newest claim.
    pub fence: Fence,
    /// How often it was received.
    pub receipts: u32,
    /// Where it is.
    pub state: PackageState,
    /// The number of its last event.
    pub version: u64,
}

/// A history that no package can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The first event is not `Created`, or there is none.
    #[error("the history of {0} does not begin with `created`")]
    NoBeginning(PackageId),
    /// A number is missing or stands twice.
    #[error("the history of {package} has event {found} where {expected} was due")]
    Gap {
        /// Whose history.
        package: PackageId,
        /// The number that was due.
        expected: u64,
        /// The number found.
        found: u64,
    },
}

impl PackageRecord {
    /// A package right after the ledger heard of it.
    pub const fn begin(project: ProjectId, label: Label, digest: Digest, origin: Origin) -> Self {
        Self {
            label,
            project,
            digest,
            origin,
            fence: Fence::NONE,
            receipts: 0,
            state: PackageState::Created,
            version: 1,
        }
    }

    /// Rebuilds what is known from its history: (number, time, event), oldest first.
    pub fn replay(
        id: PackageId,
        project: ProjectId,
        history: impl IntoIterator<Item = (u64, Timestamp, PackageEvent)>,
    ) -> Result<Self, HistoryError> {
        let mut history = history.into_iter();
        let Some((
            1,
            _,
            PackageEvent::Created {
                label,
                digest,
                origin,
            },
        )) = history.next()
        else {
            return Err(HistoryError::NoBeginning(id));
        };
        let mut package = Self::begin(project, *label, digest, origin);
        for (found, at, event) in history {
            let expected = package.version + 1;
            if found != expected {
                return Err(HistoryError::Gap {
                    package: id,
                    expected,
                    found,
                });
            }
            package.apply(event, at);
        }
        Ok(package)
    }

    /// Takes an event in.
    pub fn apply(&mut self, event: PackageEvent, at: Timestamp) {
        self.version += 1;
        self.state = match event {
            PackageEvent::Claimed { claim } => {
                self.fence = claim.fence;
                PackageState::Claimed { claim }
            }
            PackageEvent::Consumed { receipt } => {
                self.receipts += 1;
                if self.label.single_use {
                    PackageState::Consumed { at, receipt }
                } else {
                    PackageState::Created
                }
            }
            PackageEvent::Transferred { to } => PackageState::Transferred { at, to },
            PackageEvent::Cancelled { reason } => PackageState::Cancelled { at, reason },
            PackageEvent::Expired => PackageState::Expired { at },
            // A second beginning cannot be: replay takes the first, and nobody writes another.
            PackageEvent::Created { .. }
            | PackageEvent::Released { .. }
            | PackageEvent::ClaimExpired { .. } => PackageState::Created,
        };
    }

    /// The task that it belongs to here: the one that it was received for, else the one that it comes from, which may be in
    /// another store.
    pub const fn task(&self) -> Option<TaskId> {
        match &self.state {
            PackageState::Consumed { receipt, .. } => match receipt.into {
                ContextScope::Task(task) => Some(task),
                ContextScope::Project(_) | ContextScope::Session(_) | ContextScope::Run(_) => {
                    self.label.task
                }
            },
            PackageState::Created
            | PackageState::Claimed { .. }
            | PackageState::Transferred { .. }
            | PackageState::Cancelled { .. }
            | PackageState::Expired { .. } => self.label.task,
        }
    }

    /// Since when nobody can receive it, as far as is known. One that nobody wanted is over when its time is.
    pub const fn over_since(&self) -> Option<Timestamp> {
        match &self.state {
            PackageState::Consumed { at, .. }
            | PackageState::Transferred { at, .. }
            | PackageState::Cancelled { at, .. }
            | PackageState::Expired { at } => Some(*at),
            PackageState::Created | PackageState::Claimed { .. } => self.label.expires_at,
        }
    }

    /// The machine that claims it now, if it said which it is.
    pub const fn claimant(&self) -> Option<&KeyId> {
        match &self.state {
            PackageState::Claimed { claim } => claim.machine.as_ref(),
            PackageState::Created
            | PackageState::Consumed { .. }
            | PackageState::Transferred { .. }
            | PackageState::Cancelled { .. }
            | PackageState::Expired { .. } => None,
        }
    }

    /// How it was received, if this machine did that and it is not to be received again.
    pub fn receipt_of(&self, machine: &KeyId) -> Option<&Receipt> {
        match &self.state {
            PackageState::Consumed { receipt, .. } => {
                (receipt.machine.as_ref() == Some(machine)).then_some(receipt)
            }
            PackageState::Created
            | PackageState::Claimed { .. }
            | PackageState::Transferred { .. }
            | PackageState::Cancelled { .. }
            | PackageState::Expired { .. } => None,
        }
    }

    /// What is to be recorded if its time was over at a time that the store has seen, even if somebody is receiving it.
    pub fn expired_by(&self, mark: Timestamp) -> Option<PackageEvent> {
        let is_open = matches!(
            self.state,
            PackageState::Created | PackageState::Claimed { .. }
        );
        (is_open && self.label.is_expired(mark)).then_some(PackageEvent::Expired)
    }

    /// Where it is at a time; `wall` is never less than the latest time that the store has seen.
    pub fn standing(&self, wall: Timestamp, now: &Moment) -> PackageStanding {
        match &self.state {
            PackageState::Consumed { .. } => PackageStanding::Consumed,
            PackageState::Transferred { .. } => PackageStanding::Transferred,
            PackageState::Cancelled { .. } => PackageStanding::Cancelled,
            PackageState::Expired { .. } => PackageStanding::Expired,
            PackageState::Claimed { claim } if claim.term.runs_at(now) => PackageStanding::Claimed,
            PackageState::Created | PackageState::Claimed { .. } => {
                if self.label.is_expired(wall) {
                    PackageStanding::Expired
                } else {
                    PackageStanding::Created
                }
            }
        }
    }
}
