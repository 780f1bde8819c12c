//! Holds: they stop the queue from handing out work. What already runs goes on.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::task::Reason;
use crate::{BatchId, Caller, PackageId, ProjectId, Task, Timestamp};

/// What a hold above a single task covers. (The hold of one task is part of that task.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", content = "id", rename_all = "snake_case")]
pub enum HoldScope {
    /// The whole store.
    Everything,
    /// One project.
    Project(ProjectId),
    /// One batch.
    Batch(BatchId),
}

impl fmt::Display for HoldScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => f.write_str("everything"),
            Self::Project(id) => fmt::Display::fmt(id, f),
            Self::Batch(id) => fmt::Display::fmt(id, f),
        }
    }
}

impl HoldScope {
    /// For a sentence that someone reads who stands in the scope.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Project(_) => "this project",
            Self::Batch(_) => "this batch",
        }
    }

    /// The scopes that lie over all tasks of this project.
    pub const fn over(project: ProjectId) -> [Self; 2] {
        [Self::Everything, Self::Project(project)]
    }

    /// The scopes that lie over this task: those of its project, and its batch.
    pub fn over_task(task: &Task) -> Vec<Self> {
        let batch = task
            .spec
            .part
            .and_then(|part| part.batch().map(Self::Batch));
        Self::over(task.project).into_iter().chain(batch).collect()
    }
}

/// A text that names no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not `everything`, a project or a batch")]
pub struct ScopeError;

impl FromStr for HoldScope {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, ScopeError> {
        if text == "everything" {
            return Ok(Self::Everything);
        }
        let project = text.parse().map(Self::Project).ok();
        project
            .or_else(|| text.parse().map(Self::Batch).ok())
            .ok_or(ScopeError)
    }
}

/// Who put a hold on, when, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Why, if they said.
    pub reason: Option<Reason>,
    /// Who.
    pub by: Caller,
    /// When.
    pub since: Timestamp,
    /// The package of the pause that put it on. Without one somebody wants it for its own sake, and no pause that comes to
    /// nothing takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<PackageId>,
    /// The package of the pause that this one is a part of: that of the batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<PackageId>,
}

impl Hold {
    /// How long a pause takes to be made, at most: as long as a claim lasts on another machine. One that has no package by then
    /// is undone by whoever sees it, and its maker, should it live, finds that it cannot be sealed any more.
    pub const PAUSE_TAKES: Duration = Duration::from_secs(3600);

    /// The packages without which it is none of a pause, if that should be made by now; nothing to ask otherwise.
    pub fn due(&self, now: Timestamp) -> Vec<PackageId> {
        let limit = SignedDuration::try_from(Self::PAUSE_TAKES).unwrap_or(SignedDuration::MAX);
        let is_due = now.duration_since(self.since) >= limit;
        let packages = self.pause.into_iter().chain(self.whole);
        packages.filter(|_| is_due).collect()
    }

    /// Whether it still keeps something for the pause that this package makes. One of a person does too.
    pub fn keeps_for(&self, package: PackageId) -> bool {
        self.pause.is_none_or(|pause| pause == package)
    }
}

/// What somebody wants of a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HoldWish<'a> {
    /// Put it on.
    Hold(Option<&'a Reason>),
    /// Put it on for the pause that this package makes, or take over that of an earlier pause; not that of a person.
    Pause {
        /// The package.
        package: PackageId,
        /// That of the batch, if it is a part of one that is paused.
        whole: Option<PackageId>,
    },
    /// Take it away, whoever put it on.
    Unhold,
    /// Take it away if this pause put it on.
    Unpause(PackageId),
}

