//! D46: somebody prunes the repository at random moments of a commit.

use std::process::Stdio;
use std::time::Duration;

use anyhow::Result;
use handoff_testkit::Prefix;

use super::super::dice::Dice;
use super::super::product::Product;
use super::super::stage::{Findings, Stage};
use super::leftovers;

/// At most one in so many commits may be refused.
const REFUSED: usize = 50;
/// Within so many microseconds a commit is over, most often.
const SPREAD: u64 = 30_000;
const PRUNE: &[&str] = &["prune", "--expire=now"];
const GC: &[&str] = &["gc", "--quiet", "--prune=now"];

pub(crate) fn pruning(stage: &mut Stage) -> Result<()> {
    stage.trial("safe-commit beside prune and gc", |stage| {
        let product = stage.product();
        product.repo.write("a", "0").write("deep/er/b", "0");
        product.repo.commit("base");
        let mut dice = stage.dice("pruning");
        let count = stage.count(10, 2_000);
        let (mut refused, mut findings) = (0, Findings::default());
        for number in 0..count {
            let path = ["a", "deep/er/b", &format!("new/{number}")][dice.index(3)].to_owned();
            product.repo.write(&path, format!("commit {number}"));
            if !raced(&product, &mut dice, &path)? {
                refused += 1;
                continue;
            }
            let fsck = ["fsck", "--connectivity-only", "--no-dangling"];
            let output = product.repo.command(fsck).output()?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                findings.complaints.push(format!("commit {number}: {said}"));
            }
        }
        if refused * REFUSED > count {
            let complaint = format!("{refused} of {count} were refused");
            findings.complaints.push(complaint);
        }
        findings.complaints.extend(leftovers(&product));
        findings.count = count;
        findings.note = format!("{refused} refused");
        Ok(findings)
    });
    Ok(())
}

/// Commits a path while two others prune; whether it was acknowledged.
fn raced(product: &Product, dice: &mut Dice, path: &str) -> Result<bool> {
    let mut command = product.command(&Prefix::default(), ["safe-commit", "-m", "x", "--", path]);
    let mut commit = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut pruning = vec![];
    for _ in 0..2 {
        std::thread::park_timeout(Duration::from_micros(dice.below(SPREAD)));
        let how = [PRUNE, PRUNE, GC][dice.index(3)];
        let mut prune = product.repo.command(how);
        pruning.push(prune.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    }
    let is_made = commit.wait()?.success();
    for mut process in pruning {
        process.wait()?;
    }
    Ok(is_made)
}
