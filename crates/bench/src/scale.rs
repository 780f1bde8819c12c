//! What a hundred times as many tasks and events cost those who look at a few of them.

use std::path::Path;

use anyhow::{Context as _, Result};
use handoff_testkit::postgres::Database;

use super::fill::Past;
use super::ledger::Place;
use super::race::{Lane, race, to_the_end, to_the_first_line};
use super::report::{Report, Target};
use super::samples::times;
use super::stage::Stage;
use super::{Run, binaries};

/// Each with ten events.
const SMALL: usize = 1_000;
const LARGE: usize = 100_000;

/// At most so many times what it costs in the small store.
const LIMIT: f64 = 3.0;

pub(super) fn bench(run: &mut Run) -> Result<Report> {
    let binary = binaries::handoff(&run.profile)?;
    let empty = binaries::empty(&run.profile)?;
    let mut report = run.report("scale");
    let sqlite = Pair::set(&binary, [None, None], run)?;
    sqlite.bench(&empty, run, &mut report)?;
    if let Some(server) = run.server()? {
        let (small, large) = (Database::create(server.clone())?, Database::create(server)?);
        let postgres = Pair::set(&binary, [Some(&small), Some(&large)], run)?;
        postgres.bench(&empty, run, &mut report)?;
    }
    Ok(report)
}

/// The same store twice, once with much in it.
struct Pair {
    small: Stage,
    large: Stage,
}

impl Pair {
    fn set(binary: &Path, databases: [Option<&Database>; 2], run: &Run) -> Result<Self> {
        let [small, large] = databases;
        let tasks = run.scope.choose(LARGE / 10, LARGE);
        Ok(Self {
            small: Stage::filled(binary, small, SMALL, Past::Long)?,
            large: Stage::filled(binary, large, tasks, Past::Long)?,
        })
    }

    fn bench(&self, empty: &Path, run: &mut Run, report: &mut Report) -> Result<()> {
        let (small, large) = (middle(&self.small)?, middle(&self.large)?);
        let list = |stage: &Stage| to_the_end(stage.handoff(["queue", "list"]));
        let events = |stage: &Stage, since: &str| {
            to_the_first_line(stage.handoff(["events", "--since", since]))
        };
        let lanes = vec![
            Lane::new("empty", || to_the_end(self.small.program(empty))),
            Lane::new("small list", || list(&self.small)),
            Lane::new("large list", || list(&self.large)),
            Lane::new("small events", || events(&self.small, &small)),
            Lane::new("large events", || events(&self.large, &large)),
        ];
        let measured = race(lanes, run.scope.choose(50, 200), &mut run.order)?;
        let engine = self.small.place().engine();
        for (what, small, large) in [
            ("a page of `queue list`", "small list", "large list"),
            (
                "the first line of `events --since`",
                "small events",
                "large events",
            ),
        ] {
            // Without what any program costs, which would hide the growth.
            let above = |lane| {
                measured[lane]
                    .median()
                    .saturating_sub(measured["empty"].median())
            };
            report.figure(
                format!("{what} in a large store, {engine}"),
                (times(above(large), above(small)), "times"),
                Target::AtMost(LIMIT),
            );
        }
        for (lane, samples) in measured {
            report.keep(format!("{engine}: {lane}"), samples);
        }
        Ok(())
    }
}

/// A cursor with as many events before it as after it.
fn middle(stage: &Stage) -> Result<String> {
    let found = stage.place().query(match stage.place() {
        Place::Sqlite(_) => "SELECT CAST(max(position) / 2 AS TEXT) FROM events",
        Place::Postgres(_) => {
            "SELECT transaction::text || '.' || position::text FROM events \
             ORDER BY transaction, position \
             OFFSET (SELECT count(*) / 2 FROM events) LIMIT 1"
        }
    })?;
    found.into_iter().next().context("there are no events")
}
