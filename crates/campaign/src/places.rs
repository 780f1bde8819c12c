//! D22 and D29: what the product refuses to stand on.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use handoff_testkit::Output;
use serde_json::Value;

use super::door::Door;
use super::product::Product;
use super::stage::{Findings, Stage};
use handoff_chores::program::{self, cargo};

/// `statfs` is answered by the kernel, and then strace puts another type into the answer. A preloaded library
/// would not do: the product asks the kernel without the C library.
const TYPES: [(&str, &str); 3] = [
    ("NFS", "6969000000000000"),
    ("CIFS", "424d53ff00000000"),
    ("9P", "9719020100000000"),
];

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    for (name, bytes) in TYPES {
        stage.trial(&format!("a made-up {name}"), |stage| {
            let product = stage.product();
            let output = under_type(&product, bytes);
            Ok(refusal(&product, &output, name, product.home()))
        });
    }
    Ok(())
}

const ADD: [&str; 5] = ["queue", "add", "one", "--brief", "x"];

fn under_type(product: &Product, bytes: &str) -> Output {
    let inject = format!("inject=statfs,fstatfs:poke_exit=@arg2={bytes}");
    let mut command = product.env.command("strace");
    command.args([
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=statfs,fstatfs",
        "-e",
        &inject,
        "--",
    ]);
    command.arg(product.env.binary()).arg("--json").args(ADD);
    command.current_dir(product.repo.path());
    product.env.run(command)
}

pub(super) fn fuse(stage: &mut Stage) -> Result<()> {
    stage.trial("bindfs", |stage| {
        let mut product = stage.product();
        let (real, mounted) = (
            product.env.root().join("real"),
            product.env.root().join("fuse"),
        );
        std::fs::create_dir(&real)?;
        std::fs::create_dir(&mounted)?;
        program::run(program::program("bindfs").arg(&real).arg(&mounted))?;
        product.use_store(&Door::Sqlite(mounted.join("home")));
        let output = product.run(ADD);
        let findings = refusal(&product, &output, "FUSE", &real.join("home"));
        program::run(program::program("umount").arg(&mounted))?;
        Ok(findings)
    });
    Ok(())
}

/// Refused, with the reason, and nothing is made: neither a home nor a mark in the repository.
fn refusal(product: &Product, output: &Output, reason: &str, home: &Path) -> Findings {
    let mut complaints = Vec::new();
    if output.status.success() {
        complaints.push("it was accepted".to_owned());
    }
    let said = format!("{}{}", output.stdout, output.stderr);
    if !said.contains(reason) {
        complaints.push(format!("{reason} is not given as the reason: {said}"));
    }
    for place in [home, &product.repo.path().join(".git/handoff")] {
        if place.exists() {
            complaints.push(format!("{} was made", place.display()));
        }
    }
    Findings {
        count: 1,
        complaints,
        ..Findings::default()
    }
}

/// The first version whose WAL several processes may write.
const OLDEST_SQLITE: [u32; 3] = [3, 51, 3];

pub(super) fn one_sqlite(stage: &mut Stage) -> Result<()> {
    stage.trial("linked once", |_| {
        let tree = [
            "tree",
            "--package",
            "handoff",
            "--invert",
            "libsqlite3-sys",
            "--depth",
            "0",
        ];
        let output = cargo(tree).output()?;
        let text = String::from_utf8(output.stdout)?;
        // Two versions are an error of cargo's: the name alone would not say which is meant.
        let is_one = output.status.success() && text.lines().count() == 1;
        let complaints = if is_one {
            Vec::new()
        } else {
            vec![format!("linked: {text:?}")]
        };
        let note = text.trim().to_owned();
        Ok(Findings {
            count: 1,
            note,
            complaints,
        })
    });
    stage.trial("not the system's", |stage| {
        let product = stage.product();
        let output = product.env.run({
            let mut command = product.env.command("ldd");
            command.arg(product.env.binary());
            command
        });
        ensure!(output.status.success(), "{}", output.snapshot());
        let lines = output.stdout.lines().filter(|line| line.contains("sqlite"));
        Ok(Findings {
            count: 1,
            complaints: lines.map(str::to_owned).collect(),
            ..Findings::default()
        })
    });
    stage.trial("new enough", |stage| sqlite_version(&stage.product()));
    Ok(())
}

fn sqlite_version(product: &Product) -> Result<Findings> {
    let doctor: Value = product.answer(["doctor"])?;
    let engine = doctor["store"]["engine_version"].as_str();
    let engine = engine.context("`doctor` names the engine")?;
    let is_good = version_in(engine).is_some_and(|version| version >= OLDEST_SQLITE);
    Ok(Findings {
        count: 1,
        note: engine.to_owned(),
        complaints: if is_good {
            Vec::new()
        } else {
            vec![format!("{engine} corrupts a shared WAL")]
        },
    })
}

fn version_in(text: &str) -> Option<[u32; 3]> {
    let numbers = text.rsplit(' ').next()?.split('.').map(str::parse);
    let numbers: Vec<u32> = numbers.collect::<Result<_, _>>().ok()?;
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_their_numbers() {
        let is_new = |text| version_in(text).is_some_and(|version| version >= OLDEST_SQLITE);
        assert!(is_new("SQLite 3.51.3") && is_new("SQLite 3.100.0"));
        assert!(!is_new("SQLite 3.9.9") && !is_new("SQLite 3.51.2") && !is_new("SQLite"));
    }
}
