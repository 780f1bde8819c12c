//! What sessions cost: how soon an event is told, what a holder needs of memory and time, how fast output goes through it, and
//! what a list of many takes. tmux does some of the same, and runs in turns with us where it does.

mod flood;
mod holder;
mod hostel;
pub(super) mod send;

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use handoff_core::Timestamp;
use handoff_core::time::Clock as _;
use handoff_process::SystemClock;

pub(super) use self::holder::pss;
use self::hostel::Hostel;
use super::race::{Lane, race, to_the_end};
use super::report::{Report, Target};
use super::samples::{Samples, milliseconds};
use super::{Run, binaries};
use handoff_chores::processor_time::share_of_a_core;
use handoff_chores::program::timed;

/// How many sessions live side by side.
const MANY: usize = 100;

pub(super) fn bench(run: &mut Run) -> Result<Report> {
    let binary = binaries::handoff(&run.profile)?;
    let mut report = run.report("sessions");
    follower(&binary, run, &mut report)?;
    flood::through(&binary, run, &mut report)?;
    holder::memory(&binary, run, &mut report)?;
    holder::repaint(&binary, run, &mut report)?;
    many(&binary, run, &mut report)?;
    Ok(report)
}

/// From the time that an event bears to its line at one who follows.
fn follower(binary: &std::path::Path, run: &Run, report: &mut Report) -> Result<()> {
    let hostel = Hostel::open(binary)?;
    // It says by itself what it does, again and again.
    let busy = "exec 3<> <(:); while :; do for s in working idle; do printf '\\033]7501;state=%s\\033\\\\' $s; \
                read -t 0.02 -u 3; done; done";
    hostel.run("told", &["bash", "--", "-c", busy])?;
    let mut follower = hostel
        .handoff(["events", "--id", "told"])
        .stdout(Stdio::piped())
        .spawn()?;
    let lines = BufReader::new(follower.stdout.take().context("it is piped")?).lines();
    let clock = SystemClock::read()?;
    let mut times = vec![];
    let wanted = run.scope.choose(20, 200);
    for line in lines {
        let now = clock.now().wall;
        let event: serde_json::Value = serde_json::from_str(&line?)?;
        let at: Timestamp = event["ts"]
            .as_str()
            .context("an event has a time")?
            .parse()?;
        if event["seq"].as_u64() > Some(2) {
            times.push(Duration::try_from(now.duration_since(at)).unwrap_or_default());
        }
        if times.len() >= wanted {
            break;
        }
    }
    follower.kill()?;
    follower.wait()?;
    if times.len() < wanted {
        bail!("the follower heard only {} events", times.len());
    }
    let samples = Samples::of(times);
    report.figure(
        "an event at its follower, p95",
        (milliseconds(samples.percentile(95)), "ms"),
        Target::AtMost(5.0),
    );
    report.keep("event to follower", samples);
    Ok(())
}

/// A hundred sessions that do nothing: what they cost, and what listing them takes.
fn many(binary: &std::path::Path, run: &mut Run, report: &mut Report) -> Result<()> {
    let hostel = Hostel::open(binary)?;
    let (begun, first_half) = timed(|| begin(&hostel, 0..MANY));
    begun?;
    let processes = hostel.processes()?;
    let span = Duration::from_secs(run.scope.choose(5, 30));
    let share = share_of_a_core(&processes, span)?;
    report.figure(
        format!("{MANY} idle sessions, all their holders and wardens"),
        (share, "% of a core"),
        Target::AtMost(0.2),
    );
    let lanes = vec![
        Lane::new("version", || to_the_end(hostel.handoff(["version"]))),
        Lane::new("ps", || to_the_end(hostel.handoff(["ps"]))),
    ];
    let times = race(lanes, run.scope.choose(20, 100), &mut run.order)?;
    let above = milliseconds(times["ps"].median()) - milliseconds(times["version"].median());
    report.figure(
        format!("`ps` with {MANY} sessions above start-up"),
        (above, "ms"),
        Target::AtMost(20.0),
    );
    report.keep_all(times);
    let mut largest = processes.iter().map(|pid| pss(*pid));
    let largest = largest.try_fold(0.0, |most: f64, it| Ok::<_, anyhow::Error>(most.max(it?)))?;
    report.figure(
        "the largest holder of those (L1)",
        (largest, "MB PSS"),
        Target::AtMost(10.0),
    );
    let (begun, second_half) = timed(|| begin(&hostel, MANY..2 * MANY));
    begun?;
    report.figure(
        format!(
            "{} sessions have started, one after the other (L2)",
            2 * MANY
        ),
        ((first_half + second_half).as_secs_f64(), "s"),
        Target::AtMost(60.0),
    );
    let list = || to_the_end(hostel.handoff(["status", "--sessions"]));
    let times = race(
        vec![Lane::new("status", list)],
        run.scope.choose(20, 60),
        &mut run.order,
    )?;
    report.figure(
        format!("`status --sessions` with {} sessions, p95 (L2)", 2 * MANY),
        (milliseconds(times["status"].percentile(95)), "ms"),
        Target::AtMost(150.0),
    );
    report.keep_all(times);
    Ok(())
}

/// Sessions that do nothing.
fn begin(hostel: &Hostel, numbers: std::ops::Range<usize>) -> Result<()> {
    for number in numbers {
        hostel.run(&format!("idle-{number}"), &["sh", "--", "-c", "exec cat"])?;
    }
    Ok(())
}
