//! What a durable `dump` costs, beside what no durable program can do without.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use handoff_testkit::Need;

use super::race::{Lane, race, to_the_end};
use super::report::{Report, Target};
use super::samples::times;
use super::stage::Stage;
use super::{Run, binaries, fanout};
use handoff_chores::program::timed;

/// The calls that wait for a disk.
pub(super) const SYNCS: &str = "fsync,fdatasync,sync,syncfs,sync_file_range,msync";

/// Enough dumps to meet a checkpoint, which waits more often.
const COUNTED: usize = 50;

pub(super) fn bench(run: &mut Run) -> Result<Report> {
    let binary = binaries::handoff(&run.profile)?;
    let empty = binaries::empty(&run.profile)?;
    let stage = Stage::set(&binary, None)?;
    let mut appended = append_only(&stage)?;
    let mut dumps = 0;
    let lanes = vec![
        Lane::new("empty", || to_the_end(stage.program(&empty))),
        Lane::new("version", || to_the_end(stage.handoff(["version"]))),
        Lane::new("fdatasync", || append(&mut appended)),
        Lane::new("dump", || {
            dumps += 1;
            to_the_end(stage.handoff(dump_words(&format!("dump-{dumps}"))))
        }),
    ];
    let measured = race(lanes, run.scope.choose(100, 500), &mut run.order)?;

    let mut report = run.report("dump");
    let dump = measured["dump"].median();
    let sync = measured["fdatasync"].median();
    let beside = |start: &str| times(dump, measured[start].median() + sync);
    report.figure(
        "`dump` beside the start of this program (`version`) and one fdatasync",
        (beside("version"), "times"),
        Target::AtMost(2.0),
    );
    report.remark(format!(
        "Beside an empty program and one fdatasync, `dump` takes {:.2} times as long.",
        beside("empty")
    ));
    report.keep_all(measured);
    count_syncs(&stage, &mut report)?;
    match fanout::provide("handoff-dump") {
        Ok(program) => beside_fanout(&program, &stage, run, &mut report)?,
        Err(error) => report.remark(format!("handoff-fanout is left out: {error:#}.")),
    }
    Ok(report)
}

/// The same dump by the earlier tool, in turns with ours.
fn beside_fanout(fanout: &Path, stage: &Stage, run: &mut Run, report: &mut Report) -> Result<()> {
    let home = stage.directory().join("fanout");
    let (mut theirs, mut ours) = (0, 0);
    let lanes = vec![
        Lane::new("dump of handoff-fanout", || {
            theirs += 1;
            let name = format!("turn-{theirs}");
            let mut command = stage.program(fanout);
            command
                .args(&dump_words(&name)[1..])
                .env("HANDOFF_HOME", &home);
            to_the_end(command)
        }),
        Lane::new("dump in turns with it", || {
            ours += 1;
            to_the_end(stage.handoff(dump_words(&format!("turn-{ours}"))))
        }),
    ];
    let measured = race(lanes, run.scope.choose(5, 100), &mut run.order)?;
    let [theirs, ours] =
        ["dump of handoff-fanout", "dump in turns with it"].map(|lane| measured[lane].median());
    report.figure(
        "`dump` of handoff-fanout beside `dump`",
        (times(theirs, ours), "times"),
        Target::AtLeast(20.0),
    );
    report.keep_all(measured);
    Ok(())
}

fn dump_words(name: &str) -> [&str; 5] {
    ["dump", "--task", name, "--next", "Go on with the parser."]
}

pub(super) fn append_only(stage: &Stage) -> Result<File> {
    let path = stage.directory().join("appended");
    Ok(OpenOptions::new().create(true).append(true).open(path)?)
}

/// 4 KiB, the least that SQLite appends for a change.
pub(super) fn append(file: &mut File) -> Result<Duration> {
    let (done, time) = timed(|| file.write_all(&[7; 4096]).and_then(|()| file.sync_data()));
    done?;
    Ok(time)
}

/// How often a dump waits for the disk: time tells it only on a disk that is slow.
fn count_syncs(stage: &Stage, report: &mut Report) -> Result<()> {
    if !Need::Strace.is_met() {
        report.remark("Waits for the disk are not counted: strace is not installed.");
        return Ok(());
    }
    let mut syncs = (0..COUNTED)
        .map(|number| syncs(stage, &format!("counted-{number}")))
        .collect::<Result<Vec<_>>>()?;
    syncs.sort_unstable();
    report.figure(
        "times that `dump` waits for the disk, median",
        (syncs[syncs.len() / 2] as f64, "calls"),
        Target::AtMost(1.0),
    );
    let all = syncs.iter().sum::<usize>();
    report.remark(format!("{COUNTED} dumps wait for the disk {all} times."));
    Ok(())
}

fn syncs(stage: &Stage, name: &str) -> Result<usize> {
    let log = stage.directory().join("syncs");
    let mut strace = stage.program("strace");
    strace.args(["-f", "-qq", "-e", "signal=none", "-e"]);
    strace.arg(format!("trace={SYNCS}")).arg("-o").arg(&log);
    let dump = stage.handoff(dump_words(name));
    strace.arg(dump.get_program()).args(dump.get_args());
    let output = strace.output().context("cannot start strace")?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        bail!("{strace:?} fails: {reason}");
    }
    Ok(fs::read_to_string(&log)?.lines().count())
}
