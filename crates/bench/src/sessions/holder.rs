//! What a holder needs: memory after much output, and time for a program that paints.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::hostel::{Hostel, pid};
use crate::Run;
use crate::report::{Report, Target};
use handoff_chores::processor_time::{pause, share_of_a_core};

const MEGABYTE: usize = 1_000_000;

/// Memory of a holder at 200x50 after much output.
pub(super) fn memory(binary: &Path, run: &Run, report: &mut Report) -> Result<()> {
    let hostel = Hostel::open(binary)?;
    let length = run.scope.choose(10, 100) * MEGABYTE;
    let flood = format!(
        "yes 'The quick brown fox jumps over the lazy dog.' | head -c {length}; touch done; exec cat"
    );
    let session = hostel.run("flood", &["sh", "--", "-c", &flood])?;
    let done = Path::new(session["cwd"].as_str().context("a session has a place")?).join("done");
    while !done.exists() {
        pause(Duration::from_millis(20));
    }
    pause(Duration::from_secs(1));
    let megabytes = pss(pid(&session)?)?;
    report.figure(
        format!("a holder after {} MB of output", length / MEGABYTE),
        (megabytes, "MB PSS"),
        Target::AtMost(8.0),
    );
    Ok(())
}

/// Time of a holder whose program paints the whole screen 15 times a second.
pub(super) fn repaint(binary: &Path, run: &Run, report: &mut Report) -> Result<()> {
    let hostel = Hostel::open(binary)?;
    let paint = "row=$(printf '\\033[32m%0190d\\033[0m' 0); n=0; exec 3<> <(:); while :; do n=$((n+1)); \
                 s=$'\\033[H'; for i in {1..48}; do s+=\"$n $row\"$'\\r\\n'; done; printf %s \"$s\"; \
                 read -t 0.0666 -u 3; done";
    let session = hostel.run("paint", &["bash", "--", "-c", paint])?;
    pause(Duration::from_secs(1));
    let span = Duration::from_secs(run.scope.choose(5, 20));
    let share = share_of_a_core(&[pid(&session)?], span)?;
    report.figure(
        "a holder whose program paints 200x50 15 times a second",
        (share, "% of a core"),
        Target::AtMost(0.5),
    );
    Ok(())
}

/// What a process has of memory, with its share of what others have too.
pub(crate) fn pss(pid: u32) -> Result<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kilobytes = line
        .context("a share of memory")?
        .trim()
        .trim_end_matches(" kB");
    Ok(kilobytes.parse::<f64>()? * 1024.0 / 1e6)
}
