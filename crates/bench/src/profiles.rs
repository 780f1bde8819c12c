//! What each way to build costs and brings: for choosing the profile that is shipped.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::fill::Past;
use super::race::{Lane, Times, race, to_the_end};
use super::report::{self, Report};
use super::samples::milliseconds;
use super::stage::Stage;
use super::{Run, binaries};
use handoff_chores::program::{self, timed};

const TASKS: usize = 10_000;

/// A profile, described by what it changes of `release`.
struct Candidate {
    name: &'static str,
    version_lane: &'static str,
    list_lane: &'static str,
    changes: &'static [&'static str],
}

/// Panics unwind in all of them: a worker that panics must still let go of what it holds.
const CANDIDATES: [Candidate; 4] = [
    Candidate {
        name: "bench-plain",
        version_lane: "version, plain",
        list_lane: "queue list, plain",
        changes: &[],
    },
    Candidate {
        name: "bench-thin",
        version_lane: "version, thin",
        list_lane: "queue list, thin",
        changes: &["lto=\"thin\"", "codegen-units=1"],
    },
    Candidate {
        name: "bench-fat",
        version_lane: "version, fat",
        list_lane: "queue list, fat",
        changes: &["lto=\"fat\"", "codegen-units=1"],
    },
    Candidate {
        name: "bench-small",
        version_lane: "version, small",
        list_lane: "queue list, small",
        changes: &["lto=\"fat\"", "codegen-units=1", "opt-level=\"s\""],
    },
];

struct Built {
    binary: PathBuf,
    time: Duration,
    size: u64,
}

pub(super) fn bench(run: &mut Run) -> Result<Report> {
    let built = CANDIDATES
        .iter()
        .map(Candidate::build)
        .collect::<Result<Vec<_>>>()?;
    let stage = Stage::filled(&built[0].binary, None, TASKS, Past::Added)?;
    let mut lanes = Vec::new();
    for (candidate, built) in CANDIDATES.iter().zip(&built) {
        lanes.push(Lane::new(candidate.version_lane, || {
            let mut command = stage.program(&built.binary);
            command.arg("version");
            to_the_end(command)
        }));
        lanes.push(Lane::new(candidate.list_lane, || {
            let mut command = stage.program(&built.binary);
            command.args(["queue", "list"]);
            to_the_end(command)
        }));
    }
    let times = race(lanes, run.scope.choose(50, 300), &mut run.order)?;
    let mut report = run.report("profiles");
    report.remark(summary(&built, &times));
    report.keep_all(times);
    Ok(report)
}

impl Candidate {
    /// From nothing, so that the build's time can be compared.
    fn build(&self) -> Result<Built> {
        let mut args = vec!["--package", "handoff", "--profile", self.name, "--config"];
        let inherits = format!("profile.{}.inherits=\"release\"", self.name);
        args.push(&inherits);
        let changes: Vec<_> = self
            .changes
            .iter()
            .map(|change| format!("profile.{}.{change}", self.name))
            .collect();
        args.extend(changes.iter().flat_map(|change| ["--config", change]));
        let target = program::workspace_root().join("target/bench/profiles");
        let built = target.join(self.name);
        if built.exists() {
            fs::remove_dir_all(&built)?;
        }
        let target = target.to_str().context("the workspace's path is text")?;
        args.extend(["--target-dir", target]);
        let (binary, time) = timed(|| binaries::build(&args));
        let binary = binaries::install(&binary?)?;
        let size = fs::metadata(&binary)?.len();
        Ok(Built { binary, time, size })
    }
}

fn summary(built: &[Built], times: &Times) -> String {
    let rows = CANDIDATES.iter().zip(built).map(|(candidate, built)| {
        let median = |lane| format!("{:.2}", milliseconds(times[lane].median()));
        vec![
            if candidate.changes.is_empty() {
                "release".to_owned()
            } else {
                candidate.changes.join(" ")
            },
            format!("{:.0}", built.time.as_secs_f64()),
            format!("{:.2}", built.size as f64 / f64::from(1 << 20)),
            median(candidate.version_lane),
            median(candidate.list_lane),
        ]
    });
    let header = [
        "profile",
        "build s",
        "size MiB",
        "version ms",
        "queue list ms",
    ];
    report::table(header, rows)
}
