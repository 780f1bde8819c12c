//! Every system call of a write killed, and failed, one after the other.

use crate::child::{CALLS_BEFORE_OPERATION, FILE, Part, Verdict, new_content, strace, verdict};
use handoff_files::{Dir, atomic};
use std::path::Path;
use tempfile::{NamedTempFile, TempDir};

/// What an operation calls, or might come to call, with how often its thread has called it before.
const CALLS: [(&str, usize); 19] = [
    ("open", 0),
    ("openat", CALLS_BEFORE_OPERATION),
    ("openat2", 0),
    ("getrandom", CALLS_BEFORE_OPERATION),
    ("flock", 0),
    ("fstat", CALLS_BEFORE_OPERATION),
    ("fchmod", 0),
    ("ftruncate", 0),
    ("write", CALLS_BEFORE_OPERATION),
    ("pwrite64", 0),
    ("fsync", 0),
    ("fdatasync", 0),
    ("link", 0),
    ("linkat", 0),
    ("rename", 0),
    ("renameat", 0),
    ("renameat2", 0),
    ("unlinkat", 0),
    ("close", CALLS_BEFORE_OPERATION),
];

const KILLED: Result<Verdict, Option<i32>> = Err(Some(9));
const OLD: &[u8] = b"old content";

/// One system call of an operation. A number alone would not do: `strace` counts each kind of
/// call by itself, so that number N of a set of kinds is only the first kind to reach N.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    call: &'static str,
    /// Which of the thread's calls of this kind.
    number: usize,
}

/// What else is wrong during a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handicap {
    None,
    /// As on a filesystem that cannot refuse to replace when it renames.
    NoRenameNew,
    NoUnlink,
}

impl Point {
    fn inject(self, fault: &str) -> String {
        format!("--inject={}:{fault}:when={}", self.call, self.number)
    }
}

impl Handicap {
    fn injection(self) -> Option<String> {
        match self {
            Self::None => None,
            Self::NoRenameNew => Some("--inject=renameat2:error=EINVAL".to_owned()),
            Self::NoUnlink => Some("--inject=unlinkat:error=EIO".to_owned()),
        }
    }
}

/// What the name holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Absent,
    Old,
    New,
}

impl Content {
    fn prepare(self) -> TempDir {
        let place = TempDir::new().unwrap();
        match self {
            Self::Absent => {}
            Self::Old => std::fs::write(place.path().join(FILE), OLD).unwrap(),
            Self::New => std::fs::write(place.path().join(FILE), new_content()).unwrap(),
        }
        place
    }

    fn of(place: &Path) -> Self {
        let found = match std::fs::read(place.join(FILE)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Self::Absent,
            found => found.unwrap(),
        };
        if found == OLD {
            Self::Old
        } else {
            assert!(found == new_content(), "torn: {} bytes", found.len());
            Self::New
        }
    }
}

/// What a write said, and what the name held afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    verdict: Result<Verdict, Option<i32>>,
    content: Content,
}

/// A write to be disturbed.
#[derive(Debug, Clone, Copy)]
struct Write {
    part: Part,
    before: Content,
    handicap: Handicap,
}

impl Write {
    /// Every call that the write makes, in order.
    fn points(self) -> Vec<Point> {
        let place = self.before.prepare();
        let log = NamedTempFile::new().unwrap();
        let calls = CALLS.map(|(call, _)| call).join(",");
        let to_log = ["-o".to_owned(), log.path().display().to_string()];
        let options = to_log.into_iter().chain([format!("--trace={calls}")]);
        let wrapper = strace(options.chain(self.handicap.injection()));
        let mut command = self.part.command_under(&wrapper, place.path());
        assert!(command.output().unwrap().status.code().is_some());
        points_in(&std::fs::read_to_string(&log).unwrap())
    }

    /// Writes with `fault` at `point` and checks what holds after any fault: the content is
    /// whole, a success is true, and one sweep clears every leftover.
    fn with(self, fault: &str, point: Point) -> Outcome {
        let place = self.before.prepare();
        let wrapper = strace(
            self.handicap
                .injection()
                .into_iter()
                .chain([point.inject(fault)]),
        );
        let mut command = self.part.command_under(&wrapper, place.path());
        let outcome = Outcome {
            verdict: verdict(command.output().unwrap().status),
            content: Content::of(place.path()),
        };
        if outcome.verdict == Ok(Verdict::Done) {
            assert_eq!(outcome.content, Content::New, "{self:?} {fault} {point:?}");
        }
        atomic::sweep(&Dir::open(place.path()).unwrap()).unwrap();
        let left = std::fs::read_dir(place.path()).unwrap().count();
        let named = usize::from(outcome.content != Content::Absent);
        assert_eq!(left, named, "leftovers: {self:?} {fault} {point:?}");
        outcome
    }

    /// The calls at which the write was killed, each with what the kill left.
    fn kill_everywhere(self) -> Vec<(&'static str, Content)> {
        on_two_threads(&self.points(), |point| {
            let outcome = self.with("signal=KILL", point);
            assert_eq!(outcome.verdict, KILLED, "{self:?} {point:?}");
            (point.call, outcome.content)
        })
    }

    /// What came of failing each call with `error`, one in each run.
    fn fail_everywhere(self, error: &str) -> Vec<(&'static str, Outcome)> {
        let fault = format!("error={error}");
        on_two_threads(&self.points(), |point| {
            (point.call, self.with(&fault, point))
        })
    }
}

