//! What a package costs: sealing and receiving a context beside hashing and syncing the same bytes, the memory that long
//! attachments take, and a list beside reading the headers.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::race::{Lane, Times, race, to_the_end};
use super::report::{Report, Target};
use super::samples::{milliseconds, times};
use super::stage::Stage;
use super::{Run, binaries};

/// A context of one megabyte: as many keys as this, each as long as one argument may be.
const KEYS: usize = 10;
const LENGTH: usize = 100_000;
const PACKAGES: usize = 10_000;
const ATTACHMENT: usize = 100 * 1024 * 1024;
/// Limits that are tried, in MiB: the smallest that is enough is the figure.
const LIMITS: [u32; 8] = [8, 12, 16, 24, 32, 48, 64, 128];

pub(super) fn bench(run: &mut Run) -> Result<Report> {
    let binary = binaries::handoff(&run.profile)?;
    let mut report = run.report("package");
    seal_and_receive(&binary, run, &mut report)?;
    memory(&binary, run, &mut report)?;
    list(&binary, run, &mut report)?;
    Ok(report)
}

fn seal_and_receive(binary: &Path, run: &mut Run, report: &mut Report) -> Result<()> {
    let stage = Stage::set(binary, None)?;
    for number in 0..KEYS {
        let value = "0123456789 ".repeat(LENGTH / 11);
        stage.say(["context", "set", &format!("k{number}"), &value, "--text"])?;
    }
    let empty = binaries::empty(&run.profile)?;
    let made = answer(stage.handoff(["package", "create", "--reusable", "--json"]))?;
    let id = made["id"]
        .as_str()
        .context("a package has an id")?
        .to_owned();
    let file = made["path"]
        .as_str()
        .context("it lies in a file")?
        .to_owned();
    let copy = stage.directory().join("copy");
    let floor = format!(
        "sha256sum '{file}' && dd if='{file}' of='{}' bs=1M conv=fsync status=none",
        copy.display()
    );
    let lanes = vec![
        Lane::new("empty", || to_the_end(stage.program(&empty))),
        Lane::new("sha256sum and fsync", || {
            let mut shell = stage.program("sh");
            shell.args(["-c", &floor]);
            to_the_end(shell)
        }),
        Lane::new("create", || {
            to_the_end(stage.handoff(["package", "create"]))
        }),
        Lane::new("receive", || {
            to_the_end(stage.handoff(["package", "receive", &id]))
        }),
    ];
    let found = race(lanes, run.scope.choose(10, 60), &mut run.order)?;
    for name in ["create", "receive"] {
        judge(report, &found, name);
    }
    report.keep_all(found);
    Ok(())
}

fn judge(report: &mut Report, found: &Times, name: &'static str) {
    let floor = found["sha256sum and fsync"].median();
    report.figure(
        format!("`package {name}` of a context of 1 MB, times `sha256sum` and one fsync"),
        (times(found[name].median(), floor), "×"),
        Target::AtMost(3.0),
    );
    let (taken, floor) = (milliseconds(found[name].median()), milliseconds(floor));
    report.remark(format!(
        "`package {name}`: {taken:.1} ms; the floor: {floor:.1} ms"
    ));
}

fn answer(mut command: Command) -> Result<Value> {
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("{command:?} ended with {}", output.status);
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn memory(binary: &Path, run: &mut Run, report: &mut Report) -> Result<()> {
    let database = match run.server()? {
        Some(server) => Some(handoff_testkit::postgres::Database::create(server)?),
        None => None,
    };
    let mut stages = vec![("", Stage::set(binary, None)?)];
    if let Some(database) = &database {
        stages.push((", on a server", Stage::set(binary, Some(database))?));
    }
    let length = run.scope.choose(ATTACHMENT / 10, ATTACHMENT);
    for (place, stage) in &stages {
        let line = "a line of a log, which is as good as any other\n";
        stage.write("big.log", &line.repeat(length / line.len()));
        let least = least(stage, binary, &["package", "create", "--attach", "big.log"])?;
        report.figure(
            format!("memory of `create` with 100 MB attached{place}"),
            (least, "MiB"),
            Target::AtMost(64.0),
        );
        let made = answer(stage.handoff(["package", "create", "--attach", "big.log", "--json"]))?;
        let id = made["id"].as_str().context("a package has an id")?;
        let taken = least_for(stage, binary, |number| {
            let output = format!("out{number}");
            ["package", "attachment", id, "big.log", "-o", &output].map(str::to_owned)
        })?;
        report.figure(
            format!("memory of `attachment`{place}"),
            (taken, "MiB"),
            Target::AtMost(64.0),
        );
    }
    Ok(())
}

fn least(stage: &Stage, binary: &Path, words: &[&str]) -> Result<f64> {
    least_for(stage, binary, |_| {
        words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()
    })
}

/// The smallest limit of memory within which a command works.
fn least_for<W: IntoIterator<Item = String>>(
    stage: &Stage,
    binary: &Path,
    words: impl Fn(u32) -> W,
) -> Result<f64> {
    for limit in LIMITS {
        let mut command = stage.program("prlimit");
        command.arg(format!("--data={}", u64::from(limit) << 20));
        command.arg(binary).args(words(limit));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        if command.status()?.success() {
            return Ok(f64::from(limit));
        }
    }
    bail!("it does not work within any limit")
}

fn list(binary: &Path, run: &mut Run, report: &mut Report) -> Result<()> {
    let stage = Stage::set(binary, None)?;
    stage.say(["context", "set", "k", "1"])?;
    let count = run.scope.choose(PACKAGES / 50, PACKAGES);
    fill(&stage, binary, count)?;
    let directory = shelf(&stage)?;
    let empty = binaries::empty(&run.profile)?;
    let read = format!("head -qn1 {}/hof-*.json", directory.display());
    let limit = count.to_string();
    let lanes = vec![
        Lane::new("empty", || to_the_end(stage.program(&empty))),
        Lane::new("headers", || {
            let mut shell = stage.program("sh");
            shell.args(["-c", &read]);
            to_the_end(shell)
        }),
        Lane::new("list", || {
            to_the_end(stage.handoff(["package", "list", "--limit", &limit]))
        }),
    ];
    let found = race(lanes, run.scope.choose(5, 20), &mut run.order)?;
    let ratio = times(found["list"].median(), found["headers"].median());
    report.figure(
        format!("`package list` over {count} packages, times reading their headers"),
        (ratio, "×"),
        Target::AtMost(2.0),
    );
    report.keep_all(found);
    Ok(())
}

/// So many packages, made by the product itself.
fn fill(stage: &Stage, binary: &Path, count: usize) -> Result<()> {
    let script = format!(
        "seq {count} | xargs -P 4 -I N '{}' package create --key N",
        binary.display()
    );
    let mut shell = stage.program("sh");
    shell.args(["-c", &script]).stdout(Stdio::null());
    let status = shell.stderr(Stdio::null()).status()?;
    if !status.success() {
        bail!("the packages could not be made: {status}");
    }
    Ok(())
}

fn shelf(stage: &Stage) -> Result<PathBuf> {
    let mut projects = std::fs::read_dir(stage.state().join("packages"))?;
    let project = projects.next().context("there is a project")??;
    Ok(project.path())
}
