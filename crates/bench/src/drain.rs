//! Thirty processes empty a queue, against the same number of bare transactions.
//!
//! The floor is what any queue on this engine must do: for each task two transactions, each of
//! which finds a row, changes it, appends one event and is durable when it is over.

mod raw;
mod raw_postgres;
mod raw_sqlite;
pub(crate) mod worker;

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use handoff_core::ProjectId;
use handoff_process::mint;
use handoff_testkit::postgres::Database;
use tempfile::TempDir;

use self::worker::{Drained, Side, Worker};
use super::fill::{self, Past};
use super::ledger::{Ledger, Place};
use super::report::{Report, Target};
use super::samples::{Samples, milliseconds, times};
use super::{Run, binaries};

const PROCESSES: usize = 30;

/// Each time both sides are drained anew.
const ROUNDS: usize = 3;

pub(super) fn bench(run: &mut Run) -> Result<Report> {
    let worker = binaries::own(&run.profile)?;
    let mut report = run.report("drain");
    bench_engine(&worker, None, run, &mut report)?;
    if let Some(server) = run.server()? {
        bench_engine(&worker, Some(&server), run, &mut report)?;
    }
    Ok(report)
}

fn bench_engine(
    worker: &Path,
    server: Option<&str>,
    run: &mut Run,
    report: &mut Report,
) -> Result<()> {
    let engine = if server.is_some() {
        "PostgreSQL"
    } else {
        "SQLite"
    };
    let tasks = run.scope.choose(1_000, 10_000);
    let mut sides = [Side::Product, Side::Raw, Side::Lean].map(|side| (side, Totals::default()));
    for _ in 0..ROUNDS {
        for place in run.order.shuffle(sides.len()) {
            let (side, totals) = &mut sides[place];
            let room = Room::new(server)?;
            totals.add(&room.drain(worker, *side, tasks)?);
        }
    }
    let [(_, product), (_, raw), (_, lean)] = sides;
    judge(report, engine, &product, &raw);
    let share = 100.0 * times(lean.spans().median(), product.spans().median());
    report.remark(format!(
        "{engine}: {share:.0} % of transactions on tables without the product's indexes"
    ));
    for (side, totals) in [("product", product), ("raw", raw), ("lean", lean)] {
        report.remark(totals.remark(&format!("{engine}, {side}"), tasks));
        report.keep(format!("{engine}, {side}: all"), totals.spans());
        report.keep(
            format!("{engine}, {side}: a call"),
            Samples::of(totals.waits),
        );
    }
    Ok(())
}

fn judge(report: &mut Report, engine: &str, product: &Totals, raw: &Totals) {
    let share = 100.0 * times(raw.spans().median(), product.spans().median());
    report.figure(
        format!("draining beside bare transactions, {engine}"),
        (share, "%"),
        Target::AtLeast(70.0),
    );
    let longest = Samples::of(product.waits.iter().copied()).longest();
    report.figure(
        format!("the longest wait of a process, {engine}"),
        (milliseconds(longest), "ms"),
        Target::AtMost(1_000.0),
    );
}

/// A new store, gone after one draining.
struct Room {
    place: Place,
    // Held for their `Drop`.
    _home: TempDir,
    _database: Option<Database>,
}

impl Room {
    fn new(server: Option<&str>) -> Result<Self> {
        let home = tempfile::tempdir()?;
        let database = server
            .map(|server| Database::create(server.to_owned()))
            .transpose()?;
        let place = database.as_ref().map_or_else(
            || Place::Sqlite(home.path().to_owned()),
            |database| Place::Postgres(database.url().to_owned()),
        );
        Ok(Self {
            place,
            _home: home,
            _database: database,
        })
    }

    fn drain(&self, worker: &Path, side: Side, tasks: usize) -> Result<Vec<Drained>> {
        let project = ProjectId::from_uuid(mint());
        let mut ledger = Ledger::open(&self.place, project)?;
        // The template is a task as well.
        fill::fill(&self.place, &mut ledger, tasks - 1, Past::Added)?;
        drop(ledger);
        if side == Side::Lean {
            raw::drop_indexes(&self.place)?;
        }
        let mut workers = (0..PROCESSES)
            .map(|_| Worker::start(worker, side, &self.place, project))
            .collect::<Result<Vec<_>>>()?;
        workers.iter_mut().try_for_each(Worker::wait_until_ready)?;
        workers.iter_mut().try_for_each(Worker::go)?;
        let drained = workers
            .into_iter()
            .map(Worker::finish)
            .collect::<Result<Vec<_>>>()?;
        let found = drained.iter().map(Drained::tasks).sum::<usize>();
        ensure!(found == tasks, "{found} of {tasks} tasks were drained");
        Ok(drained)
    }
}

/// What several drainings of one side came to.
#[derive(Default)]
struct Totals {
    spans: Vec<Duration>,
    waits: Vec<Duration>,
    /// How many tasks each process got.
    served: Vec<usize>,
}

impl Totals {
    fn add(&mut self, drained: &[Drained]) {
        self.spans.extend(drained.iter().map(Drained::span).max());
        self.served.extend(drained.iter().map(Drained::tasks));
        self.waits.extend(drained.iter().flat_map(Drained::waits));
    }

    fn spans(&self) -> Samples {
        Samples::of(self.spans.iter().copied())
    }

    fn remark(&self, who: &str, tasks: usize) -> String {
        let rate = tasks as f64 / self.spans().median().as_secs_f64();
        let least = self.served.iter().min().copied().unwrap_or(0);
        let most = self.served.iter().max().copied().unwrap_or(0);
        format!("{who}: {rate:.0} tasks/s; a process got {least} to {most} tasks")
    }
}
