//! Whether something may go: a pure function of what is known of it.

use std::time::Duration;

use handoff_core::Timestamp;

/// What is cleared away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The directory of a session, with its transcript.
    Session,
    /// What a session printed, while the rest of it stays.
    Transcript,
    /// The worktree of an attempt.
    Worktree,
    /// A task as Markdown.
    Baton,
    /// A branch of an attempt, a batch or a run.
    Branch,
    /// What one session left for the next, sealed.
    Package,
    /// What was attached to a package.
    Attachment,
}

impl Kind {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Transcript => "transcript",
            Self::Worktree => "worktree",
            Self::Baton => "baton",
            Self::Branch => "branch",
            Self::Package => "package",
            Self::Attachment => "attachment",
        }
    }
}

/// What becomes of something, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It goes: it ended long ago.
    Old,
    /// It goes, though it is younger: there is too much of its kind.
    Crowded,
    /// It goes: its task has ended.
    Over,
    /// It goes: its attempt is over. What is uncommitted in it is saved first.
    Orphaned,
    /// It goes: its worker is gone, and nobody ever worked there.
    Unused,
    /// It goes: nobody can receive it any more, and that for long.
    Stale,
    /// It goes: no package names it.
    Unnamed,
    /// It goes: a branch of a person's has all of it.
    Landed,
    /// It stays: somebody works with it.
    Live,
    /// It stays: a worker made it for the next attempt.
    Spare,
    /// It stays: whoever worked there is gone, and its attempt is not over in the ledger.
    Left,
    /// It stays: it ended lately.
    Young,
    /// It stays: its task has not ended.
    Open,
    /// It stays: its task came to nothing, and a person may let it go on.
    Stopped,
    /// It stays: a task that has not ended comes after its own.
    Awaited,
    /// It stays: it can be received.
    Receivable,
    /// It stays: nobody can receive it any more, but that is new.
    Fresh,
    /// It stays: no branch of a person's has it, or somebody has it checked out.
    Sole,
    /// It stays: nobody knows how it ended, and so it may be the only trace.
    Lost,
    /// It stays: this ledger does not know its task.
    Foreign,
}

impl Verdict {
    /// Whether it goes.
    pub const fn goes(self) -> bool {
        match self {
            Self::Old
            | Self::Crowded
            | Self::Over
            | Self::Orphaned
            | Self::Unused
            | Self::Stale
            | Self::Unnamed
            | Self::Landed => true,
            Self::Live
            | Self::Spare
            | Self::Left
            | Self::Young
            | Self::Open
            | Self::Stopped
            | Self::Awaited
            | Self::Receivable
            | Self::Fresh
            | Self::Sole
            | Self::Lost
            | Self::Foreign => false,
        }
    }

    /// Whether it goes and is nowhere else: in no branch, and not saved first.
    pub const fn is_lost_for_good(self) -> bool {
        match self {
            Self::Old | Self::Crowded | Self::Stale | Self::Unnamed => true,
            Self::Over | Self::Orphaned | Self::Unused | Self::Landed => false,
            Self::Live
            | Self::Spare
            | Self::Left
            | Self::Young
            | Self::Open
            | Self::Stopped
            | Self::Awaited
            | Self::Receivable
            | Self::Fresh
            | Self::Sole
            | Self::Lost
            | Self::Foreign => false,
        }
    }

    /// Why.
    pub const fn why(self) -> &'static str {
        match self {
            Self::Old => "ended long ago",
            Self::Crowded => "the oldest, and there is too much",
            Self::Over => "its task has ended",
            Self::Orphaned => "its attempt is over; what is uncommitted is saved",
            Self::Unused => "its worker is gone, and nobody worked there",
            Self::Stale => "consumed, expired, transferred or deleted long ago",
            Self::Unnamed => "no package names it",
            Self::Landed => "all of it is in a branch of yours",
            Self::Live => "somebody works with it",
            Self::Spare => "a worker made it for the next attempt",
            Self::Left => "whoever worked there is gone; a worker or `handoff watchdog` sees to it",
            Self::Young => "ended lately",
            Self::Open => "its task has not ended",
            Self::Stopped => "its task failed or is blocked, and may go on",
            Self::Awaited => "a task after its own has not ended",
            Self::Receivable => "it can be received",
            Self::Sole => "it may be the only copy, or is checked out",
            Self::Fresh => "consumed, expired, transferred or deleted lately",
            Self::Lost => "nobody knows how it ended",
            Self::Foreign => "its task is not in this ledger",
        }
    }
}

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Sessions that ended before this stay no longer.
    pub sessions: Duration,
    /// The same for what they printed.
    pub transcripts: Duration,
    /// Packages that nobody can receive any more since before this stay no longer.
    pub packages: Duration,
    /// How many bytes of sessions stay at most, the newest first; those that may not go count too.
    pub bytes: Option<u64>,
    /// The same for packages, without what is attached to them.
    pub package_bytes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        const DAY: u64 = 24 * 3600;
        Self {
            sessions: Duration::from_secs(30 * DAY),
            transcripts: Duration::from_secs(7 * DAY),
            packages: Duration::from_secs(30 * DAY),
            bytes: None,
            package_bytes: None,
        }
    }
}

