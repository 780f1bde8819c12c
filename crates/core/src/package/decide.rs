//! What a command means for a package: the events that follow from it, or why nothing does.

use std::cmp::Ordering;
use std::time::Duration;

use jiff::SignedDuration;
use serde::Serialize;

use super::event::{Claim, PackageEvent, Receipt};
use super::label::{KeyId, Recipient};
use super::record::{PackageRecord, PackageState};
use crate::caller::{Action, Forbidden};
use crate::lease::{Term, Ttl};
use crate::text::Reason;
use crate::{Caller, Fence, Now, Timestamp};

/// How far the clocks of two machines may differ before a package counts as one from the future.
pub const SKEW: Duration = Duration::from_secs(300);

/// What can be asked of a package that exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PackageCommand {
    /// Give me the right to receive it.
    Claim {
        /// For how long.
        ttl: Ttl,
        /// The machine that asks. Whoever names one is the only one there who does something with this package, so that
        /// an earlier claim of the same machine is one of the dead.
        #[serde(skip_serializing_if = "Option::is_none")]
        machine: Option<KeyId>,
    },
    /// Take the right back.
    Release {
        /// Which; none is whatever claim there is, which only a person may say.
        fence: Option<Fence>,
        /// Why, if they say.
        reason: Option<Reason>,
    },
    /// What was received came to nothing: whoever it was for has never heard of it.
    Return {
        /// By which right it was received.
        fence: Fence,
        /// The machine that received it, and the only one that can know.
        machine: KeyId,
    },
    /// It was given to another store.
    Transfer {
        /// To whom.
        to: Recipient,
        /// By which right, if it was claimed for that.
        fence: Option<Fence>,
    },
    /// Delete it.
    Cancel {
        /// Why, if they say.
        reason: Option<Reason>,
    },
}

/// Why a claim does not count: it is an old one, it is over, or there never was one with its number.
fn lost_in_words(shown: Fence, newest: Fence) -> String {
    match shown.cmp(&newest) {
        Ordering::Less => {
            format!("claim {shown} is no longer valid, its newest has number {newest}")
        }
        Ordering::Equal => {
            format!("claim {shown} is no longer valid: it was given back or has run out")
        }
        Ordering::Greater => format!("no claim of it has number {shown}"),
    }
}

/// Why a package is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackageRefusal {
    /// The caller table says no.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// Somebody is receiving it.
    #[error("{by} has claimed it")]
    Claimed {
        /// Who.
        by: Caller,
    },
    /// It was received.
    #[error("{by} received it at {at}, and it can be received only once")]
    Consumed {
        /// Who.
        by: Caller,
        /// When.
        at: Timestamp,
    },
    /// Another store decides about it.
    #[error("it was transferred to {to}")]
    Transferred {
        /// Who has it.
        to: Recipient,
    },
    /// It was deleted.
    #[error("it was deleted at {at}")]
    Cancelled {
        /// When.
        at: Timestamp,
    },
    /// Its time is over.
    #[error("it expired{}", .at.map(|at| format!(" at {at}")).unwrap_or_default())]
    Expired {
        /// When.
        at: Option<Timestamp>,
    },
    /// Its time has not come.
    #[error("it was made at {at}, which is in the future; one of the two clocks is wrong")]
    FromTheFuture {
        /// When it says it was made.
        at: Timestamp,
    },
    /// The right that was shown is gone.
    #[error("{}", lost_in_words(*shown, *newest))]
    ClaimLost {
        /// What was shown.
        shown: Fence,
        /// The newest one.
        newest: Fence,
    },
    /// There is nothing to give back.
    #[error("nobody has claimed it")]
    NotClaimed,
    /// What it was to pause was handed out again.
    #[error("what it was to pause was handed out again meanwhile")]
    NotPaused,
}

type Decision = Result<Vec<PackageEvent>, PackageRefusal>;

