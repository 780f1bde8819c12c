//! How often the disk is waited for between the outcome of one task and the agent of the next: time tells it only on a disk that
//! is slow, and no two disks are alike.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use handoff_core::Timestamp;
use handoff_testkit::Need;

use super::chronicle::Chronicle;
use super::{script, stage, with_check};
use crate::dump::SYNCS;

/// Enough for a middle.
const TASKS: usize = 12;

/// The median count; none where it cannot be counted.
pub(super) fn between(binary: &Path, text: &str) -> Result<Option<u32>> {
    if !Need::Strace.is_met() {
        return Ok(None);
    }
    let stage = stage(binary)?;
    let script = script(&stage, text)?;
    for number in 0..TASKS {
        let name = format!("task-{number}");
        stage.say(with_check(&name))?;
    }
    let log = stage.directory().join("waits");
    let mut strace = stage.program("strace");
    strace.args(["-f", "-ttt", "-qq", "-e", "signal=none", "-e"]);
    strace.arg(format!("trace={SYNCS}")).arg("-o").arg(&log);
    let worker = stage.handoff(["worker", "--until-empty", "--slots", "1", "--script"]);
    strace.arg(worker.get_program()).args(worker.get_args());
    let output = strace.arg(script).output().context("cannot start strace")?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        bail!("{strace:?} fails: {reason}");
    }
    let waits = times(&fs::read_to_string(&log)?)?;
    let spans = Chronicle::read(&stage)?.gaps();
    let within = |(from, to): &(Timestamp, Timestamp)| {
        let count = waits.iter().filter(|at| (from..to).contains(at)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    };
    let mut counts: Vec<u32> = spans.iter().map(within).collect();
    counts.sort_unstable();
    Ok(counts.get(counts.len() / 2).copied())
}

/// When each call began; one that another process interrupted is told in two lines, of which the second is none.
fn times(log: &str) -> Result<Vec<Timestamp>> {
    let begun = log.lines().filter(|line| !line.contains("resumed>"));
    let calls = begun.filter(|line| line.contains('('));
    calls
        .map(|line| {
            let time = line
                .split_whitespace()
                .nth(1)
                .context("a call has a time")?;
            let (seconds, micros) = time.split_once('.').context("with a fraction")?;
            let micros: i64 = micros.parse()?;
            let time = Timestamp::from_microsecond(seconds.parse::<i64>()? * 1_000_000 + micros);
            Ok(time?)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_counts_once_when_it_begins() {
        let log = "12 1700000000.250000 fdatasync(4 <unfinished ...>\n\
                   13 1700000000.500000 fsync(7) = 0\n\
                   12 1700000001.000000 <... fdatasync resumed>) = 0\n\
                   12 1700000002.000000 +++ exited with 0 +++\n";
        let found: Vec<_> = times(log).unwrap();
        let at = |micros: i64| Timestamp::from_microsecond(1_700_000_000_000_000 + micros).unwrap();
        assert_eq!(found, [at(250_000), at(500_000)]);
    }
}