impl HoldWish<'_> {
    /// Put it on for a pause that is part of no other.
    pub const fn paused(package: PackageId) -> Self {
        let whole = None;
        Self::Pause { package, whole }
    }

    /// What happens to the hold that is in force; nothing if what is wanted is already so.
    pub fn decide(&self, held: Option<&Hold>, by: &Caller, since: Timestamp) -> Option<HoldEvent> {
        let hold = |reason: Option<Reason>, pause, whole| HoldEvent::Held {
            hold: Hold {
                reason,
                by: by.clone(),
                since,
                pause,
                whole,
            },
        };
        let pause = held.and_then(|it| it.pause);
        match self {
            // A hold of a person takes the place of one that would go with its pause.
            Self::Hold(reason) if held.is_none() || pause.is_some() => {
                Some(hold(reason.cloned(), None, None))
            }
            // What is paused again is kept for the pause that is made now: the earlier one's package is withdrawn for it.
            Self::Pause { package, whole }
                if held.is_none() || pause.is_some_and(|it| it != *package) =>
            {
                Some(hold("paused".parse().ok(), Some(*package), *whole))
            }
            Self::Unhold => held.map(|_| HoldEvent::Unheld),
            Self::Unpause(package) => (pause == Some(*package)).then_some(HoldEvent::Unheld),
            Self::Hold(_) | Self::Pause { .. } => None,
        }
    }
}

/// What happened to a hold above a single task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum HoldEvent {
    /// Work of this scope is no longer handed out.
    Held {
        /// The hold.
        hold: Hold,
    },
    /// Work of this scope is handed out again.
    Unheld,
}

impl HoldEvent {
    /// The hold that is in force after this event.
    pub fn in_force(self) -> Option<Hold> {
        match self {
            Self::Held { hold } => Some(hold),
            Self::Unheld => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(number: u128) -> PackageId {
        PackageId::from_uuid(uuid::Uuid::from_u128(number))
    }

    /// What is in force after these wishes: nothing, the hold of a pause, or somebody's own.
    fn after(wishes: &[HoldWish<'_>]) -> Option<Option<PackageId>> {
        let mut held = None;
        for wish in wishes {
            let event = wish.decide(held.as_ref(), &Caller::Person, Timestamp::UNIX_EPOCH);
            held = event.map_or(held, HoldEvent::in_force);
        }
        held.map(|hold| hold.pause)
    }

    #[test]
    fn a_pause_takes_away_only_what_it_put_on() {
        use HoldWish::{Hold, Unhold, Unpause};
        let (ours, other) = (pause(1), pause(2));
        let own = Some(None);
        for (wishes, expected) in [
            (&[HoldWish::paused(ours), Unpause(ours)][..], None),
            (&[HoldWish::paused(ours), Unpause(other)], Some(Some(ours))),
            (
                &[HoldWish::paused(ours), HoldWish::paused(other)],
                Some(Some(other)),
            ),
            (
                &[
                    HoldWish::paused(ours),
                    HoldWish::paused(other),
                    Unpause(ours),
                ],
                Some(Some(other)),
            ),
            // A person was there before, came while it was made, or came again after it was taken up.
            (&[Hold(None), HoldWish::paused(ours), Unpause(ours)], own),
            (&[HoldWish::paused(ours), Hold(None), Unpause(ours)], own),
            (
                &[HoldWish::paused(ours), Unhold, Hold(None), Unpause(ours)],
                own,
            ),
            (&[Hold(None), HoldWish::paused(ours), Unhold], None),
        ] {
            assert_eq!(after(wishes), expected, "{wishes:?}");
        }
    }

    #[test]
    fn a_pause_is_due_after_its_time_with_all_its_packages() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let (part, whole) = (pause(1), Some(pause(2)));
        let wish = HoldWish::Pause {
            package: part,
            whole,
        };
        let held = wish.decide(None, &Caller::Person, at(0));
        let held = held.and_then(HoldEvent::in_force).unwrap();
        assert_eq!(held.due(at(3599)), []);
        assert_eq!(held.due(at(3600)), [part, pause(2)]);
        let own = HoldWish::Hold(None).decide(None, &Caller::Person, at(0));
        let own = own.and_then(HoldEvent::in_force).unwrap();
        assert_eq!(own.due(at(9999)), []);
        assert!(held.keeps_for(part) && !held.keeps_for(pause(2)) && own.keeps_for(part));
    }
}