impl PackageRecord {
    /// Decides a command. `wall` is never less than the latest time that the store has seen.
    pub fn decide(
        &self,
        command: &PackageCommand,
        by: &Caller,
        wall: Timestamp,
        now: &Now,
    ) -> Decision {
        match command {
            PackageCommand::Claim { ttl, machine } => {
                self.claim(*ttl, machine.as_ref(), by, wall, now)
            }
            PackageCommand::Return { fence, machine } => self.give_back(*fence, machine, by),
            PackageCommand::Release { fence, reason } => {
                self.release(*fence, reason.as_ref(), by, now)
            }
            PackageCommand::Transfer { to, fence } => {
                self.held_by(*fence, wall, now)?;
                Ok(vec![PackageEvent::Transferred { to: to.clone() }])
            }
            PackageCommand::Cancel { reason } => self.cancel(reason.as_ref(), by, now),
        }
    }

    /// What follows from its being received by whoever shows this right.
    pub fn consume(&self, fence: Fence, receipt: Receipt, wall: Timestamp, now: &Now) -> Decision {
        self.held_by(Some(fence), wall, now)?;
        Ok(vec![PackageEvent::Consumed { receipt }])
    }

    /// What is to be recorded before a claim is refused because its time is over; nothing if that is no reason.
    pub fn expiry(&self, wall: Timestamp, now: &Now) -> Option<PackageEvent> {
        let is_open = match &self.state {
            PackageState::Created => true,
            PackageState::Claimed { claim } => !claim.term.runs_at(&now.moment),
            PackageState::Consumed { .. }
            | PackageState::Transferred { .. }
            | PackageState::Cancelled { .. }
            | PackageState::Expired { .. } => false,
        };
        (is_open && self.label.is_expired(wall)).then_some(PackageEvent::Expired)
    }

    fn claim(
        &self,
        ttl: Ttl,
        machine: Option<&KeyId>,
        by: &Caller,
        wall: Timestamp,
        now: &Now,
    ) -> Decision {
        by.may(Action::Receive)?;
        let mut events = match self.left_by_the_dead(machine) {
            Some(event) => {
                self.in_time(wall)?;
                vec![event]
            }
            None => self.free(wall, now)?,
        };
        let claim = Claim {
            fence: self.fence.next(),
            by: by.clone(),
            term: Term::starting(&now.moment, ttl.span()),
            machine: machine.cloned(),
        };
        events.push(PackageEvent::Claimed { claim });
        Ok(events)
    }

    /// The end of a claim whose claimant cannot live any more.
    fn left_by_the_dead(&self, machine: Option<&KeyId>) -> Option<PackageEvent> {
        let asked = machine?;
        let PackageState::Claimed { claim } = &self.state else {
            return None;
        };
        let is_theirs = claim.machine.as_ref() == Some(asked);
        is_theirs.then(|| PackageEvent::Released {
            fence: claim.fence,
            reason: "whoever claimed it is dead".parse().ok(),
        })
    }

    fn give_back(&self, fence: Fence, machine: &KeyId, by: &Caller) -> Decision {
        by.may(Action::Receive)?;
        match &self.state {
            PackageState::Consumed { receipt, .. }
                if self.fence == fence && receipt.machine.as_ref() == Some(machine) =>
            {
                let reason = "it came to nothing".parse().ok();
                Ok(vec![PackageEvent::Released { fence, reason }])
            }
            PackageState::Created
            | PackageState::Claimed { .. }
            | PackageState::Consumed { .. }
            | PackageState::Transferred { .. }
            | PackageState::Cancelled { .. }
            | PackageState::Expired { .. } => Err(self.ended()),
        }
    }

