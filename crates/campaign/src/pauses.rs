//! D05P: whoever pauses a task is killed at each system call. It is paused with one package, or it goes on.

use anyhow::{Context as _, Result};
use handoff_testkit::{Fault, Injection, When};
use serde_json::Value;

use super::packages::{CALLS, MOST};
use super::product::{Product, exit};
use super::stage::{Findings, Stage};

pub(super) fn kills(stage: &mut Stage) -> Result<()> {
    stage.trial("pause, killed at its calls", |stage| {
        killed_everywhere(stage, &stage.product())
    });
    Ok(())
}

fn killed_everywhere(stage: &Stage, product: &Product) -> Result<Findings> {
    let step = stage.count(10, 1);
    let mut findings = Findings::default();
    for call in CALLS {
        let first = stage.dice(call).index(step);
        for number in (1..MOST).skip(first).step_by(step) {
            let task = format!("{call}-{number}");
            let is_done = pause_struck(product, &task, call, number)?;
            let found = half_paused(product, &task)?.into_iter();
            let place = format!("{call} {number}");
            let told = found.map(|it| format!("{place}: {it}"));
            findings.complaints.extend(told);
            product.answer(["queue", "cancel", "--yes", &task])?;
            if is_done {
                // It makes no more calls of this kind.
                break;
            }
            findings.count += 1;
        }
    }
    findings.complaints.extend(product.audit()?);
    Ok(findings)
}

/// Pauses a task that somebody works on, and is killed; says whether it came to its end before.
fn pause_struck(product: &Product, task: &str, call: &str, number: u16) -> Result<bool> {
    product.add(task)?;
    product.answer(["queue", "claim", task])?;
    let struck = Injection {
        syscalls: &[call],
        fault: Fault::Kill,
        when: When::nth(number),
    };
    let output = product.run_under(&struck.prefix(), ["pause", task]);
    Ok(output.code() == Some(exit::DONE))
}

/// What is neither paused nor at work, once somebody else has come by.
fn half_paused(product: &Product, task: &str) -> Result<Vec<String>> {
    product.answer(["context", "set", "passer-by", "1"])?;
    product.answer(["context", "rm", "passer-by"])?;
    let shown = product.answer(["queue", "show", task])?;
    let (state, id) = (&shown["state"], &shown["id"]);
    let listed = product.answer(["package", "list", "--limit", "10000"])?;
    let packages = listed["packages"].as_array().context("it is a list")?;
    let is_left = |it: &&Value| it["task"] == *id && it["state"] == "created";
    let left = packages.iter().filter(is_left).count();
    let is_right = match left {
        1 => state == "held",
        0 => state == "queued" || state == "leased",
        _ => false,
    };
    let told = format!("it is {state}, with {left} packages");
    Ok((!is_right).then_some(told).into_iter().collect())
}
