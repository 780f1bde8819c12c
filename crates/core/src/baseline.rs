//! The last commit of a branch that was proved good, and where the next attempt begins because of it.
//!
//! The ledger has it; `refs/handoff/baseline/<branch>` is a view of that for git, which [`repairs`] keeps true.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::task::VerifyCommand;
use crate::tree::{HeadName, Relation};
use crate::{Caller, CommitId, TaskName, Timestamp};

/// A commit that was proved good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The branch, without `refs/heads/`.
    pub branch: HeadName,
    /// The commit.
    pub commit: CommitId,
    /// By which command; none if somebody just said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<VerifyCommand>,
    /// By whom.
    pub by: Caller,
    /// When.
    pub at: Timestamp,
}

impl Baseline {
    /// Whether both say the same of the same branch; who said it when is another matter.
    pub fn is_same_proof(&self, other: &Self) -> bool {
        self.branch == other.branch && self.commit == other.commit && self.command == other.command
    }
}

/// How HEAD lies to the baseline of its branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distance {
    /// HEAD is the commit that was proved.
    None,
    /// There are commits on top of it that nobody proved.
    Ahead {
        /// How many.
        commits: u32,
        /// A task that made one of them and is not done.
        unfinished: Option<TaskName>,
    },
    /// It is no part of the history of HEAD, or not in this clone.
    Elsewhere,
}

/// Where an attempt begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Where the person is.
    Head,
    /// At the commit that was proved.
    Baseline,
}

impl Distance {
    /// What the history says, and a task that left something unproved in it.
    pub fn of(relation: Relation, unfinished: Option<TaskName>) -> Self {
        match relation {
            Relation::Counted { gained: 0, lost: 0 } => Self::None,
            Relation::Counted {
                gained: commits,
                lost: 0,
            } => Self::Ahead {
                commits,
                unfinished,
            },
            Relation::Counted { .. } | Relation::Missing => Self::Elsewhere,
        }
    }

    /// Where the next attempt begins.
    ///
    /// | HEAD | start |
    /// |---|---|
    /// | is the baseline | there |
    /// | has more commits, of people or of tasks that are done | HEAD |
    /// | has more commits, one of a task that is not done | the baseline |
    /// | lies elsewhere | HEAD |
    ///
    /// A person who commits wants the next one to build on it, proved or not: to begin below their newest commit would surprise
    /// them, and what comes of it could not land. What a session left that did not get to its end is another matter: nobody
    /// wanted that, and it is what a baseline is there for.
    pub const fn start(&self) -> Start {
        match self {
            Self::Ahead {
                unfinished: Some(_),
                ..
            } => Start::Baseline,
            Self::None
            | Self::Elsewhere
            | Self::Ahead {
                unfinished: None, ..
            } => Start::Head,
        }
    }
}

/// What must be done so that a ref says what the ledger says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair<'a> {
    /// Point it to the commit that was proved.
    Point(&'a Baseline),
    /// Take it away: its branch is gone, and it would only keep commits alive.
    Remove(&'a str),
}

/// Compares baselines with their refs, by branch. What the ledger does not know stays: it may be another ledger's.
pub fn repairs<'a>(
    proved: &'a [Baseline],
    refs: &BTreeMap<String, CommitId>,
    has_branch: impl Fn(&str) -> bool,
) -> Vec<Repair<'a>> {
    let repair = |it: &'a Baseline| {
        let branch = it.branch.as_str();
        let there = refs.get(branch);
        match (has_branch(branch), there) {
            (true, Some(commit)) if *commit == it.commit => None,
            (true, _) => Some(Repair::Point(it)),
            (false, Some(_)) => Some(Repair::Remove(branch)),
            (false, None) => None,
        }
    };
    proved.iter().filter_map(repair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(digit: &str) -> CommitId {
        digit.repeat(40).parse().unwrap()
    }

    fn baseline(branch: &str, digit: &str) -> Baseline {
        Baseline {
            branch: branch.parse().unwrap(),
            commit: commit(digit),
            command: None,
            by: Caller::Person,
            at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn an_attempt_begins_at_head_unless_something_unfinished_lies_there() {
        let counted = |gained, lost| Relation::Counted { gained, lost };
        let task: Option<TaskName> = Some("fix".parse().unwrap());
        for (relation, unfinished, expected) in [
            (counted(0, 0), None, Start::Head),
            (counted(3, 0), None, Start::Head),
            (counted(3, 0), task.clone(), Start::Baseline),
            (counted(0, 2), task.clone(), Start::Head),
            (counted(1, 2), task.clone(), Start::Head),
            (Relation::Missing, task, Start::Head),
        ] {
            let distance = Distance::of(relation, unfinished);
            assert_eq!(distance.start(), expected, "{distance:?}");
        }
    }

    #[test]
    fn a_ref_follows_the_ledger_as_long_as_its_branch_is_there() {
        let proved = ["right", "wrong", "missing", "gone", "never"].map(|it| baseline(it, "a"));
        let refs = [
            ("right", "a"),
            ("wrong", "b"),
            ("gone", "a"),
            ("foreign", "c"),
        ];
        let refs = refs.map(|(name, digit)| (name.to_owned(), commit(digit)));
        let found = repairs(&proved, &refs.into(), |it| !matches!(it, "gone" | "never"));
        assert_eq!(
            found,
            [
                Repair::Point(&proved[1]),
                Repair::Point(&proved[2]),
                Repair::Remove("gone")
            ]
        );
    }
}
