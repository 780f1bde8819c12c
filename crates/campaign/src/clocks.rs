//! D09 and D14: the wall clock jumps under running processes; the machine boots again.

use anyhow::{Context as _, Result, ensure};
use handoff_testkit::{FakeTime, Need, Prefix, namespace};
use serde_json::Value;

use super::checks::{Fact, lease_faults};
use super::crew::{Crew, Site};
use super::door::Ledger;
use super::product::{Product, exit, expect_code};
use super::stage::{Findings, Lodging, Stage};

const JUMPS: [i64; 3] = [-3_600, 86_400, 0];
const TTL_SECONDS: u32 = 3;

pub(super) fn jump(stage: &mut Stage) -> Result<()> {
    ensure!(
        Need::Faketime.is_met(),
        "install the Debian package faketime"
    );
    for (store, product, lodging) in stage.products()? {
        stage.trial(store, |_| jump_live(store, &product, &lodging));
    }
    Ok(())
}

/// A holder goes on through every jump; nobody gets its lease before it is dead and its term over.
fn jump_live(store: &str, product: &Product, lodging: &Lodging) -> Result<Findings> {
    let clock = FakeTime::new(lodging.outside());
    let prefix = clock.prefix();
    product.add("held")?;
    let site = Site::of_project(lodging.door.clone(), product.project()?, lodging.outside())?;
    let mut crew = Crew::new();
    let mut words = site.part("hold", "holder");
    words.extend(["--ttl-seconds".to_owned(), TTL_SECONDS.to_string()]);
    let holder = crew.join_under(prefix.clone(), words)?;
    crew.hear_from(holder, |line| line.starts_with("Done"))?;

    let mut complaints = Vec::new();
    for seconds in JUMPS {
        clock.shift(seconds);
        for _ in 0..2 {
            let line = crew.hear_from(holder, |_| true)?;
            if !line.starts_with("Done") {
                complaints.push(format!("at {seconds:+} s its heartbeat got {line}"));
            }
        }
        complaints.extend(is_leased(product, &prefix, seconds)?);
    }
    clock.shift(JUMPS[0]);
    crew.kill(holder)?;
    let output = product.run_under(&prefix, ["queue", "claim", "--wait", "20s"]);
    complaints.extend(expect_code(
        &output,
        "the claim after its death",
        &[exit::DONE],
    ));

    let ledger = Ledger::read(&lodging.door)?;
    let facts: Vec<Fact> = ledger.events.iter().map(Fact::of).collect();
    complaints.extend(lease_faults(&facts));
    complaints.extend(ledger.faults);
    complaints.extend(product.audit()?);
    let goes_back = ledger.events.windows(2).any(|pair| pair[0].at > pair[1].at);
    // A server has its own clock, which nobody moved here.
    if goes_back != (store == "sqlite") {
        complaints.push(format!("recorded times go back: {goes_back}"));
    }
    Ok(Findings {
        count: JUMPS.len() + 1,
        note: format!("{} events", ledger.events.len()),
        complaints,
    })
}

/// Processes with either clock agree that the lease stands and has at most its term left.
fn is_leased(product: &Product, prefix: &Prefix, seconds: i64) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for prefix in [prefix, &Prefix::none()] {
        let taken = product.run_under(prefix, ["queue", "claim", "held"]);
        let what = format!("at {seconds:+} s another claim");
        complaints.extend(expect_code(&taken, &what, &[exit::CONFLICT]));
        let shown = product.run_under(prefix, ["queue", "show", "held"]);
        let task: Value = serde_json::from_str(&shown.stdout)?;
        let left = task["lease"]["left_seconds"].as_f64();
        let left = left.context("a leased task has time left")?;
        if !(0.1..=f64::from(TTL_SECONDS)).contains(&left) {
            complaints.push(format!("at {seconds:+} s there are {left} s left"));
        }
    }
    Ok(complaints)
}

pub(super) fn reboot(stage: &mut Stage) -> Result<()> {
    stage.trial("sqlite", |stage| boot_again(&stage.product()));
    Ok(())
}

fn boot_again(product: &Product) -> Result<Findings> {
    product.add("held")?;
    product.answer(["queue", "claim", "held", "--ttl", "168h"])?;
    let boot = namespace::other_boot(product.env.root());
    let mut complaints = Vec::new();
    let mut expect = |what: &str, words: &[&str], code: i32| {
        let output = product.run_under(&boot, words);
        complaints.extend(expect_code(&output, what, &[code]));
        output
    };
    let before = "before anyone else claims it";
    expect(
        before,
        &["queue", "heartbeat", "held", "--fence", "1"],
        exit::LEASE_LOST,
    );
    let claimed = expect("the claim after the boot", &["queue", "claim"], exit::DONE);
    let after = "after someone else claimed it";
    expect(
        after,
        &["queue", "complete", "held", "--fence", "1"],
        exit::LEASE_LOST,
    );
    expect(
        "the new lease",
        &["queue", "complete", "held", "--fence", "2"],
        exit::DONE,
    );
    let claimed: Value = serde_json::from_str(&claimed.stdout)?;
    if claimed["task"]["lease"]["fence"] != 2 {
        complaints.push(format!("the second lease is {}", claimed["task"]["lease"]));
    }
    complaints.extend(product.audit()?);
    Ok(Findings {
        count: 1,
        complaints,
        ..Findings::default()
    })
}