/// What is known of the task that something belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskFact {
    /// It belongs to none.
    None,
    Open,
    /// It came to nothing, and is over unless a person lets it go on.
    Failed,
    /// It waits for a person.
    Blocked,
    /// It is done, or was called off.
    Ended,
    /// The ledger does not know it.
    Foreign,
}

/// What is known of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SessionFact {
    /// Whether its holder lives, or a worker attends to it.
    pub(super) is_held: bool,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) task: TaskFact,
}

/// What is known of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PackageFact {
    /// Whether it can be received, or somebody is doing that.
    pub(super) is_active: bool,
    /// Since when not.
    pub(super) over_since: Option<Timestamp>,
    /// The task that it was received for, or comes from; or the run that received it.
    pub(super) of: TaskFact,
    /// Whether a task comes after that one which has not ended.
    pub(super) is_awaited: bool,
}

/// What becomes of a session, or of what it printed, if it may be this old.
pub(super) fn of_session(fact: SessionFact, now: Timestamp, limit: Duration) -> Verdict {
    if fact.is_held {
        return Verdict::Live;
    }
    let Some(ended_at) = fact.ended_at else {
        return Verdict::Lost;
    };
    match fact.task {
        TaskFact::Open => return Verdict::Open,
        TaskFact::Blocked => return Verdict::Stopped,
        TaskFact::Foreign => return Verdict::Foreign,
        TaskFact::None | TaskFact::Failed | TaskFact::Ended => {}
    }
    if is_old(ended_at, now, limit) {
        Verdict::Old
    } else {
        Verdict::Young
    }
}

fn is_old(since: Timestamp, now: Timestamp, limit: Duration) -> bool {
    let age = now.duration_since(since);
    Duration::try_from(age).is_ok_and(|age| age >= limit)
}

/// What becomes of a package. What a task is told when it goes on is built from what was received for it, so that this stays as
/// long as it may.
pub(super) fn of_package(fact: PackageFact, now: Timestamp, limit: Duration) -> Verdict {
    if fact.is_active {
        return Verdict::Receivable;
    }
    match fact.of {
        TaskFact::Open => return Verdict::Open,
        TaskFact::Failed | TaskFact::Blocked => return Verdict::Stopped,
        TaskFact::None | TaskFact::Ended | TaskFact::Foreign => {}
    }
    if fact.is_awaited {
        return Verdict::Awaited;
    }
    match fact.over_since {
        Some(since) if is_old(since, now, limit) => Verdict::Stale,
        Some(_) | None => Verdict::Fresh,
    }
}

/// What becomes of the baton of a task.
pub(super) const fn of_baton(task: TaskFact) -> Verdict {
    match task {
        TaskFact::Ended => Verdict::Over,
        TaskFact::Open => Verdict::Open,
        TaskFact::Failed | TaskFact::Blocked => Verdict::Stopped,
        TaskFact::None | TaskFact::Foreign => Verdict::Foreign,
    }
}

/// What becomes of a branch of ours; `is_landed` says that a person's has all of it and nobody has this one checked out.
pub(super) const fn of_branch(of: TaskFact, is_landed: bool) -> Verdict {
    match of {
        TaskFact::Ended if is_landed => Verdict::Landed,
        TaskFact::Ended => Verdict::Sole,
        TaskFact::Open => Verdict::Open,
        TaskFact::Failed | TaskFact::Blocked => Verdict::Stopped,
        TaskFact::None | TaskFact::Foreign => Verdict::Foreign,
    }
}

