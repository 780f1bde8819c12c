//! Skipping a test, loudly: what was skipped is printed and counted by the test run.
//!
//! Rust's harness knows no skip at run time, so a skipped test counts as passed there. `cargo
//! xtask test` therefore names a log in [`SKIP_LOG`] and fails on every line of it that is not in
//! the checked-in list, `crates/xtask/skips.toml`.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use crate::{Need, ambient};

/// The variable that names the log; each line of it is a test, a tab, and a condition.
pub const SKIP_LOG: &str = "HANDOFF_SKIP_LOG";

/// Whether the test that runs now must return, because something it needs is absent.
///
/// ```
/// # use handoff_testkit::{Need, skip_without};
/// fn survives_power_loss() {
///     if skip_without(&[Need::Root, Need::LoopDevice]) {
///         return;
///     }
/// }
/// ```
#[must_use]
pub fn skip_without(needs: &[Need]) -> bool {
    let unmet = needs.iter().find(|need| !need.is_met());
    if let Some(need) = unmet {
        skip(&current_test(), *need);
    }
    unmet.is_some()
}

/// Records that `test` does not run for want of `missing`.
///
/// # Panics
/// When the log cannot be written: a skip that nobody counts is a test that silently passes.
pub fn skip(test: &str, missing: Need) {
    let condition = missing.absence();
    ambient::say(&format!("SKIPPED {test}: {condition}"));
    if let Some(log) = ambient::variable(SKIP_LOG) {
        append(Path::new(&log), &format!("{test}\t{condition}\n"))
            .expect("the skip log is writable");
    }
}

/// In one write, as the tests of a run append at the same time.
fn append(log: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(log)?
        .write_all(line.as_bytes())
}

/// `binary::path::of::test` under nextest. Plain `cargo test` names only the thread, and not even
/// that when it runs one test at a time; its skips are read by a person, not by xtask.
fn current_test() -> String {
    let variable = |name| ambient::variable(name).map(|value| value.to_string_lossy().into_owned());
    match (variable("NEXTEST_BINARY_ID"), variable("NEXTEST_TEST_NAME")) {
        (Some(binary), Some(test)) => format!("{binary} {test}"),
        _ => std::thread::current()
            .name()
            .unwrap_or("a test without a name")
            .to_owned(),
    }
}
