//! Load figures, as ratios or differences against a floor measured in the same run.
//!
//! One file a benchmark. What is compared runs in turns, in an order that changes each round
//! ([`race`]), so that a busy machine slows both sides. Nothing here is a test: a figure that is
//! missed is shown, with the samples behind it in `target/bench/`.

mod binaries;
mod commit;
mod crew;
mod drain;
mod dump;
mod fanout;
mod feature;
mod fill;
mod ledger;
mod order;
mod overheard;
mod package;
mod profiles;
mod race;
mod report;
mod samples;
mod scale;
mod sessions;
mod stage;
mod startup;
mod workflow;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};
use handoff_chores::{Verdict, exit_code, output};
use handoff_testkit::postgres::{self, Cluster, Disk};

use self::drain::worker;
use self::order::Order;
use self::report::Report;

/// Measure the load figures.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", args_conflicts_with_subcommands = true)]
struct Benches {
    #[command(flatten)]
    args: BenchArgs,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Debug, Subcommand)]
enum Part {
    #[command(hide = true)]
    DrainWorker(worker::WorkerArgs),
}

#[derive(Args, Debug)]
struct BenchArgs {
    /// Which; all but `profiles` when none is named.
    #[arg(value_enum)]
    names: Vec<Bench>,
    /// Fewer samples and smaller stores: shows that it works, proves nothing.
    #[arg(long)]
    quick: bool,
    /// The seed of the order in which things run.
    #[arg(long)]
    seed: Option<u64>,
    /// The cargo profile that is measured.
    #[arg(long, default_value = "dist")]
    profile: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Bench {
    /// `version` and `queue list` against an empty program.
    Startup,
    /// A durable `dump` against an empty program and one fdatasync.
    Dump,
    /// Many processes empty a queue, against the raw transactions.
    Drain,
    /// A large store against a small one.
    Scale,
    /// `status` and `continue` on a long plan in a large repository, against the one call of git they need.
    Feature,
    /// Sessions: events, memory, time, output and lists, against tmux where it does the same.
    Sessions,
    /// `send` to text in the child, above start-up and the fdatasync that it needs.
    Send,
    /// Many processes commit to one repository, against `flock` and `git commit --only`; and what the guard costs.
    Commit,
    /// Sealing, receiving and listing packages, against `sha256sum`, one fsync and reading headers; memory of attachments.
    Package,
    /// A worker: how soon the next agent runs, a batch beside the ideal schedule, and what it needs without work.
    Worker,
    /// A phase of a workflow, without the time of agent, git and tests.
    Workflow,
    /// Size and speed of cargo profiles.
    Profiles,
}

/// Comparing profiles builds the product from nothing four times, and is done once in a while.
const USUAL: [Bench; 11] = [
    Bench::Startup,
    Bench::Dump,
    Bench::Drain,
    Bench::Scale,
    Bench::Feature,
    Bench::Sessions,
    Bench::Send,
    Bench::Commit,
    Bench::Package,
    Bench::Worker,
    Bench::Workflow,
];

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Quick,
    Full,
}

impl Scope {
    fn choose<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// What the benchmarks of one run share.
pub(crate) struct Run {
    scope: Scope,
    seed: u64,
    order: Order,
    profile: String,
    cluster: Option<Cluster>,
}

impl Run {
    fn report(&self, bench: &'static str) -> Report {
        Report::new(bench, self.seed)
    }

    /// The URL of a private PostgreSQL, started by the first who asks.
    fn server(&mut self) -> Result<Option<String>> {
        if !postgres::is_installed() {
            output::complain("PostgreSQL is not installed; its figures are left out.");
            return Ok(None);
        }
        if self.cluster.is_none() {
            let cluster =
                Cluster::start(Disk::Synced).context("cannot start a private PostgreSQL")?;
            self.cluster = Some(cluster);
        }
        Ok(self.cluster.as_ref().map(Cluster::url))
    }
}

fn main() -> ExitCode {
    let benches = Benches::parse();
    exit_code(match &benches.part {
        Some(Part::DrainWorker(args)) => worker::run(args),
        None => run(&benches.args),
    })
}

fn run(args: &BenchArgs) -> Result<Verdict> {
    let seed = args.seed.unwrap_or_else(order::fresh_seed);
    let mut run = Run {
        scope: if args.quick {
            Scope::Quick
        } else {
            Scope::Full
        },
        seed,
        order: Order::seeded(seed),
        profile: args.profile.clone(),
        cluster: None,
    };
    let names = if args.names.is_empty() {
        &USUAL[..]
    } else {
        &args.names
    };
    output::say(&format!("seed {seed}, profile {}", run.profile));
    let reports = names
        .iter()
        .map(|name| measure(*name, &mut run))
        .collect::<Result<Vec<_>>>()?;
    let (table, verdict) = report::verdicts(&reports);
    output::heading(&format!("figures, seed {seed}"));
    output::say(&table);
    Ok(verdict)
}

fn measure(name: Bench, run: &mut Run) -> Result<Report> {
    output::heading(&format!("{name:?}"));
    let report = match name {
        Bench::Startup => startup::bench(run),
        Bench::Dump => dump::bench(run),
        Bench::Drain => drain::bench(run),
        Bench::Scale => scale::bench(run),
        Bench::Feature => feature::bench(run),
        Bench::Sessions => sessions::bench(run),
        Bench::Send => sessions::send::bench(run),
        Bench::Commit => commit::bench(run),
        Bench::Package => package::bench(run),
        Bench::Worker => crew::bench(run),
        Bench::Workflow => workflow::bench(run),
        Bench::Profiles => profiles::bench(run),
    }?;
    report.publish()?;
    Ok(report)
}
