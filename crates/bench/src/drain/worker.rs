//! One of the processes that empty a queue, and the parent's view of it.
//!
//! It connects, says `ready`, waits for a line, works until nothing is left, and says how long
//! each call took.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};
use handoff_core::{ProjectId, Task};
use serde::{Deserialize, Serialize};

use super::raw_postgres::RawPostgres;
use super::raw_sqlite::RawSqlite;
use crate::ledger::{Ledger, Place, complete};
use handoff_chores::program::timed;
use handoff_chores::{Verdict, output, program};

/// Whose transactions are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    /// Ours.
    Product,
    /// The same rows by hand, into the same schema.
    Raw,
    /// As [`Self::Raw`], without the indexes that finding work does not need.
    Lean,
}

/// Empty a queue, as one process of a benchmark.
#[derive(Args, Debug)]
pub(crate) struct WorkerArgs {
    #[arg(value_enum)]
    side: Side,
    place: Place,
    project: ProjectId,
}

pub(crate) fn run(args: &WorkerArgs) -> Result<Verdict> {
    let drained = match (args.side, &args.place) {
        (Side::Product, place) => Drained::by(&mut Ledger::open(place, args.project)?),
        (Side::Raw | Side::Lean, Place::Sqlite(home)) => {
            Drained::by(&mut RawSqlite::open(home, args.project)?)
        }
        (Side::Raw | Side::Lean, Place::Postgres(url)) => {
            Drained::by(&mut RawPostgres::connect(url, args.project)?)
        }
    }?;
    output::say(&serde_json::to_string(&drained)?);
    Ok(Verdict::Good)
}

/// What empties a queue, one transaction a call.
pub(super) trait Drainer {
    type Claimed;

    fn claim(&mut self) -> Result<Option<Self::Claimed>>;
    fn complete(&mut self, claimed: Self::Claimed) -> Result<()>;
}

impl Drainer for Ledger {
    type Claimed = Task;

    fn claim(&mut self) -> Result<Option<Task>> {
        Self::claim(self)
    }

    fn complete(&mut self, task: Task) -> Result<()> {
        self.tell(&task, complete(&task)).map(drop)
    }
}

/// What a process has done, in microseconds.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Drained {
    claims: Vec<u64>,
    completions: Vec<u64>,
    span: u64,
}

impl Drained {
    fn by(drainer: &mut impl Drainer) -> Result<Self> {
        output::say("ready");
        io::stdin().lock().read_line(&mut String::new())?;
        let (drained, span) = timed(|| Self::to_the_last(drainer));
        Ok(Self {
            span: micros(span)?,
            ..drained?
        })
    }

    fn to_the_last(drainer: &mut impl Drainer) -> Result<Self> {
        let (mut claims, mut completions) = (Vec::new(), Vec::new());
        loop {
            let (claimed, time) = timed(|| drainer.claim());
            let Some(claimed) = claimed? else { break };
            claims.push(micros(time)?);
            let (completed, time) = timed(|| drainer.complete(claimed));
            completed?;
            completions.push(micros(time)?);
        }
        Ok(Self {
            claims,
            completions,
            span: 0,
        })
    }

    pub(super) fn tasks(&self) -> usize {
        self.completions.len()
    }

    pub(super) fn span(&self) -> Duration {
        Duration::from_micros(self.span)
    }

    pub(super) fn waits(&self) -> impl Iterator<Item = Duration> {
        let calls = self.claims.iter().chain(&self.completions);
        calls.copied().map(Duration::from_micros)
    }
}

fn micros(time: Duration) -> Result<u64> {
    Ok(time.as_micros().try_into()?)
}

/// A process that was started here.
pub(super) struct Worker {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Worker {
    pub(super) fn start(
        bench: &Path,
        side: Side,
        place: &Place,
        project: ProjectId,
    ) -> Result<Self> {
        let side = side.to_possible_value().context("every side has a name")?;
        let mut command = program::program(bench);
        command
            .args(["drain-worker", side.get_name()])
            .args([place.to_string(), project.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start a worker")?;
        let stdin = child.stdin.take().context("its input is piped")?;
        let stdout = child.stdout.take().context("its output is piped")?;
        Ok(Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
        })
    }

    pub(super) fn wait_until_ready(&mut self) -> Result<()> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        ensure!(line == "ready\n", "a worker does not get ready: {line:?}");
        Ok(())
    }

    pub(super) fn go(&mut self) -> Result<()> {
        Ok(self.stdin.write_all(b"go\n")?)
    }

    pub(super) fn finish(mut self) -> Result<Drained> {
        let mut text = String::new();
        self.stdout.read_to_string(&mut text)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "a worker ended with {status}");
        Ok(serde_json::from_str(&text)?)
    }
}
