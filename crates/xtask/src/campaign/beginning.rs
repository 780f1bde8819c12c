//! D02S: whoever begins a session is killed at every system call. The session is there or not, never half of it.

use std::num::NonZeroU16;
use std::path::Path;

use anyhow::{Result, ensure};
use handoff_testkit::{Fault, Injection, When};

use super::hostel::Hostel;
use super::stage::{Findings, Stage, progress};
use super::sweep::{CALLS, Point, points_in};

/// Small tiers look at so many points.
const FEW: usize = 6;
/// A session that ends by itself: whoever traces it waits for that.
const WORDS: [&str; 9] = [
    "run", "--detach", "--id", "born", "sh", "--", "-c", "exit 3", "x",
];

pub(super) fn kills(stage: &mut Stage) -> Result<()> {
    stage.trial("session start", |stage| {
        let hostel = Hostel::open(stage.product());
        hostel.say(WORDS)?;
        let points = points(&hostel)?;
        ensure!(!points.is_empty(), "the command made no call at all");
        let step = stage.count(points.len().div_ceil(FEW), 1);
        let first = stage.dice("start").index(step);
        let points: Vec<_> = points.into_iter().skip(first).step_by(step).collect();
        let mut complaints = vec![];
        for (done, point) in points.iter().enumerate() {
            progress("points", done, points.len());
            let here = |it: String| format!("{} {}: {it}", point.call, point.number);
            complaints.extend(strike(&hostel, *point)?.into_iter().map(here));
        }
        Ok(Findings {
            count: points.len(),
            complaints,
            ..Findings::default()
        })
    });
    Ok(())
}

/// Every call of the starter, the warden and the holder.
fn points(hostel: &Hostel) -> Result<Vec<Point>> {
    let product = &hostel.product;
    let log = product.env.work().join("trace");
    let trace = format!("trace={}", CALLS.join(","));
    let mut command = product.env.command("strace");
    command
        .args(["-f", "-qq", "-y", "-e", &trace, "-o"])
        .arg(&log);
    command.arg("--").arg(product.env.binary()).args(WORDS);
    command.current_dir(product.repo.path());
    let output = product.env.run(command);
    ensure!(
        output.status.success(),
        "cannot trace: {}",
        output.snapshot()
    );
    Ok(points_in(&std::fs::read_to_string(&log)?, Path::is_dir))
}

/// Kills whoever comes to this point, and says what is wrong afterwards.
fn strike(hostel: &Hostel, point: Point) -> Result<Vec<String>> {
    let number = NonZeroU16::new(point.number).expect("calls are counted from 1");
    let prefix = Injection {
        syscalls: &[point.call],
        fault: Fault::Kill,
        when: When::Nth(number),
    }
    .prefix();
    hostel.product.run_under(&prefix, WORDS);
    let mut complaints = hostel.left()?;
    let listed = hostel.listed("born")?;
    let state = listed["state"].as_str().unwrap_or("nothing");
    if !matches!(state, "exited" | "lost" | "nothing") {
        complaints.push(format!("nothing runs, and it is listed as {state}"));
    }
    let again = hostel.product.run(WORDS);
    if !again.status.success() {
        complaints.push(format!("cannot start it again: {}", again.snapshot()));
    }
    complaints.extend(hostel.left()?);
    Ok(complaints)
}
