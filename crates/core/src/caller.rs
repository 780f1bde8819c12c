//! Who asks, and what they may ask for: one table for every entry.
//!
//! The table restricts sessions. A person at the terminal may do everything; a session may do what its
//! role needs for its own task. The identity itself is established by the shell.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{SessionId, TaskId};

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Caller {
    /// A person, or a script that a person runs.
    Person,
    /// A worker process that takes tasks down the road.
    Worker,
    /// The tool itself, repairing what a crash left behind.
    Reconciler,
    /// What the tool runs to prove something: code that a session wrote runs there.
    Check,
    /// An agent session.
    Session {
        /// Which one.
        session: SessionId,
        /// What it is there for.
        role: Role,
        /// The task it works on, if any.
        task: Option<TaskId>,
    },
}

/// What a session is there for. The words are those of `HANDOFF_ROLE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// An ordinary session.
    Main,
    /// One of several that work side by side.
    SubTask,
    /// The one that brings their results together.
    FanIn,
}

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Look at anything.
    Read,
    /// Put a new task into the queue.
    Add,
    /// Take a task.
    Claim,
    /// Renew, fail, block or release a task, or record evidence for it.
    Report(TaskId),
    /// Say that a task is done.
    Complete,
    /// Say that a commit is good.
    Prove,
    /// End a task that someone else may be working on, or open an ended one again.
    Steer,
    /// Stop or continue the handing out of work.
    Hold,
    /// Keep the documents and the record of a feature.
    Document,
    /// Let commands of the repository run.
    Trust,
    /// Let a run through its gate, or not.
    Approve,
    /// Replace the program itself by its newest release.
    Upgrade,
    /// Start sessions, type into them and end them.
    Supervise,
    /// Send a message to a session, which waits for its turn and names the one who sent it.
    Tell,
    /// Commit to a branch that others build on.
    CommitShared,
    /// Write into the context of something: of this task, if it is a task's.
    Share(Option<TaskId>),
    /// Seal, claim and receive packages.
    Receive,
}

/// The table said no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{caller} may not {what}")]
pub struct Forbidden {
    caller: String,
    what: String,
}

/// A word that is no role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a role is `main`, `sub-task` or `fan-in`")]
pub struct RoleError;

impl Role {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::SubTask => "sub-task",
            Self::FanIn => "fan-in",
        }
    }
}

impl FromStr for Role {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        [Self::Main, Self::SubTask, Self::FanIn]
            .into_iter()
            .find(|role| role.word() == text)
            .ok_or(RoleError)
    }
}

