//! What processes use of a core, as the kernel has counted it.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::event::{Timespec, poll};

/// What these processes use of one core, in percent.
pub fn share_of_a_core(processes: &[u32], span: Duration) -> Result<f64> {
    let used = || -> Result<u64> { processes.iter().map(|pid| nanoseconds(*pid)).sum() };
    let before = used()?;
    pause(span);
    let used = Duration::from_nanos(used()?.saturating_sub(before));
    Ok(used.as_secs_f64() / span.as_secs_f64() * 100.0)
}

/// The time that a process has run, to the nanosecond; its threads are one.
fn nanoseconds(pid: u32) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat"))?;
    let first = text.split_whitespace().next();
    Ok(first.context("`schedstat` begins with a time")?.parse()?)
}

/// Lets time pass.
pub fn pause(span: Duration) {
    let timeout = Timespec::try_from(span).ok();
    // A signal only makes it shorter.
    poll(&mut [], timeout.as_ref()).ok();
}
