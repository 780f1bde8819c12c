//! Many processes commit to one repository: ours beside the least that does the same (`flock` and
//! `git commit --only`), beside plain git, whose commits take along what others have staged, and beside
//! handoff-fanout's `safe-commit`. And what the guard costs.

mod field;
mod guard;

use anyhow::Result;

use self::field::{Field, WORKERS, Way};
use super::report::{Report, Target};
use super::samples::{Samples, times};
use super::{Run, binaries, fanout};

/// Commits of each process in one slice; between slices the ways take turns.
const EACH: usize = 5;
/// Slices of the one that takes a second for each commit.
const FANOUT_SLICES: usize = 2;

pub(super) fn bench(run: &mut Run) -> Result<Report> {
    let binary = binaries::handoff(&run.profile)?;
    let mut report = run.report("commit");
    let mut ways = vec![
        Way::Ours(binary.clone()),
        Way::Floor,
        Way::DurableFloor,
        Way::Plain,
    ];
    match fanout::provide("handoff-safe-commit") {
        Ok(program) => ways.push(Way::Fanout(program)),
        Err(error) => report.remark(format!("handoff-fanout is left out: {error:#}.")),
    }
    let mut fields: Vec<_> = ways
        .into_iter()
        .map(|way| Field::new(way, &binary))
        .collect();
    let slices = run.scope.choose(2, 10);
    for slice in 0..slices {
        for place in run.order.shuffle(fields.len()) {
            let is_slow = matches!(fields[place].way, Way::Fanout(_));
            if !is_slow || slice < FANOUT_SLICES {
                fields[place].play(slice, EACH)?;
            }
        }
    }
    judge(&fields, slices * EACH * WORKERS, &mut report);
    guard::measure(run, &binary, &mut report)?;
    Ok(report)
}

fn judge(fields: &[Field], asked: usize, report: &mut Report) {
    let [ours, floor, durable, others @ ..] = fields else {
        unreachable!("three of them are always there");
    };
    report.figure(
        format!("commits of ours that landed, of {asked}"),
        (ours.commits() as f64, "commits"),
        Target::AtLeast(asked as f64),
    );
    report.figure(
        "commits of ours with a file of somebody else, or lost again",
        ((ours.hijacked() + ours.lost()) as f64, "commits"),
        Target::AtMost(0.0),
    );
    beside(ours, floor, "`flock` and `git commit --only`", report);
    beside(
        ours,
        durable,
        "the same with objects and refs synced, as ours are",
        report,
    );
    for field in [ours, floor, durable].into_iter().chain(others) {
        report.remark(field.told());
        report.keep(field.way.name(), Samples::of(field.waits.iter().copied()));
    }
}

fn beside(ours: &Field, floor: &Field, what: &str, report: &mut Report) {
    report.figure(
        format!("commits a second, beside {what}"),
        (ours.rate() / floor.rate(), "times"),
        Target::AtLeast(0.7),
    );
    report.figure(
        format!("longest wait, beside {what}"),
        (times(ours.longest(), floor.longest()), "times"),
        Target::AtMost(2.0),
    );
}
