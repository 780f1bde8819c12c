//! D08: the holder of a lease is stopped past its term and goes on when another has finished.

use anyhow::{Context as _, Result};
use handoff_testkit::Prefix;
use rustix::process::Signal;

use super::crew::{Crew, Site};
use super::product::{Product, exit, expect_code};
use super::stage::{Findings, Lodging, Stage};

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    for (store, product, lodging) in stage.products()? {
        stage.trial(store, |_| outlive_lease(&product, &lodging));
    }
    Ok(())
}

fn outlive_lease(product: &Product, lodging: &Lodging) -> Result<Findings> {
    product.add("held")?;
    let project = product.project()?;
    let site = Site::of_project(lodging.door.clone(), project, lodging.outside())?;
    let mut crew = Crew::new();
    let mut words = site.part("hold", "holder");
    words.extend(["--ttl-seconds".to_owned(), "1".to_owned()]);
    let holder = crew.join(words)?;
    // Its claim, and two heartbeats that keep the lease.
    for _ in 0..3 {
        crew.hear_from(holder, |line| line.starts_with("Done"))?;
    }
    crew.signal(holder, Signal::STOP)?;

    let claimed = product.answer(["queue", "claim", "--wait", "20s"])?;
    let mut complaints = Vec::new();
    if claimed["task"]["lease"]["fence"] != 2 {
        complaints.push(format!("the second lease is {}", claimed["task"]["lease"]));
    }
    product.answer(["queue", "complete", "held", "--fence", "2"])?;
    let before = product.events()?;

    crew.signal(holder, Signal::CONT)?;
    for act in ["heartbeat", "complete"] {
        let line = crew.hear_from(holder, |_| true)?;
        if line != "Refused(LeaseLost)" {
            complaints.push(format!("its {act} got {line}"));
        }
    }
    for act in ["heartbeat", "complete"] {
        let output = product.run(["queue", act, "held", "--fence", "1"]);
        complaints.extend(expect_code(&output, act, &[exit::LEASE_LOST]));
    }
    complaints.extend(late_commit(product)?);
    if product.events()? != before {
        complaints.push("a stale fence changed something".to_owned());
    }
    complaints.extend(product.audit()?);
    Ok(Findings {
        count: 1,
        complaints,
        ..Findings::default()
    })
}

/// What a session whose lease is gone commits does not become a commit.
fn late_commit(product: &Product) -> Result<Vec<String>> {
    let shown = product.answer(["queue", "show", "held"])?;
    let task = shown["id"].as_str().context("a task has an id")?;
    let head = product.repo.head();
    product.repo.write("late", "text");
    let session = [
        "env",
        "HANDOFF_SESSION=ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60",
        "HANDOFF_TASK=held",
        "HANDOFF_FENCE=1",
        &format!("HANDOFF_TASK_ID={task}"),
    ];
    let words = ["safe-commit", "-m", "late", "late"];
    let output = product.run_under(&Prefix::of(session), words);
    let refused = expect_code(&output, "safe-commit", &[exit::LEASE_LOST]);
    let mut complaints: Vec<_> = refused.into_iter().collect();
    if product.repo.head() != head {
        complaints.push("a stale fence moved HEAD".to_owned());
    }
    Ok(complaints)
}
