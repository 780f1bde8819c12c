//! How far the code has moved since something was written about it.

use serde::Serialize;

use super::{HeadName, TreeState};

/// How two commits lie to each other, as the history says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// How many commits each has that the other has not.
    Counted {
        /// Those that only the newer state has.
        gained: u32,
        /// Those that only the older state has.
        lost: u32,
    },
    /// The older commit is not in this repository.
    Missing,
}

/// What a state of the code says about a text that was written at an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Freshness {
    /// How the commits have moved.
    pub drift: Drift,
    /// The branch that it was written on, if another one is checked out now.
    pub written_on: Option<HeadName>,
    /// Whether what is not committed is another than it was.
    pub has_new_edits: bool,
}

/// How the commits have moved since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Drift {
    /// Not at all.
    None,
    /// Commits were added.
    Ahead {
        /// How many.
        by: u32,
    },
    /// The tree went back to an earlier commit.
    Behind {
        /// How many commits are missing.
        by: u32,
    },
    /// Commits were added and others are missing.
    Diverged {
        /// Added.
        gained: u32,
        /// Missing.
        lost: u32,
    },
    /// It cannot be said.
    Unknown {
        /// Why not.
        why: Ignorance,
    },
}

/// Why nothing can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ignorance {
    /// There is no git here.
    NoGit,
    /// No state of the code was recorded with the text.
    NotRecorded,
    /// What was recorded cannot be read.
    LedgerUnreadable,
    /// The history could not be compared.
    NotCompared,
    /// The commit it was written at is not in this repository.
    CommitMissing,
    /// One of the two states is before the first commit.
    NoCommit,
}

impl Freshness {
    /// When nothing can be said.
    pub const fn unknown(why: Ignorance) -> Self {
        Self {
            drift: Drift::Unknown { why },
            written_on: None,
            has_new_edits: false,
        }
    }

    /// Compares the state at which something was written with the one now. `relate` is asked only where the commits
    /// differ.
    pub fn of<E>(
        written: &TreeState,
        now: &TreeState,
        relate: impl FnOnce() -> Result<Relation, E>,
    ) -> Result<Self, E> {
        let drift = match (&written.commit, &now.commit) {
            (None, None) => Drift::None,
            (Some(then), Some(now)) if then == now => Drift::None,
            (Some(_), Some(_)) => Drift::from(relate()?),
            (None, Some(_)) | (Some(_), None) => Drift::Unknown {
                why: Ignorance::NoCommit,
            },
        };
        let moved = written.branch != now.branch;
        Ok(Self {
            drift,
            written_on: written.branch.clone().filter(|_| moved),
            has_new_edits: written.dirty != now.dirty || !now.is_read(),
        })
    }

    /// Whether commits were added.
    pub const fn has_new_commits(&self) -> bool {
        matches!(self.drift, Drift::Ahead { .. } | Drift::Diverged { .. })
    }

    /// Whether the code is just as it was when the text was written.
    pub fn is_current(&self) -> bool {
        self.drift == Drift::None && self.written_on.is_none() && !self.has_new_edits
    }
}

impl From<Relation> for Drift {
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::Counted { gained: 0, lost: 0 } => Self::None,
            Relation::Counted { gained, lost: 0 } => Self::Ahead { by: gained },
            Relation::Counted { gained: 0, lost } => Self::Behind { by: lost },
            Relation::Counted { gained, lost } => Self::Diverged { gained, lost },
            Relation::Missing => Self::Unknown {
                why: Ignorance::CommitMissing,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::tree::Dirty;

    fn state(branch: &str, commit: char, dirty: Option<u8>) -> TreeState {
        TreeState {
            branch: Some(branch.parse().unwrap()),
            commit: Some(commit.to_string().repeat(40).parse().unwrap()),
            dirty: dirty.map(|byte| Dirty {
                digest: Some(crate::Digest::from_bytes([byte; 32])),
                files: 1,
            }),
        }
    }

    fn compare(written: &TreeState, now: &TreeState, relation: Relation) -> Freshness {
        Freshness::of(written, now, || Ok::<_, Infallible>(relation)).unwrap()
    }

    #[test]
    fn the_same_commit_branch_and_edits_are_current() {
        let state = state("main", 'a', Some(1));
        let history = || -> Result<Relation, Infallible> { panic!("nothing to ask history for") };
        assert!(Freshness::of(&state, &state, history).unwrap().is_current());
    }

    #[test]
    fn commits_that_were_added_or_lost_are_counted() {
        let table = [
            (3, 0, Drift::Ahead { by: 3 }),
            (0, 2, Drift::Behind { by: 2 }),
            (3, 2, Drift::Diverged { gained: 3, lost: 2 }),
        ];
        for (gained, lost, drift) in table {
            let relation = Relation::Counted { gained, lost };
            let found = compare(
                &state("main", 'a', None),
                &state("main", 'b', None),
                relation,
            );
            assert_eq!(found.drift, drift);
            assert!(!found.is_current());
        }
    }

    #[test]
    fn a_commit_that_is_gone_is_said_to_be() {
        let found = compare(
            &state("main", 'a', None),
            &state("main", 'b', None),
            Relation::Missing,
        );
        let why = Ignorance::CommitMissing;
        assert_eq!(found.drift, Drift::Unknown { why });
    }

    #[test]
    fn other_edits_and_another_branch_are_noticed_at_the_same_commit() {
        let same = Relation::Counted { gained: 0, lost: 0 };
        let edited = compare(
            &state("main", 'a', None),
            &state("main", 'a', Some(1)),
            same,
        );
        assert!(edited.has_new_edits && !edited.is_current());
        let moved = compare(&state("main", 'a', None), &state("other", 'a', None), same);
        assert_eq!(moved.written_on.unwrap().as_str(), "main");
    }

    #[test]
    fn edits_that_were_not_read_count_as_new() {
        let mut large = state("main", 'a', Some(1));
        large.dirty = Some(Dirty {
            digest: None,
            files: 9,
        });
        let same = Relation::Counted { gained: 0, lost: 0 };
        assert!(compare(&large, &large, same).has_new_edits);
    }
}
