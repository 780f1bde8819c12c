//! D01: workers and adders are killed at random moments and started again.

use anyhow::Result;

use super::checks::{Expected, Fact, What, total_queue};
use super::crew::{Crew, Site};
use super::door::Ledger;
use super::history::{self, Call};
use super::stage::{Findings, Lodging, Stage, progress};

const WORKERS: usize = 8;
const ADDERS: usize = 2;

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    for (store, lodging) in stage.lodgings()? {
        let what = format!("{store}: {WORKERS} workers, {ADDERS} adders");
        stage.trial(&what, |stage| kill_many(stage, store, &lodging));
    }
    Ok(())
}

fn kill_many(stage: &Stage, store: &str, lodging: &Lodging) -> Result<Findings> {
    let kills = stage.count(60, 1000);
    let mut dice = stage.dice(store);
    let site = Site::new(lodging.door.clone(), lodging.outside())?;
    let mut crew = Crew::new();
    for number in 0..WORKERS {
        crew.join(site.part("work", &format!("w{number}")))?;
    }
    for number in 0..ADDERS {
        crew.join(site.part("add", &format!("a{number}")))?;
    }
    for kill in 0..kills {
        progress("kills", kill, kills);
        let speaker = crew.hear_of(1 + dice.below(8))?;
        // Some who just did something, so may hold a lease, come back without memory: it must run out.
        if speaker < WORKERS && dice.below(2) == 0 {
            let stranger = format!("w{speaker}-after-{kill}");
            crew.kill_and_replace(speaker, site.part("work", &stranger))?;
        } else {
            crew.kill_and_restart(dice.index(WORKERS + ADDERS))?;
        }
    }
    site.announce_end()?;
    let mut complaints = crew.wait()?;
    let (ledger, calls) = (
        Ledger::read(&site.door)?,
        history::read_all(&site.histories())?,
    );
    complaints.extend(judge(&ledger, &calls, Expected::AllDone));
    let is_expiry = |fact: &&Fact| fact.what == What::Expired;
    let facts: Vec<Fact> = ledger.events.iter().map(Fact::of).collect();
    let expired = facts.iter().filter(is_expiry).count();
    if expired == 0 {
        complaints.push("no lease ran out, so nothing was shown about it".to_owned());
    }
    let cut_off = calls
        .iter()
        .filter(|call| call.replies.len() < call.asked)
        .count();
    Ok(Findings {
        count: kills,
        note: format!(
            "{} tasks, {} events, {expired} leases run out, {} calls, {cut_off} of them cut off",
            ledger.tasks,
            ledger.events.len(),
            calls.len()
        ),
        complaints,
    })
}

/// Everything that is wrong with a ledger, given what clients saw.
pub(super) fn judge(ledger: &Ledger, calls: &[Call], expected: Expected) -> Vec<String> {
    let facts: Vec<Fact> = ledger.events.iter().map(Fact::of).collect();
    let mut complaints = total_queue(calls, &facts, expected);
    complaints.extend(ledger.faults.iter().cloned());
    let is_ordered = ledger.events.is_sorted_by(|a, b| a.cursor < b.cursor);
    if !is_ordered {
        complaints.push("cursors do not rise".to_owned());
    }
    if calls.is_empty() || facts.is_empty() {
        complaints.push("nothing happened at all".to_owned());
    }
    complaints
}
