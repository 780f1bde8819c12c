//! How much memory some processes have.

use std::fs;

/// In bytes. Counting what processes share once is slow, so it is done only when the simple sum is over `bound`.
pub(super) fn of(pids: &[u32], bound: u64) -> u64 {
    let resident = |pid: &u32| resident(*pid).unwrap_or(0);
    let sum: u64 = pids.iter().map(resident).sum();
    if sum <= bound {
        return sum;
    }
    // One that does not let us see its share counts with all that it has.
    let own = |pid: &u32| share(*pid).unwrap_or_else(|| resident(pid));
    pids.iter().map(own).sum()
}

fn resident(pid: u32) -> Option<u64> {
    bytes_after(
        &fs::read_to_string(format!("/proc/{pid}/status")).ok()?,
        "VmRSS:",
    )
}

fn share(pid: u32) -> Option<u64> {
    bytes_after(
        &fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?,
        "Pss:",
    )
}

fn bytes_after(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
