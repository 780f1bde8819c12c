//! D05 and the race for a package: sealing is killed at its system calls, and many want the one that can be had once.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::{fs, iter};

use anyhow::{Context as _, Result, ensure};
use handoff_testkit::{Fault, Injection, Prefix, When};
use serde_json::Value;

use super::product::{Product, exit, expect_code};
use super::stage::{Findings, Stage, progress};

/// The calls that a package comes to be by.
pub(super) const CALLS: [&str; 7] = [
    "write",
    "fsync",
    "fdatasync",
    "linkat",
    "renameat2",
    "openat2",
    "pwrite64",
];
/// More of a kind than the command makes.
pub(super) const MOST: u16 = 60;
const RACERS: usize = 100;
/// So many of them are killed in a round with kills, each while it begins, claims, receives or has done so.
const VICTIMS: usize = 20;
/// Of a team: each with a state directory and a key of its own.
const MACHINES: usize = 10;

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
            // The machines of a team share a ledger and no directory: there nothing but the ledger can decide.
            let (rounds, machines) = match store {
                "postgres" => (stage.count(2, 1000), MACHINES),
                _ => (stage.count(20, 1000), 1),
            };
            let track = Track::lay(product, machines)?;
            track.race_often(stage, rounds)
        });
    }
    Ok(())
}

/// What they race on: one product, on one machine or several.
struct Track {
    product: Product,
    /// The state directories of the machines.
    homes: Vec<PathBuf>,
}

impl Track {
    fn lay(product: Product, machines: usize) -> Result<Self> {
        let others = (1..machines).map(|it| product.env.work().join(format!("machine{it}")));
        let homes: Vec<_> = iter::once(product.home().to_owned())
            .chain(others)
            .collect();
        product.answer(["context", "set", "half", "1"])?;
        let track = Self { product, homes };
        track.trust_each_other()?;
        Ok(track)
    }

    /// All machines take what the first one seals.
    fn trust_each_other(&self) -> Result<()> {
        let key = self.product.answer(["keys", "export"])?;
        let key = key["keys"][0]["key"].as_str().context("a key is told")?;
        for machine in 1..self.homes.len() {
            let words = ["keys", "trust", key, "--name", "first", "--yes"];
            let mut command = self.on(machine, words);
            let trusted = command.output()?;
            ensure!(trusted.status.success(), "machine {machine} does not trust");
        }
        Ok(())
    }

    /// A command of one of the machines.
    fn on<const N: usize>(&self, machine: usize, words: [&str; N]) -> Command {
        let mut command = self.product.command(&Prefix::none(), words);
        command.env("HANDOFF_HOME", &self.homes[machine % self.homes.len()]);
        command
    }

    fn race_often(&self, stage: &Stage, rounds: usize) -> Result<Findings> {
        let mut dice = stage.dice("race");
        let mut findings = Findings::default();
        let mut kills = 0;
        for round in 0..rounds {
            progress("race", round, rounds);
            let made = self.product.answer(["package", "create"])?;
            let id = made["id"].as_str().context("a package has an id")?;
            let victims: BTreeSet<_> = if round.is_multiple_of(10) {
                iter::repeat_with(|| dice.index(RACERS))
                    .take(VICTIMS)
                    .collect()
            } else {
                BTreeSet::new()
            };
            kills += usize::from(!victims.is_empty());
            let complaints = self.one_round(id, &victims)?.into_iter();
            let told = complaints.map(|it| format!("round {round}: {it}"));
            findings.complaints.extend(told);
            findings.count += 1;
        }
        let machines = self.homes.len();
        findings.note = format!("{kills} of them with kills, {machines} machines");
        findings.complaints.extend(self.product.audit()?);
        Ok(findings)
    }

    /// All want the package at once; some of them may be killed meanwhile. Nobody gets it twice, and it is not lost.
    fn one_round(&self, id: &str, victims: &BTreeSet<usize>) -> Result<Vec<String>> {
        let start = |number| -> Result<Child> {
            let mut command = self.on(number, ["package", "receive", id]);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            Ok(command.stdin(Stdio::null()).spawn()?)
        };
        let mut children: Vec<Child> = (0..RACERS).map(start).collect::<Result<_>>()?;
        for victim in victims {
            children[*victim].kill()?;
        }
        let mut ends = vec![];
        for mut child in children {
            ends.push(child.wait()?.code());
        }
        let mut complaints = unexpected(&ends, victims);
        complaints.extend(self.aftermath(id, &ends, victims)?);
        Ok(complaints)
    }

    /// One of them has it, or one who was killed might have had it and the next one gets it.
    fn aftermath(
        &self,
        id: &str,
        ends: &[Option<i32>],
        victims: &BTreeSet<usize>,
    ) -> Result<Vec<String>> {
        let won = ends.iter().filter(|it| **it == Some(exit::DONE)).count();
        let shown = self.product.answer(["package", "show", id])?;
        let is_over = shown["state"] == "consumed";
        // One who was killed may have consumed it, or claimed it.
        let may_be_nobody = !victims.is_empty() && won == 0;
        let is_right = may_be_nobody || won == 1 && is_over;
        let mut complaints = vec![];
        if !is_right {
            complaints.push(format!("{won} got it, and it is {}", shown["state"]));
        }
        if !is_over {
            let freed = self.product.run(["package", "release", id]);
            let codes = [exit::DONE, exit::CONFLICT];
            complaints.extend(expect_code(&freed, "release", &codes));
            self.product.answer(["package", "receive", id])?;
        }
        Ok(complaints)
    }
}

/// Whoever was not killed gets it, or hears that somebody else does.
fn unexpected(ends: &[Option<i32>], victims: &BTreeSet<usize>) -> Vec<String> {
    let others = ends.iter().enumerate();
    let others = others.filter(|(number, _)| !victims.contains(number));
    let codes: BTreeSet<_> = others.map(|(_, code)| *code).collect();
    let is_expected = |code: &Option<i32>| matches!(code, Some(exit::DONE | exit::CONFLICT));
    let told = format!("they ended with {codes:?}");
    (!codes.iter().all(is_expected))
        .then_some(told)
        .into_iter()
        .collect()
}
