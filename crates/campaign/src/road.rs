//! The whole road, with real workers, real git and the built-in agent: D01W and D06 workers are killed at random while somebody
//! follows, D10W several drain one queue, D11 agents outlive their worker, D23 no watches are left, D25 all of it stands still
//! for longer than leases last.

mod agents;
mod yard;

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result};
use handoff_testkit::Prefix;
use rustix::process::Signal;

use self::yard::{Follower, Worker, Yard};
use super::stage::{Findings, Lodging, Stage, Tier, progress};
use handoff_chores::processor_time::pause;

/// D01W and D06: two workers take a batch down the road, are killed again and again, and somebody follows the ledger.
pub(super) fn kills(stage: &mut Stage) -> Result<()> {
    for (store, product, lodging) in stage.products()? {
        // Where a server has the clock, what a killed worker had just claimed rests for a minute.
        if store == "postgres" && stage.tier == Tier::Small {
            continue;
        }
        let what = format!("{store}: two workers, a batch, a follower");
        stage.trial(&what, |stage| {
            let yard = Yard::open(product)?;
            kill_many(stage, store, &yard, &lodging)
        });
    }
    Ok(())
}

fn kill_many(stage: &Stage, store: &str, yard: &Yard, lodging: &Lodging) -> Result<Findings> {
    let (kills, parts) = (stage.count(20, 200), stage.count(6, 48));
    let mut dice = stage.dice(store);
    let follower = Follower::start(yard, lodging.outside())?;
    yard.open_batch(parts)?;
    let script = agents::parts(yard, parts, Duration::from_millis(150))?;
    let mut workers = vec![
        Worker::start(yard, 3, &script)?,
        Worker::start(yard, 3, &script)?,
    ];
    for kill in 0..kills {
        progress("kills", kill, kills);
        pause(Duration::from_millis(20 + dice.below(180)));
        let place = dice.index(workers.len());
        let killed = workers.swap_remove(place);
        workers.push(Worker::start_instead_of(killed, yard, 3, &script)?);
        yard.insist();
    }
    yard.until("the batch is done", || {
        yard.is_done(&["batch", "show", "spread"])
    })?;
    drop(workers);
    yard.tidy(&script)?;
    let mut complaints = follower.complaints(yard)?;
    complaints.extend(yard.complaints()?);
    complaints.extend(yard.missing_parts(parts));
    let attempts = yard.attempts()?;
    Ok(Findings {
        count: kills,
        note: format!("{parts} parts and a fan-in in {attempts} attempts"),
        complaints,
    })
}

/// D10W: several workers drain one queue, each task is held by one at a time.
pub(super) fn drain(stage: &mut Stage) -> Result<()> {
    for (store, product, _lodging) in stage.products()? {
        let what = format!("{store}: {} workers", stage.count(2, 4));
        stage.trial(&what, |stage| {
            let yard = Yard::open(product)?;
            let tasks = stage.count(12, 200);
            let names = (0..tasks).map(|number| format!("task-{number}"));
            for name in names {
                yard.hostel.product.add(&name)?;
            }
            let script = agents::alone(&yard)?;
            let workers = (0..stage.count(2, 4)).map(|_| Worker::start(&yard, 3, &script));
            let workers: Vec<_> = workers.collect::<Result<_>>()?;
            yard.until("all are done", || {
                Ok((yard.open_tasks()? == 0).then_some(()))
            })?;
            drop(workers);
            yard.tidy(&script)?;
            let mut complaints = yard.complaints()?;
            let attempts = yard.attempts()?;
            if attempts != tasks {
                complaints.push(format!("{tasks} tasks took {attempts} attempts"));
            }
            complaints.extend(agents::met_each_other(&yard));
            Ok(Findings {
                count: tasks,
                complaints,
                ..Findings::default()
            })
        });
    }
    Ok(())
}

/// D11: a worker is killed while its agents print.
pub(super) fn survival(stage: &mut Stage) -> Result<()> {
    for (store, product, _lodging) in stage.products()? {
        stage.trial(store, |stage| {
            let yard = Yard::open(product)?;
            outlive(stage, &yard)
        });
    }
    Ok(())
}

fn outlive(stage: &Stage, yard: &Yard) -> Result<Findings> {
    let printing = stage.count(3, 10);
    for number in 0..printing {
        yard.hostel.product.add(&format!("print-{number}"))?;
    }
    let lines = stage.count(150, 600);
    let script = agents::printing(yard, lines, "print-0")?;
    let worker = Worker::start(yard, printing, &script)?;
    yard.until("all of them print", || {
        Ok((yard.live_sessions()?.len() == printing).then_some(()))
    })?;
    let before = yard.live_sessions()?;
    worker.kill()?;
    // One ends while nobody looks after it.
    fs::write(agents::ending(yard), "")?;
    yard.until("one of them has ended", || {
        Ok((yard.live_sessions()?.len() < printing).then_some(()))
    })?;
    let next = Worker::start(yard, printing, &script)?;
    let adopted = next.heard("goes on: its worker is gone", printing)?;
    let mut complaints = vec![];
    if adopted > Duration::from_secs(2) {
        complaints.push(format!("the sessions were taken over after {adopted:?}"));
    }
    yard.until("all are done", || {
        Ok((yard.open_tasks()? == 0).then_some(()))
    })?;
    for session in &before {
        complaints.extend(agents::wrong_transcript(yard, session, lines)?);
    }
    if yard.attempts()? != printing {
        complaints.push("an agent was begun twice".to_owned());
    }
    drop(next);
    yard.tidy(&script)?;
    complaints.extend(yard.complaints()?);
    Ok(Findings {
        count: printing,
        note: format!("taken over within {} ms", adopted.as_millis()),
        complaints,
    })
}

