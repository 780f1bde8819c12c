//! Whether what a struck command said fits what the ledger holds. Pure, so that each rule can be seen to fail.

use std::os::unix::process::ExitStatusExt as _;

use anyhow::Result;
use handoff_testkit::{Errno, Fault, Output};
use serde_json::Value;

use super::point::{Point, Subject};
use crate::product::exit;

/// How a struck command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Killed,
    Code(i32),
}

impl End {
    pub(super) fn of(output: &Output) -> Result<Self> {
        match (output.code(), output.status.signal()) {
            (Some(code), _) => Ok(Self::Code(code)),
            (None, Some(9)) => Ok(Self::Killed),
            (None, signal) => anyhow::bail!("ended by signal {signal:?}: {}", output.snapshot()),
        }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Killed => f.write_str("killed"),
            Self::Code(code) => write!(f, "exit {code}"),
        }
    }
}

/// What a ledger says about a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    Before,
    After,
    Between,
}

impl Recorded {
    pub(super) fn of(before: &[Value], appended: usize, now: &[Value]) -> Self {
        if !now.starts_with(before) {
            return Self::Between;
        }
        match now.len() - before.len() {
            0 => Self::Before,
            new if new == appended => Self::After,
            _ => Self::Between,
        }
    }
}

/// Why an end and a ledger cannot stand together.
///
/// | end | before | after |
/// |---|---|---|
/// | killed, or `outcome_unknown` | may be | may be |
/// | 0 | no: acknowledged and lost | may be |
/// | any other code | may be | no: the caller takes it for not done |
pub(super) fn objection(end: End, recorded: Recorded) -> Option<String> {
    let text = match (end, recorded) {
        (_, Recorded::Between) => "neither before nor after",
        (End::Code(exit::INTERNAL | exit::PANIC), _) => "a mistake in the program itself",
        (End::Killed | End::Code(exit::OUTCOME_UNKNOWN), _) => return None,
        (End::Code(exit::DONE), Recorded::Before) => "acknowledged, and not recorded",
        (End::Code(exit::DONE), Recorded::After) | (End::Code(_), Recorded::Before) => return None,
        (End::Code(_), Recorded::After) => "recorded, and the caller is told that it failed",
    };
    Some(format!("{end}: {text}"))
}

/// The calls that a full disk really fails.
const TAKING_SPACE: [&str; 10] = [
    "write",
    "pwrite64",
    "writev",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
    "mkdir",
    "mkdirat",
    "renameat2",
];

/// Whoever is told of damage looks for a copy, whoever is told of a full disk looks for space: each
/// in vain if it is the other.
pub(super) fn misnamed(fault: Fault, point: Point, end: End) -> Option<&'static str> {
    let is_full = fault == Fault::Error(Errno::Enospc) && TAKING_SPACE.contains(&point.call);
    match end {
        End::Code(exit::DAMAGED) if is_full => Some("a full disk is called damage"),
        End::Code(exit::NO_SPACE) if fault == Fault::Error(Errno::Eio) => {
            Some("a broken disk is called full")
        }
        End::Killed | End::Code(_) => None,
    }
}

/// After a failed sync the kernel may have dropped what was to be written: a second one that succeeds proves
/// nothing. A SQLite built without our flags also syncs directories whose names have been there for long, and passes
/// over it when that fails.
pub(super) fn unsynced(fault: Fault, point: Point, end: End) -> Option<&'static str> {
    let is_sync = matches!(point.call, "fsync" | "fdatasync") && point.subject == Subject::Other;
    let is_acknowledged = fault == Fault::Error(Errno::Eio) && end == End::Code(exit::DONE);
    (is_sync && is_acknowledged).then_some("acknowledged after a failed sync")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(call: &'static str, subject: Subject) -> Point {
        Point {
            call,
            number: 1,
            subject,
        }
    }

    #[test]
    fn what_a_caller_is_told_must_fit_what_is_recorded() {
        let table = [
            (End::Killed, Recorded::Before, true),
            (End::Killed, Recorded::After, true),
            (End::Killed, Recorded::Between, false),
            (End::Code(0), Recorded::Before, false),
            (End::Code(0), Recorded::After, true),
            (End::Code(7), Recorded::Before, true),
            (End::Code(7), Recorded::After, true),
            (End::Code(5), Recorded::Before, true),
            (End::Code(5), Recorded::After, false),
            (End::Code(8), Recorded::After, false),
            (End::Code(70), Recorded::Before, false),
            (End::Code(101), Recorded::Before, false),
        ];
        for (end, recorded, is_good) in table {
            let objection = objection(end, recorded);
            assert_eq!(
                objection.is_none(),
                is_good,
                "{end} {recorded:?} {objection:?}"
            );
        }
    }

    #[test]
    fn a_full_disk_and_a_broken_one_are_told_apart() {
        let at = |call| point(call, Subject::Other);
        let (full, broken) = (Fault::Error(Errno::Enospc), Fault::Error(Errno::Eio));
        assert!(misnamed(full, at("fsync"), End::Code(exit::DAMAGED)).is_some());
        assert!(misnamed(broken, at("pwrite64"), End::Code(exit::NO_SPACE)).is_some());
        assert!(misnamed(full, at("pwrite64"), End::Code(exit::NO_SPACE)).is_none());
        assert!(misnamed(Fault::Kill, at("fsync"), End::Killed).is_none());
    }

    #[test]
    fn a_ledger_that_lost_or_half_gained_something_is_between() {
        let event = |number: u64| Value::from(number);
        let before = [event(1), event(2)];
        let recorded = |now: &[Value]| Recorded::of(&before, 2, now);
        assert_eq!(recorded(&before), Recorded::Before);
        assert_eq!(recorded(&[1, 2, 3, 4].map(event)), Recorded::After);
        assert_eq!(recorded(&[1, 2, 3].map(event)), Recorded::Between);
        assert_eq!(recorded(&[event(1)]), Recorded::Between);
        assert_eq!(recorded(&[1, 9, 3, 4].map(event)), Recorded::Between);
    }

    #[test]
    fn a_failed_sync_of_a_file_must_not_be_acknowledged() {
        let broken = Fault::Error(Errno::Eio);
        let (file, directory) = (
            point("fsync", Subject::Other),
            point("fsync", Subject::Directory),
        );
        assert!(unsynced(broken, file, End::Code(exit::DONE)).is_some());
        assert!(unsynced(broken, file, End::Code(exit::OUTCOME_UNKNOWN)).is_none());
        assert!(unsynced(broken, directory, End::Code(exit::DONE)).is_none());
        assert!(
            unsynced(
                broken,
                point("write", Subject::Other),
                End::Code(exit::DONE)
            )
            .is_none()
        );
    }
}