    /// Whether it can be had; with the end of a claim that ran out.
    fn free(&self, wall: Timestamp, now: &Now) -> Decision {
        let events = match &self.state {
            PackageState::Created => vec![],
            PackageState::Claimed { claim } if claim.term.runs_at(&now.moment) => {
                let by = claim.by.clone();
                return Err(PackageRefusal::Claimed { by });
            }
            PackageState::Claimed { claim } => {
                let fence = claim.fence;
                vec![PackageEvent::ClaimExpired { fence }]
            }
            PackageState::Consumed { .. }
            | PackageState::Transferred { .. }
            | PackageState::Cancelled { .. }
            | PackageState::Expired { .. } => return Err(self.ended()),
        };
        self.in_time(wall)?;
        Ok(events)
    }

    fn in_time(&self, wall: Timestamp) -> Result<(), PackageRefusal> {
        if self.label.is_expired(wall) {
            let at = self.label.expires_at;
            return Err(PackageRefusal::Expired { at });
        }
        let at = self.label.created_at;
        let skew = SignedDuration::try_from(SKEW).unwrap_or(SignedDuration::ZERO);
        if at.duration_since(wall) > skew {
            return Err(PackageRefusal::FromTheFuture { at });
        }
        Ok(())
    }

    /// Why nothing can be done with it any more.
    fn ended(&self) -> PackageRefusal {
        match &self.state {
            PackageState::Consumed { at, receipt } => PackageRefusal::Consumed {
                by: receipt.by.clone(),
                at: *at,
            },
            PackageState::Transferred { to, .. } => PackageRefusal::Transferred { to: to.clone() },
            PackageState::Cancelled { at, .. } => PackageRefusal::Cancelled { at: *at },
            PackageState::Expired { .. } => PackageRefusal::Expired {
                at: self.label.expires_at,
            },
            PackageState::Created | PackageState::Claimed { .. } => PackageRefusal::NotClaimed,
        }
    }

    /// Whoever shows the right still has it; without one, nobody else may have any.
    fn held_by(
        &self,
        fence: Option<Fence>,
        wall: Timestamp,
        now: &Now,
    ) -> Result<(), PackageRefusal> {
        let Some(shown) = fence else {
            return self.free(wall, now).map(drop);
        };
        match &self.state {
            PackageState::Claimed { claim }
                if claim.fence == shown && claim.term.runs_at(&now.moment) =>
            {
                self.in_time(wall)
            }
            PackageState::Created | PackageState::Claimed { .. } => {
                let newest = self.fence;
                Err(PackageRefusal::ClaimLost { shown, newest })
            }
            PackageState::Consumed { .. }
            | PackageState::Transferred { .. }
            | PackageState::Cancelled { .. }
            | PackageState::Expired { .. } => Err(self.ended()),
        }
    }

    fn release(
        &self,
        fence: Option<Fence>,
        reason: Option<&Reason>,
        by: &Caller,
        now: &Now,
    ) -> Decision {
        let PackageState::Claimed { claim } = &self.state else {
            return Err(self.ended());
        };
        let is_own = claim.by == *by || fence == Some(claim.fence);
        if !is_own && claim.term.runs_at(&now.moment) {
            by.may(Action::Steer)?;
        }
        match fence {
            Some(shown) if shown != claim.fence => {
                let newest = self.fence;
                Err(PackageRefusal::ClaimLost { shown, newest })
            }
            Some(_) | None => Ok(vec![PackageEvent::Released {
                fence: claim.fence,
                reason: reason.cloned(),
            }]),
        }
    }

    fn cancel(&self, reason: Option<&Reason>, by: &Caller, now: &Now) -> Decision {
        by.may(Action::Steer)?;
        match &self.state {
            PackageState::Claimed { claim } if claim.term.runs_at(&now.moment) => {
                let by = claim.by.clone();
                Err(PackageRefusal::Claimed { by })
            }
            PackageState::Cancelled { .. } => Ok(vec![]),
            PackageState::Created
            | PackageState::Claimed { .. }
            | PackageState::Consumed { .. }
            | PackageState::Transferred { .. }
            | PackageState::Expired { .. } => Ok(vec![PackageEvent::Cancelled {
                reason: reason.cloned(),
            }]),
        }
    }
}