/// D23: the kernel has no inotify instances, or no watches, left for the worker.
pub(super) fn watches(stage: &mut Stage) -> Result<()> {
    for limit in ["max_inotify_instances", "max_inotify_watches"] {
        without_watches(stage, limit);
    }
    Ok(())
}

fn without_watches(stage: &mut Stage, limit: &str) {
    stage.trial(&format!("{limit} is 0"), |stage| {
        let yard = Yard::open(stage.product())?;
        let script = agents::alone(&yard)?;
        let line = format!("echo 0 > /proc/sys/user/{limit} && exec \"$0\" \"$@\"");
        let unshared = ["unshare", "--user", "--map-root-user", "sh", "-c", &line];
        let prefix = Prefix::of(unshared);
        let worker = Worker::start_under(&prefix, &yard, 2, &script)?;
        worker.heard("No inotify watch is left", 1)?;
        let mut complaints = vec![];
        let mut longest = Duration::ZERO;
        for number in 0..stage.count(2, 10) {
            yard.hostel.product.add(&format!("task-{number}"))?;
            longest = longest.max(worker.heard(&format!("task-{number} begins"), 1)?);
            yard.until("it is done", || Ok((yard.open_tasks()? == 0).then_some(())))?;
        }
        if longest > Duration::from_secs(2) {
            complaints.push(format!("a task was begun after {longest:?}"));
        }
        let warnings = worker.times_said("No inotify watch is left");
        if warnings != 1 {
            complaints.push(format!("it warned {warnings} times"));
        }
        // It may be killed while it tidies up after the last one.
        drop(worker);
        yard.tidy(&script)?;
        complaints.extend(yard.complaints()?);
        Ok(Findings {
            count: stage.count(2, 10),
            note: format!("begun within {} ms", longest.as_millis()),
            complaints,
        })
    });
}

/// D25: everything of a worker stands still, as in a suspended machine, while another one lives.
pub(super) fn standstill(stage: &mut Stage) -> Result<()> {
    for (store, product, _lodging) in stage.products()? {
        // A lease of a server lasts a minute; nothing shorter shows anything about it.
        if store == "postgres" && stage.tier == Tier::Small {
            continue;
        }
        stage.trial(store, |stage| {
            let yard = Yard::open(product)?;
            stand_still(stage, store, &yard)
        });
    }
    Ok(())
}

fn stand_still(stage: &Stage, store: &str, yard: &Yard) -> Result<Findings> {
    let tasks = stage.count(3, 8);
    for number in 0..tasks {
        yard.hostel.product.add(&format!("task-{number}"))?;
    }
    let script = agents::waiting(yard, Duration::from_secs(1))?;
    let first = Worker::start(yard, tasks, &script)?;
    yard.until("all of them work", || {
        Ok((yard.live_sessions()?.len() == tasks).then_some(()))
    })?;
    yard.signal_all(Signal::STOP)?;
    let second = Worker::start(yard, tasks, &script)?;
    pause(Duration::from_secs(stage.count(2, 75)));
    yard.signal_all(Signal::CONT)?;
    yard.until("all are done", || {
        Ok((yard.open_tasks()? == 0).then_some(()))
    })?;
    drop((first, second));
    yard.tidy(&script)?;
    let mut complaints = yard.complaints()?;
    let attempts = yard.attempts()?;
    // A lock is held by whoever stands still. On a server's clock the lease is over, and each task is done once more at most.
    let most = if store == "postgres" {
        2 * tasks
    } else {
        tasks
    };
    if attempts > most {
        complaints.push(format!("{tasks} tasks took {attempts} attempts"));
    }
    Ok(Findings {
        count: tasks,
        note: format!("{attempts} attempts"),
        complaints,
    })
}

/// D01G: the worker is killed inside the fan-in, again and again.
pub(super) fn gather(stage: &mut Stage) -> Result<()> {
    for (store, product, _lodging) in stage.products()? {
        // Where a server has the clock, what a killed worker had just claimed rests for a minute.
        if store == "postgres" && stage.tier == Tier::Small {
            continue;
        }
        let what = format!("{store}: killed while it brings parts together");
        stage.trial(&what, |stage| {
            let yard = Yard::open(product)?;
            kill_gathering(stage, store, &yard)
        });
    }
    Ok(())
}

fn kill_gathering(stage: &Stage, store: &str, yard: &Yard) -> Result<Findings> {
    let parts = stage.count(6, 24);
    yard.open_batch_checked(parts, "sleep 0.2; test -e p0/new")?;
    let script = agents::parts(yard, parts, Duration::ZERO)?;
    let kills = stage.count(6, 60);
    let mut dice = stage.dice(&format!("gather {store}"));
    let mut worker = Worker::start(yard, 4, &script)?;
    yard.until("the fan-in begins", || yard.is_claimed("merge"))?;
    for kill in 0..kills {
        progress("kills", kill, kills);
        pause(Duration::from_millis(dice.below(400)));
        worker = Worker::start_instead_of(worker, yard, 4, &script)?;
        yard.insist();
    }
    yard.until("the batch is done", || {
        // The last kill may be the one that is one too many.
        yard.insist();
        yard.is_done(&["batch", "show", "spread"])
    })?;
    drop(worker);
    yard.tidy(&script)?;
    let mut complaints = yard.complaints()?;
    complaints.extend(yard.missing_parts(parts));
    Ok(Findings {
        count: kills,
        note: format!("{} attempts", yard.attempts().context("attempts")?),
        complaints,
    })
}
