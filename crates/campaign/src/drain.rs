//! D10 and L6: many processes drain one queue, and none of them waits long.

use std::time::Duration;

use anyhow::Result;

use super::checks::Expected;
use super::clerk::Clerk;
use super::crew::{Crew, Site};
use super::door::Ledger;
use super::history::{self, Act, Call};
use super::kills::judge;
use super::stage::{Findings, Lodging, Stage, Tier};

const PROCESSES: usize = 30;
const LONGEST_WAIT: Duration = Duration::from_secs(1);

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    for (store, lodging) in stage.lodgings()? {
        let what = format!("{store}: {PROCESSES} processes");
        stage.trial(&what, |stage| drain(stage, &lodging));
    }
    Ok(())
}

fn drain(stage: &Stage, lodging: &Lodging) -> Result<Findings> {
    let tasks = stage.count(500, 10_000);
    let site = Site::new(lodging.door.clone(), lodging.outside())?;
    fill(&site, tasks)?;
    site.announce_end()?;
    let mut crew = Crew::new();
    let (waited, took) = handoff_chores::program::timed(|| -> Result<Vec<String>> {
        for number in 0..PROCESSES {
            crew.join(site.part("work", &format!("w{number}")))?;
        }
        crew.wait()
    });
    let mut complaints = waited?;
    let (ledger, calls) = (
        Ledger::read(&site.door)?,
        history::read_all(&site.histories())?,
    );
    complaints.extend(judge(&ledger, &calls, Expected::AllDone));
    let longest = longest_wait(&calls);
    if stage.tier == Tier::Full && longest > LONGEST_WAIT {
        complaints.push(format!("a call waited {longest:?}"));
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = tasks as f64 / took.as_secs_f64();
    Ok(Findings {
        count: tasks,
        note: format!("{rate:.0} tasks/s, longest wait of a call {longest:.0?}"),
        complaints,
    })
}

fn fill(site: &Site, tasks: usize) -> Result<()> {
    let mut clerk = Clerk::open(&site.door, site.project, &site.histories().join("filler"))?;
    for number in 0..tasks {
        let name = format!("t-{number}");
        clerk.ask(&name, &Act::Add { name: name.clone() })?;
    }
    Ok(())
}

/// Of the processes that drain; whoever filled the queue was alone.
fn longest_wait(calls: &[Call]) -> Duration {
    let draining = calls
        .iter()
        .filter(|call| !matches!(call.act, Act::Add { .. }));
    let nanos = draining.map(|call| call.waited).max().unwrap_or(0);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}