/// The points of the operation in a log of `strace`: what its thread, the one that locks a file,
/// calls beyond what it called before.
fn points_in(log: &str) -> Vec<Point> {
    let calls: Vec<_> = log
        .lines()
        .filter_map(|line| line.split_once('(')?.0.split_once(' '))
        .map(|(thread, call)| (thread, call.trim()))
        .collect();
    let (thread, _) = calls.iter().find(|(_, call)| *call == "flock").unwrap();
    let mut numbers = CALLS.map(|(call, before)| (call, before, 0));
    let mut points = Vec::new();
    for (_, made) in calls.iter().filter(|(caller, _)| caller == thread) {
        let known = numbers.iter_mut().find(|(call, ..)| call == made);
        let (call, before, number) = known.unwrap();
        *number += 1;
        if *number > *before {
            let (call, number) = (*call, *number);
            points.push(Point { call, number });
        }
    }
    points
}

/// As `items.map(work)`, in half the time.
fn on_two_threads<T: Copy + Sync, R: Send>(items: &[T], work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let (first, second) = items.split_at(items.len() / 2);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| second.iter().copied().map(&work).collect::<Vec<_>>());
        let mut results: Vec<_> = first.iter().copied().map(&work).collect();
        results.extend(second.join().unwrap());
        results
    })
}

const CREATE_NEW: Write = Write {
    part: Part::CreateNew,
    before: Content::Absent,
    handicap: Handicap::None,
};

const REPLACE: Write = Write {
    part: Part::Replace,
    before: Content::Old,
    handicap: Handicap::None,
};

/// All steps of a write, from opening the directory to closing it, each with what a kill at its
/// beginning leaves.
fn steps(before: Content, naming: &[&'static str]) -> Vec<(&'static str, Content)> {
    let writing = [
        "open",
        "getrandom",
        "openat",
        "flock",
        "fstat",
        "fchmod",
        "write",
        "fsync",
    ];
    let finishing = ["unlinkat", "close", "fsync", "close"];
    let unnamed = writing.iter().chain(naming).map(|call| (*call, before));
    let named = finishing.iter().map(|call| (*call, Content::New));
    unnamed.chain(named).collect()
}

#[test]
fn create_new_killed_anywhere_leaves_nothing_or_the_whole_file() {
    let expected = steps(Content::Absent, &["renameat2"]);
    assert_eq!(CREATE_NEW.kill_everywhere(), expected);
}

#[test]
fn create_new_by_link_killed_anywhere_leaves_nothing_or_the_whole_file() {
    let handicap = Handicap::NoRenameNew;
    let expected = steps(Content::Absent, &["renameat2", "linkat"]);
    assert_eq!(
        Write {
            handicap,
            ..CREATE_NEW
        }
        .kill_everywhere(),
        expected
    );
}

#[test]
fn replace_killed_anywhere_leaves_the_old_file_or_the_new_one() {
    let expected = steps(Content::Old, &["renameat"]);
    assert_eq!(REPLACE.kill_everywhere(), expected);
}

#[test]
fn create_new_of_a_taken_name_killed_anywhere_leaves_the_old_file() {
    for handicap in [Handicap::None, Handicap::NoRenameNew] {
        let before = Content::Old;
        let kills = Write {
            before,
            handicap,
            ..CREATE_NEW
        }
        .kill_everywhere();
        assert!(kills.len() >= 12, "{kills:?}");
        assert!(
            kills.iter().all(|(_, content)| *content == Content::Old),
            "{kills:?}"
        );
    }
}

#[test]
fn on_a_broken_disk_a_write_changes_nothing_or_says_that_it_does_not_know() {
    for write in [CREATE_NEW, REPLACE] {
        for handicap in [Handicap::None, Handicap::NoUnlink] {
            let outcomes = Write { handicap, ..write }.fail_everywhere("EIO");
            for (call, outcome) in &outcomes {
                let is_as_promised = match outcome.verdict {
                    Ok(Verdict::Failed) => outcome.content == write.before,
                    Ok(Verdict::OutcomeUnknown) => {
                        matches!(*call, "renameat" | "renameat2" | "fsync")
                    }
                    Ok(Verdict::Done) => matches!(*call, "unlinkat" | "close"),
                    _ => false,
                };
                assert!(is_as_promised, "{write:?} {call} {outcome:?}");
            }
            let verdicts = outcomes.iter().map(|(_, outcome)| outcome.verdict);
            let unknown = verdicts.filter(|verdict| *verdict == Ok(Verdict::OutcomeUnknown));
            assert_eq!(unknown.count(), 2, "{outcomes:?}");
        }
    }
}

#[test]
fn a_full_disk_is_recognised_at_every_step() {
    for write in [CREATE_NEW, REPLACE] {
        for (call, outcome) in write.fail_everywhere("ENOSPC") {
            let is_as_promised = match outcome.verdict {
                Ok(Verdict::OutOfSpace) => outcome.content == write.before,
                Ok(Verdict::OutcomeUnknown) => call == "fsync",
                Ok(Verdict::Done) => matches!(call, "unlinkat" | "close"),
                _ => false,
            };
            assert!(is_as_promised, "{write:?} {call} {outcome:?}");
        }
    }
}