impl Caller {
    /// Looks the action up in the table.
    ///
    /// | action | person | worker, reconciler | main, fan-in session | sub-task session | check |
    /// |---|---|---|---|---|---|
    /// | read | yes | yes | yes | yes | yes |
    /// | tell | yes | yes | yes | yes | no |
    /// | add | yes | yes | yes | no | no |
    /// | claim | yes | yes | no | no | no |
    /// | report | yes | yes | its own task | its own task | no |
    /// | share | yes | yes | not into another's task | only into its own task | no |
    /// | complete, prove | yes | yes | no | no | no |
    /// | steer, hold | yes | yes | no | no | no |
    /// | document, supervise, receive, commit to a shared branch | yes | yes | yes | no | no |
    /// | trust, approve, upgrade | yes | no | no | no | no |
    ///
    /// A session never completes its task, nor says that a commit is good: the tool does, when it has seen the proof.
    pub fn may(&self, action: Action) -> Result<(), Forbidden> {
        let allowed = match (self, action) {
            (
                Self::Worker | Self::Reconciler,
                Action::Trust | Action::Approve | Action::Upgrade,
            ) => false,
            (Self::Person | Self::Worker | Self::Reconciler, _) => true,
            (Self::Check, action) => action == Action::Read,
            (Self::Session { .. }, Action::Read | Action::Tell) => true,
            (
                Self::Session { role, .. },
                Action::Add
                | Action::Document
                | Action::Supervise
                | Action::CommitShared
                | Action::Receive,
            ) => *role != Role::SubTask,
            (Self::Session { role, task, .. }, Action::Share(other)) => {
                let is_own = other.is_some() && *task == other;
                is_own || (other.is_none() && *role != Role::SubTask)
            }
            (Self::Session { task, .. }, Action::Report(other)) => *task == Some(other),
            (
                Self::Session { .. },
                Action::Claim
                | Action::Complete
                | Action::Prove
                | Action::Steer
                | Action::Hold
                | Action::Trust
                | Action::Approve
                | Action::Upgrade,
            ) => false,
        };
        if allowed {
            Ok(())
        } else {
            Err(Forbidden {
                caller: self.to_string(),
                what: action.to_string(),
            })
        }
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person => f.write_str("person"),
            Self::Worker => f.write_str("worker"),
            Self::Reconciler => f.write_str("reconciler"),
            Self::Check => f.write_str("what is run as a check"),
            Self::Session { session, .. } => fmt::Display::fmt(session, f),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read => f.write_str("read"),
            Self::Add => f.write_str("add tasks"),
            Self::Claim => f.write_str("claim tasks"),
            Self::Report(task) => write!(f, "report on {task}"),
            Self::Complete => f.write_str("say that a task is done; it is done when it is proved"),
            Self::Prove => f.write_str("say that a commit is good; its check does, or a person"),
            Self::Steer => f.write_str("cancel, retry or override tasks"),
            Self::Hold => f.write_str("hold or unhold the queue"),
            Self::Document => f.write_str("keep the record of a feature"),
            Self::Upgrade => f.write_str("replace this program; a person decides that"),
            Self::Supervise => f.write_str("start, steer or end sessions"),
            Self::CommitShared => f.write_str("commit to a branch that others build on"),
            Self::Tell => f.write_str("send messages to sessions"),
            Self::Share(_) => f.write_str("write into this context"),
            Self::Receive => f.write_str("make or receive packages"),
            Self::Trust => f.write_str("let commands of the repository run; a person decides that"),
            Self::Approve => f.write_str("decide at the gate of a run; a person does"),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn session(role: Role, task: TaskId) -> Caller {
        Caller::Session {
            session: SessionId::from_uuid(Uuid::nil()),
            role,
            task: Some(task),
        }
    }

    #[test]
    fn the_table_is_what_its_comment_says() {
        let own = TaskId::from_uuid(Uuid::from_u128(1));
        let foreign = TaskId::from_uuid(Uuid::from_u128(2));
        let actions = [
            Action::Read,
            Action::Add,
            Action::Claim,
            Action::Report(own),
            Action::Report(foreign),
            Action::Complete,
            Action::Steer,
            Action::Hold,
            Action::Document,
            Action::Supervise,
            Action::CommitShared,
            Action::Trust,
            Action::Approve,
            Action::Upgrade,
            Action::Share(None),
            Action::Share(Some(own)),
            Action::Share(Some(foreign)),
            Action::Receive,
            Action::Prove,
        ];
        let row = |caller: &Caller| actions.map(|action| caller.may(action).is_ok());
        assert_eq!(row(&Caller::Person), [true; 19]);
        for caller in [Caller::Worker, Caller::Reconciler] {
            let mut expected = [true; 19];
            expected[11..14].fill(false);
            assert_eq!(row(&caller), expected, "{caller}");
        }
        let mut only_read = [false; 19];
        only_read[0] = true;
        assert_eq!(row(&Caller::Check), only_read);
        for role in [Role::Main, Role::FanIn] {
            assert_eq!(
                row(&session(role, own)),
                [
                    true, true, false, true, false, false, false, false, true, true, true, false,
                    false, false, true, true, false, true, false
                ]
            );
        }
        assert_eq!(
            row(&session(Role::SubTask, own)),
            [
                true, false, false, true, false, false, false, false, false, false, false, false,
                false, false, false, true, false, false, false
            ]
        );
    }
}