/// The oldest that may go do so, until no more bytes stay than may. Given newest first.
pub(super) fn crowd_out(crowd: &mut [(Verdict, u64)], limit: u64) {
    let mut kept: u64 = 0;
    for (verdict, bytes) in crowd {
        if verdict.goes() {
            continue;
        }
        kept = kept.saturating_add(*bytes);
        if matches!(verdict, Verdict::Young | Verdict::Fresh) && kept > limit {
            *verdict = Verdict::Crowded;
            kept -= *bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn fact(is_held: bool, ended: Option<i64>, task: TaskFact) -> SessionFact {
        SessionFact {
            is_held,
            ended_at: ended.map(|it| Timestamp::from_second(it).unwrap()),
            task,
        }
    }

    #[test]
    fn only_what_ended_long_ago_and_nobody_needs_goes() {
        let now = Timestamp::from_second(10_000).unwrap();
        let long_ago = Some(10_000 - 3600);
        for (fact, expected) in [
            (fact(false, long_ago, TaskFact::None), Verdict::Old),
            (fact(false, long_ago, TaskFact::Ended), Verdict::Old),
            (fact(false, Some(6401), TaskFact::Ended), Verdict::Young),
            (fact(false, Some(20_000), TaskFact::None), Verdict::Young),
            (fact(true, long_ago, TaskFact::None), Verdict::Live),
            (fact(false, None, TaskFact::None), Verdict::Lost),
            (fact(false, long_ago, TaskFact::Open), Verdict::Open),
            (fact(false, long_ago, TaskFact::Blocked), Verdict::Stopped),
            (fact(false, long_ago, TaskFact::Failed), Verdict::Old),
            (fact(false, long_ago, TaskFact::Foreign), Verdict::Foreign),
        ] {
            assert_eq!(of_session(fact, now, HOUR), expected, "{fact:?}");
        }
        assert_eq!(of_baton(TaskFact::Ended), Verdict::Over);
        assert_eq!(of_baton(TaskFact::Open), Verdict::Open);
        assert_eq!(of_baton(TaskFact::Foreign), Verdict::Foreign);
        assert_eq!(of_baton(TaskFact::Blocked), Verdict::Stopped);
        assert_eq!(of_baton(TaskFact::Failed), Verdict::Stopped);
    }

    #[test]
    fn a_package_that_a_prompt_may_be_built_from_stays_at_any_age() {
        let now = Timestamp::from_second(10_000).unwrap();
        let over = |since: i64, of| PackageFact {
            is_active: false,
            over_since: Some(Timestamp::from_second(since).unwrap()),
            of,
            is_awaited: false,
        };
        let active = PackageFact {
            is_active: true,
            ..over(0, TaskFact::Ended)
        };
        let awaited = PackageFact {
            is_awaited: true,
            ..over(0, TaskFact::Ended)
        };
        for (fact, expected) in [
            (active, Verdict::Receivable),
            (over(0, TaskFact::Open), Verdict::Open),
            (over(0, TaskFact::Blocked), Verdict::Stopped),
            (over(0, TaskFact::Failed), Verdict::Stopped),
            (awaited, Verdict::Awaited),
            (over(6400, TaskFact::Ended), Verdict::Stale),
            (over(6401, TaskFact::Ended), Verdict::Fresh),
            (over(0, TaskFact::None), Verdict::Stale),
            (over(0, TaskFact::Foreign), Verdict::Stale),
        ] {
            assert_eq!(of_package(fact, now, HOUR), expected, "{fact:?}");
        }
    }

    #[test]
    fn a_branch_goes_when_its_task_has_ended_and_a_person_has_all_of_it() {
        for (of, is_landed, expected) in [
            (TaskFact::Ended, true, Verdict::Landed),
            (TaskFact::Ended, false, Verdict::Sole),
            (TaskFact::Open, true, Verdict::Open),
            (TaskFact::Blocked, true, Verdict::Stopped),
            (TaskFact::Foreign, true, Verdict::Foreign),
        ] {
            assert_eq!(of_branch(of, is_landed), expected, "{of:?}");
        }
    }

    #[test]
    fn the_oldest_make_room_and_what_may_not_go_never_does() {
        let mut sessions = [
            (Verdict::Live, 50),
            (Verdict::Young, 30),
            (Verdict::Young, 30),
            (Verdict::Open, 500),
            (Verdict::Old, 7),
            (Verdict::Young, 1),
        ];
        crowd_out(&mut sessions, 100);
        let verdicts = sessions.map(|(verdict, _)| verdict);
        assert_eq!(
            verdicts,
            [
                Verdict::Live,
                Verdict::Young,
                Verdict::Crowded,
                Verdict::Open,
                Verdict::Old,
                Verdict::Crowded
            ]
        );
    }
}
