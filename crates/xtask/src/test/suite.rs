//! The tests of the workspace, with a server for them and an eye on what they skip.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use handoff_testkit::SKIP_LOG;
use handoff_testkit::postgres::{Cluster, Disk, VARIABLE};

use super::junit::Run;
use super::skips::{AllowedSkips, Skipped, read_log};
use handoff_chores::output;
use handoff_chores::program::{cargo, status, workspace_root};
use handoff_chores::tally::Tally;

pub(super) fn run() -> Result<Tally> {
    let scratch = tempfile::tempdir()?;
    let (junit, skip_log) = (
        scratch.path().join("junit.xml"),
        scratch.path().join("skips"),
    );
    let nextest_config = scratch.path().join("nextest.toml");
    // Beside the repository's configuration, as its own JUnit path would be shared by all runs.
    fs::write(
        &nextest_config,
        format!("[profile.default.junit]\npath = {junit:?}\n"),
    )?;

    let cluster = Cluster::start(Disk::Unsynced).context("cannot start a private PostgreSQL")?;
    let mut nextest = cargo(["nextest", "run", "--workspace", "--tool-config-file"]);
    nextest.arg(format!("xtask:{}", nextest_config.display()));
    // Half of the time of a test goes into waiting: for the disk, and for others to end.
    let cores = std::thread::available_parallelism()?.get();
    nextest.args(["--test-threads", &(cores * 2).to_string()]);
    nextest
        .env(VARIABLE, cluster.url())
        .env(SKIP_LOG, &skip_log);
    let ended = status(&mut nextest)?;
    drop(cluster);

    let Ok(report) = fs::read_to_string(&junit) else {
        bail!("no test was run: nextest ended with {ended}");
    };
    let mut run = Run::parse(&report)?;
    let parts = ignored()?;
    run.tests
        .extend(parts.iter().map(|part| part.test().to_owned()));
    refuse_unlisted(&parts)?;
    run.tally.skipped = judge_skips(&run, &skip_log)?;
    run.tally.passed = run.tally.passed.saturating_sub(run.tally.skipped);
    if !ended.success() && run.tally.failed == 0 {
        bail!("nextest ended with {ended}, though no test failed");
    }
    Ok(run.tally)
}

/// Shows what was skipped and counts it; a skip that is not in the list is an error.
fn judge_skips(run: &Run, log: &Path) -> Result<usize> {
    let log = match fs::read_to_string(log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        log => log.context("cannot read the log of skipped tests")?,
    };
    let skipped = read_log(&log);
    if !skipped.is_empty() {
        output::say(&format!("!! {} SKIPPED:", skipped.len()));
    }
    for test in &skipped {
        output::say(&format!("!!   {test}"));
    }

    refuse_unlisted(&skipped)?;
    let allowed = allowed()?;
    let stale = allowed.stale(&run.tests);
    if !stale.is_empty() {
        bail!(
            "`crates/xtask/skips.toml` allows tests that do not exist: {}",
            stale.join(", ")
        );
    }
    Ok(skipped.len())
}

fn allowed() -> Result<AllowedSkips> {
    let list = fs::read_to_string(workspace_root().join("crates/xtask/skips.toml"))?;
    AllowedSkips::parse(&list)
}

fn refuse_unlisted(skipped: &[Skipped]) -> Result<()> {
    let allowed = allowed()?;
    let refused = allowed.refused(skipped);
    if refused.is_empty() {
        return Ok(());
    }
    let refused: Vec<String> = refused.iter().map(ToString::to_string).collect();
    bail!("not in `crates/xtask/skips.toml`: {}", refused.join(", "));
}

/// What is marked to be ignored: parts that other tests play in a second process, and nothing else.
fn ignored() -> Result<Vec<Skipped>> {
    let words = [
        "nextest",
        "list",
        "--workspace",
        "--run-ignored",
        "only",
        "-T",
        "oneline",
    ];
    let output = cargo(words).output()?;
    if !output.status.success() {
        bail!("cannot list the ignored tests: {}", output.status);
    }
    let listed = String::from_utf8(output.stdout)?;
    Ok(listed.lines().map(Skipped::ignored).collect())
}
