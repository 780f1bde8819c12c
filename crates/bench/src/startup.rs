//! What starting costs: a program that does nothing, one that says its version, one that lists a queue.

use anyhow::Result;

use super::fill::Past;
use super::race::{Lane, Times, race, to_the_end};
use super::report::{Report, Target};
use super::samples::milliseconds;
use super::stage::Stage;
use super::{Run, binaries};

const TASKS: usize = 10_000;

pub(super) fn bench(run: &mut Run) -> Result<Report> {
    let binary = binaries::handoff(&run.profile)?;
    let empty = binaries::empty(&run.profile)?;
    let stage = Stage::filled(&binary, None, TASKS, Past::Added)?;
    let lanes = vec![
        Lane::new("empty", || to_the_end(stage.program(&empty))),
        Lane::new("version", || to_the_end(stage.handoff(["version"]))),
        Lane::new("queue list", || {
            to_the_end(stage.handoff(["queue", "list"]))
        }),
    ];
    let times = race(lanes, run.scope.choose(100, 500), &mut run.order)?;

    let mut report = run.report("startup");
    judge(&mut report, &times, "version", 1.0);
    judge(&mut report, &times, "queue list", 3.0);
    report.keep_all(times);
    Ok(report)
}

fn judge(report: &mut Report, times: &Times, name: &'static str, limit: f64) {
    let above = milliseconds(times[name].median()) - milliseconds(times["empty"].median());
    report.figure(
        format!("`{name}` above an empty program"),
        (above, "ms"),
        Target::AtMost(limit),
    );
}
