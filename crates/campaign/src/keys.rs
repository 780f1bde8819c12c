//! D07: one idempotency key, used by many processes at once, and after an unknown outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result};
use handoff_testkit::Prefix;
use serde_json::Value;

use super::product::Product;
use super::stage::{Findings, Stage};
use super::sweep;

const AT_ONCE: usize = 50;

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    for (store, product, _lodging) in stage.products()? {
        stage.trial(&format!("{store}: add"), |_| {
            let words = ["queue", "add", "one", "--brief", "x", "--key", "same"];
            at_once(&product, &words, 1)
        });
        stage.trial(&format!("{store}: claim"), |_| {
            product.add("two")?;
            at_once(&product, &["queue", "claim", "--key", "claim"], 3)
        });
        stage.trial(&format!("{store}: complete"), |_| {
            let claimed = leased(&product)?;
            let words = [
                "queue", "complete", &claimed, "--fence", "1", "--key", "complete",
            ];
            at_once(&product, &words, 4)
        });
    }
    stage.trial("sqlite: add after an unknown outcome", |stage| {
        let (product, words, events) = sweep::left_unknown(stage)?;
        at_once(&product, words, events)
    });
    Ok(())
}

/// The task that has a lease; on a server two claimers may have reached for different ones.
fn leased(product: &Product) -> Result<String> {
    let queue = product.answer(["queue", "list"])?;
    let tasks = queue["tasks"].as_array().into_iter().flatten();
    let mut names = tasks
        .filter(|task| task["state"] == "leased")
        .filter_map(|task| task["name"].as_str());
    Ok(names.next().context("a task is leased")?.to_owned())
}

/// All succeed, all are told the same, and the ledger has so many events afterwards.
fn at_once(product: &Product, words: &[&str], events: usize) -> Result<Findings> {
    let start = |_| -> Result<Child> {
        let mut command = product.command(&Prefix::none(), words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command.stdin(Stdio::null()).spawn()?)
    };
    let children: Vec<Child> = (0..AT_ONCE).map(start).collect::<Result<_>>()?;
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut answers = BTreeSet::new();
    for child in children {
        let output = child.wait_with_output()?;
        if output.status.success() {
            answers.insert(answer(&output.stdout)?);
        } else {
            let said = String::from_utf8_lossy(&output.stdout);
            *refused
                .entry(format!("{}: {}", output.status, said.trim_end()))
                .or_default() += 1;
        }
    }
    let refused = refused
        .into_iter()
        .map(|(said, count)| format!("{count} of them: {said}"));
    let mut complaints: Vec<String> = refused.collect();
    if answers.len() != 1 {
        complaints.push(format!("{} different answers: {answers:?}", answers.len()));
    }
    let recorded = product.events()?.len();
    if recorded != events {
        complaints.push(format!("{recorded} events, expected {events}"));
    }
    complaints.extend(product.audit()?);
    Ok(Findings {
        count: AT_ONCE,
        complaints,
        ..Findings::default()
    })
}

/// Identity, fence and version: what is the same for each who asks, whenever they look.
fn answer(stdout: &[u8]) -> Result<(String, u64, u64)> {
    let document: Value = serde_json::from_slice(stdout)?;
    let task = &document["task"];
    let number = |field: &str| task[field].as_u64().context("a task has numbers");
    let id = task["id"].as_str().context("a task has an id")?;
    Ok((id.to_owned(), number("attempts")?, number("version")?))
}
