//! D05 and the race for a package: sealing is killed at its system calls, and many want the one that can be had once.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result};
use handoff_testkit::{Fault, Injection, Prefix, When};
use serde_json::Value;

use super::product::{Product, exit, expect_code};
use super::stage::{Findings, Stage, progress};

/// The calls that a package comes to be by.
const CALLS: [&str; 7] = [
    "write",
    "fsync",
    "fdatasync",
    "linkat",
    "renameat2",
    "openat2",
    "pwrite64",
];
/// More of a kind than the command makes.
const MOST: u16 = 60;
const RACERS: usize = 100;

pub(super) fn kills(stage: &mut Stage) -> Result<()> {
    stage.trial("create, killed at its calls", |stage| {
        killed_everywhere(stage, &stage.product())
    });
    Ok(())
}

fn killed_everywhere(stage: &Stage, product: &Product) -> Result<Findings> {
    product.answer(["context", "set", "half", "1"])?;
    product.repo.write("log.txt", "hello\n");
    let step = stage.count(3, 1);
    let mut findings = Findings::default();
    for call in CALLS {
        let first = stage.dice(call).index(step);
        for number in (1..MOST).skip(first).step_by(step) {
            let struck = Injection {
                syscalls: &[call],
                fault: Fault::Kill,
                when: When::nth(number),
            };
            let words = ["package", "create", "--attach", "log.txt"];
            let output = product.run_under(&struck.prefix(), words);
            if output.code() == Some(exit::DONE) {
                // It makes no more calls of this kind.
                break;
            }
            findings.count += 1;
            let found = half_made(product)?.into_iter();
            let place = format!("{call} {number}");
            findings
                .complaints
                .extend(found.map(|it| format!("{place}: {it}")));
        }
    }
    findings.complaints.extend(swept(product)?);
    findings.complaints.extend(product.audit()?);
    Ok(findings)
}

/// What is listed, or lies under the name of a package, and is not whole.
fn half_made(product: &Product) -> Result<Vec<String>> {
    let listed = product.answer(["package", "list", "--limit", "10000"])?;
    let damaged = listed["damaged"].as_array().into_iter().flatten();
    let mut complaints: Vec<_> = damaged.map(|it| format!("listed: {it}")).collect();
    for path in package_files(product)? {
        let bytes = fs::read(&path)?;
        if !is_whole(&bytes) {
            complaints.push(format!("{} has {} bytes", path.display(), bytes.len()));
        }
    }
    Ok(complaints)
}

/// Whether a file has a header that announces exactly the bytes that follow it.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        return false;
    };
    let header: Option<Value> = serde_json::from_slice(&bytes[..end]).ok();
    let announced = header.and_then(|header| header["length"].as_u64());
    announced == Some((bytes.len() - end - 1) as u64)
}

fn package_files(product: &Product) -> Result<Vec<PathBuf>> {
    let mut found = vec![];
    let packages = product.home().join("packages");
    // One that was killed early has made no place for packages.
    if !packages.exists() {
        return Ok(found);
    }
    for project in fs::read_dir(packages)?.flatten() {
        let files = fs::read_dir(project.path())?.flatten().map(|it| it.path());
        found.extend(files.filter(|path| path.extension().is_some_and(|it| it == "json")));
    }
    Ok(found)
}

/// Leftovers are collected, and a package that nobody recorded can be taken in.
fn swept(product: &Product) -> Result<Vec<String>> {
    let swept = product.answer(["package", "gc", "--apply"])?;
    let mut complaints = vec![];
    for path in swept["unknown"].as_array().into_iter().flatten() {
        let path = path.as_str().context("a path is text")?;
        product.answer(["package", "import", path])?;
    }
    let packages = product.home().join("packages");
    for project in fs::read_dir(packages)?.flatten() {
        let names = fs::read_dir(project.path())?.flatten();
        let left = names.map(|it| it.file_name().to_string_lossy().into_owned());
        let left = left.filter(|name| name.ends_with(".tmp"));
        complaints.extend(left.map(|name| format!("left after the sweep: {name}")));
    }
    let again = product.answer(["package", "gc"])?;
    if again["unknown"].as_array().is_none_or(|it| !it.is_empty()) {
        complaints.push(format!("still unknown: {}", again["unknown"]));
    }
    Ok(complaints)
}

pub(super) fn race(stage: &mut Stage) -> Result<()> {
    for (store, product, _lodging) in stage.products()? {
        let what = format!("{store}: {RACERS} want one");
        stage.trial(&what, |stage| {
            // On a server each of them opens a connection, and a machine has only so many.
            let (rounds, racers) = match store {
                "postgres" => (stage.count(1, 50), 20),
                _ => (stage.count(20, 1000), RACERS),
            };
            race_often(stage, &product, rounds, racers)
        });
    }
    Ok(())
}

fn race_often(stage: &Stage, product: &Product, rounds: usize, racers: usize) -> Result<Findings> {
    let mut dice = stage.dice("race");
    let mut findings = Findings::default();
    let mut kills = 0;
    product.answer(["context", "set", "half", "1"])?;
    for round in 0..rounds {
        progress("race", round, rounds);
        let made = product.answer(["package", "create"])?;
        let id = made["id"]
            .as_str()
            .context("a package has an id")?
            .to_owned();
        let victim = round.is_multiple_of(10).then(|| dice.index(racers));
        kills += usize::from(victim.is_some());
        let complaints = one_round(product, &id, racers, victim)?;
        let told = complaints
            .into_iter()
            .map(|it| format!("round {round}: {it}"));
        findings.complaints.extend(told);
        findings.count += 1;
    }
    findings.note = format!("{kills} of them with a kill");
    findings.complaints.extend(product.audit()?);
    Ok(findings)
}

/// All want the package at once; one of them may be killed meanwhile. Nobody gets it twice, and it is not lost.
fn one_round(
    product: &Product,
    id: &str,
    racers: usize,
    victim: Option<usize>,
) -> Result<Vec<String>> {
    let start = |_| -> Result<Child> {
        let mut command = product.command(&Prefix::none(), ["package", "receive", id]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command.stdin(Stdio::null()).spawn()?)
    };
    let mut children: Vec<Child> = (0..racers).map(start).collect::<Result<_>>()?;
    if let Some(victim) = victim {
        children[victim].kill()?;
    }
    let mut codes = BTreeSet::new();
    let mut won = 0;
    for (number, mut child) in children.into_iter().enumerate() {
        let code = child.wait()?.code();
        won += usize::from(code == Some(exit::DONE));
        if victim != Some(number) {
            codes.insert(code);
        }
    }
    let mut complaints = vec![];
    if codes
        .iter()
        .any(|code| !matches!(code, Some(exit::DONE | exit::CONFLICT)))
    {
        complaints.push(format!("they ended with {codes:?}"));
    }
    let shown = product.answer(["package", "show", id])?;
    let is_over = shown["state"] == "consumed";
    let is_victims = victim.is_some() && won == 0;
    if won > 1 || (won == 1) != is_over && !is_victims {
        complaints.push(format!("{won} got it, and it is {}", shown["state"]));
    }
    if !is_over {
        // The one who was killed had claimed it; a person gives it back.
        let freed = product.run(["package", "release", id]);
        complaints.extend(expect_code(
            &freed,
            "release",
            &[exit::DONE, exit::CONFLICT],
        ));
        product.answer(["package", "receive", id])?;
    }
    Ok(complaints)
}
