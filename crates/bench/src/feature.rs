//! What `status` and `continue` cost on a long plan in a large repository, beside the one call of git that
//! they cannot do without.

use std::fmt::Write as _;
use std::time::SystemTime;

use anyhow::Result;

use super::race::{Lane, Times, race, to_the_end};
use super::report::{Report, Target};
use super::samples::milliseconds;
use super::stage::Stage;
use super::{Run, binaries, overheard};

const FILES: usize = 5_000;
const STEPS: usize = 200;

const LONG_AGO: SystemTime = SystemTime::UNIX_EPOCH;

pub(super) fn bench(run: &mut Run) -> Result<Report> {
    let binary = binaries::handoff(&run.profile)?;
    let empty = binaries::empty(&run.profile)?;
    let stage = Stage::set(&binary, None)?;
    grow(&stage, run.scope.choose(FILES / 10, FILES))?;
    let scratch = stage.directory().join("overheard");
    let look = overheard::only_call(stage.handoff(["status"]), &scratch)?;
    let lanes = vec![
        Lane::new("empty", || to_the_end(stage.program(&empty))),
        Lane::new("git status", || to_the_end(look.command())),
        Lane::new("status", || to_the_end(stage.handoff(["status"]))),
        Lane::new("continue", || {
            to_the_end(stage.handoff(["continue", "--raw"]))
        }),
    ];
    let times = race(lanes, run.scope.choose(30, 200), &mut run.order)?;

    let mut report = run.report("feature");
    let git = milliseconds(times["git status"].median());
    report.remark(format!(
        "The one call of git in each takes {git:.2} ms: `{}`",
        look.shown()
    ));
    judge(&mut report, &times, "status");
    judge(&mut report, &times, "continue");
    report.keep_all(times);
    Ok(report)
}

/// A repository with many files, and in it a feature with a long plan whose state is recorded.
///
/// The files are older than git's index, as they are in any repository but one that was made this moment. Of files
/// as young as its index git reads the content at each look, and nothing else would be measured.
fn grow(stage: &Stage, files: usize) -> Result<()> {
    for number in 0..files {
        let directory = number / 50;
        let path = format!("src/{directory}/{number}.txt");
        stage.write(&path, "content\n");
        stage.date(&path, LONG_AGO)?;
    }
    stage.commit("many files");
    stage.say(["init", "long"])?;
    stage.write(".handoff/features/long/STATE.md", &plan());
    stage.say(["checkpoint"])
}

fn plan() -> String {
    let mut plan = "# Execution Plan\n\n".to_owned();
    for number in 1..=STEPS {
        let mark = if number <= STEPS / 2 { 'x' } else { ' ' };
        writeln!(plan, "- [{mark}] step {number}: make one more thing true").ok();
    }
    plan
}

fn judge(report: &mut Report, times: &Times, name: &'static str) {
    let median = |lane| milliseconds(times[lane].median());
    // The call of git starts a program too, so an empty one is part of it already.
    let above = median(name) - median("git status") - median("empty");
    report.figure(
        format!("`{name}` above an empty program and one `git status`"),
        (above, "ms"),
        Target::AtMost(3.0),
    );
}
