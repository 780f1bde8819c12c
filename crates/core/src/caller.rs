//! Who asks, and what they may ask for: one table for every entry.
//!
//! The table restricts sessions. A person at the terminal may do everything; a session may do what its
//! role needs for its own task. The identity itself is established by the shell.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::relation::Relation;
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
    /// A process whose origin could not be established. It is never taken for a person.
    Unknown,
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
    /// Destroy something for good, or take away what protects people from sessions.
    Destroy,
    /// Copy everything that the ledger and the state directory have.
    BackUp,
    /// Replace the program itself by its newest release.
    Upgrade,
    /// Start sessions.
    Start,
    /// Interrupt, signal, force or stop a session, or change its terminal.
    Supervise(Relation),
    /// Answer a dialog of a session, or type at its terminal, which can do the same.
    Answer {
        /// What the session that is asked is to the caller.
        relation: Relation,
        /// Whether the person lets sessions answer for those they started.
        is_granted: bool,
    },
    /// Speak for a session to its own holder: replies, reports of hooks, its last word, its commands.
    Speak(Relation),
    /// Start, stop or install workers.
    ManageWorkers,
    /// Let the sessions of a task work in no sandbox.
    LeaveSandbox,
    /// Bring finished work onto a branch of the person.
    Land,
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
    /// | action | person | worker, reconciler | main, fan-in session | sub-task session | check, unknown |
    /// |---|---|---|---|---|---|
    /// | read | yes | yes | yes | yes | yes |
    /// | tell | yes | yes | yes | yes | no |
    /// | add | yes | yes | yes | no | no |
    /// | claim | yes | yes | no | no | no |
    /// | report | yes | yes | its own task | its own task | no |
    /// | share | yes | yes | not into another's task | only into its own task | no |
    /// | complete, prove | yes | yes | no | no | no |
    /// | steer, hold, land, manage workers | yes | yes | no | no | no |
    /// | document, start, receive, commit to a shared branch | yes | yes | yes | no | no |
    /// | supervise | yes | yes | those that it started | no | no |
    /// | answer | yes | yes | those that it started, if granted | no | no |
    /// | speak | yes | yes | for itself | for itself | no |
    /// | trust, approve, destroy, back up, upgrade, leave the sandbox | yes | no | no | no | no |
    ///
    /// A session never completes its task, nor says that a commit is good: the tool does, when it has seen the proof.
    pub fn may(&self, action: Action) -> Result<(), Forbidden> {
        let allowed = match (self, action) {
            (
                Self::Worker | Self::Reconciler,
                Action::Trust
                | Action::Approve
                | Action::Destroy
                | Action::BackUp
                | Action::Upgrade
                | Action::LeaveSandbox,
            ) => false,
            (Self::Person | Self::Worker | Self::Reconciler, _) => true,
            (Self::Check | Self::Unknown, action) => action == Action::Read,
            (Self::Session { .. }, Action::Read | Action::Tell) => true,
            (
                Self::Session { role, .. },
                Action::Add
                | Action::Document
                | Action::Start
                | Action::CommitShared
                | Action::Receive,
            ) => *role != Role::SubTask,
            (Self::Session { role, task, .. }, Action::Share(other)) => {
                let is_own = other.is_some() && *task == other;
                is_own || (other.is_none() && *role != Role::SubTask)
            }
            (Self::Session { task, .. }, Action::Report(other)) => *task == Some(other),
            (Self::Session { role, .. }, Action::Supervise(relation)) => {
                *role != Role::SubTask && relation == Relation::Started
            }
            (
                Self::Session { role, .. },
                Action::Answer {
                    relation,
                    is_granted,
                },
            ) => *role != Role::SubTask && relation == Relation::Started && is_granted,
            (Self::Session { .. }, Action::Speak(relation)) => relation == Relation::Itself,
            (
                Self::Session { .. },
                Action::Claim
                | Action::Complete
                | Action::Prove
                | Action::Steer
                | Action::Hold
                | Action::LeaveSandbox
                | Action::Land
                | Action::ManageWorkers
                | Action::Trust
                | Action::Approve
                | Action::Destroy
                | Action::BackUp
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
            Self::Unknown => f.write_str("a process whose origin cannot be established"),
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
            Self::Start => f.write_str("start sessions"),
            Self::Supervise(relation) => {
                write!(f, "interrupt, signal, force or stop {}", relation.whom())
            }
            Self::Answer { relation, .. } => {
                write!(f, "answer the dialogs of {}", relation.whom())?;
                match relation {
                    Relation::Started => f.write_str("; a person can grant that in the settings"),
                    Relation::Itself | Relation::Above | Relation::Beside => {
                        f.write_str("; a person does")
                    }
                }
            }
            Self::Speak(relation) => write!(f, "speak for {}", relation.whom()),
            Self::ManageWorkers => f.write_str("start, stop or install workers"),
            Self::Destroy => {
                f.write_str("destroy anything, or remove hooks and guards; a person decides that")
            }
            Self::BackUp => {
                f.write_str("copy what all projects and sessions have; a person decides that")
            }
            Self::LeaveSandbox => {
                f.write_str("let a task work in no sandbox; a person decides that")
            }
            Self::Land => f.write_str("land work on a branch; a person does"),
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

    const RELATIONS: [Relation; 4] = [
        Relation::Itself,
        Relation::Started,
        Relation::Above,
        Relation::Beside,
    ];

    /// Everything that can be asked for which concerns no other session.
    fn plain_actions(own: TaskId, foreign: TaskId) -> [Action; 25] {
        [
            Action::Read,
            Action::Add,
            Action::Claim,
            Action::Report(own),
            Action::Report(foreign),
            Action::Complete,
            Action::Steer,
            Action::Hold,
            Action::Document,
            Action::Start,
            Action::CommitShared,
            Action::Trust,
            Action::Approve,
            Action::Upgrade,
            Action::Destroy,
            Action::BackUp,
            Action::LeaveSandbox,
            Action::Share(None),
            Action::Share(Some(own)),
            Action::Share(Some(foreign)),
            Action::Receive,
            Action::Prove,
            Action::Land,
            Action::ManageWorkers,
            Action::Tell,
        ]
    }

    #[test]
    fn the_table_is_what_its_comment_says() {
        let own = TaskId::from_uuid(Uuid::from_u128(1));
        let foreign = TaskId::from_uuid(Uuid::from_u128(2));
        let actions = plain_actions(own, foreign);
        let row = |caller: &Caller| actions.map(|action| caller.may(action).is_ok());
        assert_eq!(row(&Caller::Person), [true; 25]);
        for caller in [Caller::Worker, Caller::Reconciler] {
            let mut expected = [true; 25];
            expected[11..17].fill(false);
            assert_eq!(row(&caller), expected, "{caller}");
        }
        let mut only_read = [false; 25];
        only_read[0] = true;
        assert_eq!(row(&Caller::Check), only_read);
        assert_eq!(row(&Caller::Unknown), only_read);
        for role in [Role::Main, Role::FanIn] {
            assert_eq!(
                row(&session(role, own)),
                [
                    true, true, false, true, false, false, false, false, true, true, true, false,
                    false, false, false, false, false, true, true, false, true, false, false,
                    false, true
                ]
            );
        }
        assert_eq!(
            row(&session(Role::SubTask, own)),
            [
                true, false, false, true, false, false, false, false, false, false, false, false,
                false, false, false, false, false, false, true, false, false, false, false, false,
                true
            ]
        );
    }

    /// Itself, one that it started, one above it, one beside it.
    #[test]
    fn a_session_supervises_only_those_that_it_started() {
        let own = TaskId::from_uuid(Uuid::from_u128(1));
        let table = [
            (Caller::Person, [true; 4], [true; 4], [true; 4], [true; 4]),
            (Caller::Worker, [true; 4], [true; 4], [true; 4], [true; 4]),
            (
                session(Role::Main, own),
                [false, true, false, false],
                [false; 4],
                [false, true, false, false],
                [true, false, false, false],
            ),
            (
                session(Role::FanIn, own),
                [false, true, false, false],
                [false; 4],
                [false, true, false, false],
                [true, false, false, false],
            ),
            (
                session(Role::SubTask, own),
                [false; 4],
                [false; 4],
                [false; 4],
                [true, false, false, false],
            ),
            (
                Caller::Check,
                [false; 4],
                [false; 4],
                [false; 4],
                [false; 4],
            ),
            (
                Caller::Unknown,
                [false; 4],
                [false; 4],
                [false; 4],
                [false; 4],
            ),
        ];
        for (caller, supervise, answer, granted, speak) in table {
            let may = |action: fn(Relation) -> Action| {
                RELATIONS.map(|relation| caller.may(action(relation)).is_ok())
            };
            assert_eq!(may(Action::Supervise), supervise, "{caller}");
            let answers = |relation| Action::Answer {
                relation,
                is_granted: false,
            };
            assert_eq!(may(answers), answer, "{caller}");
            let answers = |relation| Action::Answer {
                relation,
                is_granted: true,
            };
            assert_eq!(may(answers), granted, "{caller}");
            assert_eq!(may(Action::Speak), speak, "{caller}");
        }
    }
}
