//! The fault suite: kills, failing system calls, power loss, jumping clocks, full disks, hostile names, load.
//!
//! Each fault of PROMISES section 8 has an entry in [`FAULTS`] and a function in the file of its family. It does
//! harm to real processes, then lets pure checkers compare what clients were told with what is stored. Nothing
//! here repairs anything, and nothing that was not started here is signalled.

mod backups;
mod beginning;
mod checks;
mod clerk;
mod clocks;
mod closing;
mod commits;
mod crew;
mod crowd;
mod damage;
mod dice;
mod door;
mod drain;
mod full_disk;
mod history;
mod hostel;
mod keys;
mod kills;
mod names;
mod neighbour;
mod packages;
mod parcels;
mod part;
mod pauses;
mod places;
mod power;
mod printing;
mod product;
mod road;
mod stage;
mod stale_lease;
mod stopping;
mod sweep;
mod typing;
mod workflow;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};
use handoff_chores::tally::Tally;
use handoff_chores::{Verdict, exit_code, output};
use handoff_testkit::Need;

use self::stage::{Stage, Tier, Trial};

/// Run the fault suite, at its full count unless told otherwise.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask campaign", args_conflicts_with_subcommands = true)]
struct Campaign {
    #[command(flatten)]
    args: CampaignArgs,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Debug, Subcommand)]
enum Part {
    #[command(hide = true)]
    Part(part::PartArgs),
}

#[derive(Args, Debug)]
struct CampaignArgs {
    /// The full count (this is the default)
    #[arg(long, conflicts_with = "small")]
    full: bool,
    /// The small count that `cargo xtask test` runs
    #[arg(long)]
    small: bool,
    /// Only these faults: `D01,D20`
    #[arg(long, value_delimiter = ',', value_name = "FAULTS")]
    only: Vec<String>,
    /// Repeat the random choices of an earlier run
    #[arg(long)]
    seed: Option<u64>,
    #[arg(long, value_enum, default_value_t = Stores::Both)]
    store: Stores,
    /// Write the results here as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// A binary that is already built, instead of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// Which stores a fault is tried on, where it can be tried on both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Stores {
    Sqlite,
    Postgres,
    Both,
}

/// A fault of PROMISES section 8; those of workflows (W) are in none.
struct Fault {
    id: &'static str,
    title: &'static str,
    /// What a machine may lack; then the fault is skipped. Programs that `cargo xtask test`
    /// installs are not among it: without them the fault fails.
    needs: &'static [Need],
    run: fn(&mut Stage) -> Result<()>,
}

const FAULTS: [Fault; 49] = [
    Fault {
        id: "D01",
        title: "workers are killed at random",
        needs: &[],
        run: kills::run,
    },
    Fault {
        id: "D01W",
        title: "workers are killed on the whole road, and somebody follows (D06)",
        needs: &[],
        run: road::kills,
    },
    Fault {
        id: "D01G",
        title: "a worker is killed while it brings a batch together",
        needs: &[],
        run: road::gather,
    },
    Fault {
        id: "D02",
        title: "the program is killed at every system call",
        needs: &[],
        run: sweep::kills,
    },
    Fault {
        id: "D02G",
        title: "a commit, and the making of a tree, are killed at every system call",
        needs: &[],
        run: commits::kills,
    },
    Fault {
        id: "D02S",
        title: "whoever begins a session is killed at every system call",
        needs: &[],
        run: beginning::kills,
    },
    Fault {
        id: "D03",
        title: "every system call fails",
        needs: &[],
        run: sweep::errors,
    },
    Fault {
        id: "D04",
        title: "the power fails",
        needs: &[Need::LoopDevice],
        run: power::run,
    },
    Fault {
        id: "D05",
        title: "sealing a package is killed",
        needs: &[],
        run: packages::kills,
    },
    Fault {
        id: "D05P",
        title: "pausing a task is killed",
        needs: &[],
        run: pauses::kills,
    },
    Fault {
        id: "D05R",
        title: "a hundred want a package that can be had once",
        needs: &[],
        run: packages::race,
    },
    Fault {
        id: "D07",
        title: "one idempotency key, many at once",
        needs: &[],
        run: keys::run,
    },
    Fault {
        id: "D08",
        title: "the holder of a lease is stopped past its term",
        needs: &[],
        run: stale_lease::run,
    },
    Fault {
        id: "D09",
        title: "the wall clock jumps",
        needs: &[],
        run: clocks::jump,
    },
    Fault {
        id: "D10",
        title: "thirty processes drain the queue",
        needs: &[],
        run: drain::run,
    },
    Fault {
        id: "D10W",
        title: "several workers drain one queue, down the whole road",
        needs: &[],
        run: road::drain,
    },
    Fault {
        id: "D11",
        title: "a worker is killed while its agents print",
        needs: &[],
        run: road::survival,
    },
    Fault {
        id: "D12",
        title: "a session does not want to end",
        needs: &[],
        run: stopping::stop,
    },
    Fault {
        id: "D13",
        title: "the number of a dead process is somebody else's",
        needs: &[Need::Root],
        run: stopping::reuse,
    },
    Fault {
        id: "D14",
        title: "the machine boots again",
        needs: &[Need::Root, Need::MountNamespace],
        run: clocks::reboot,
    },
    Fault {
        id: "D15",
        title: "many want to commit at once",
        needs: &[],
        run: commits::lock,
    },
    Fault {
        id: "D16",
        title: "two stage in one tree",
        needs: &[],
        run: commits::staging,
    },
    Fault {
        id: "D17",
        title: "one prepared before another committed",
        needs: &[],
        run: commits::stale,
    },
    Fault {
        id: "D18",
        title: "a sub-task goes around its role",
        needs: &[],
        run: commits::roles,
    },
    Fault {
        id: "D19",
        title: "two own the same by other names",
        needs: &[],
        run: commits::owners,
    },
    Fault {
        id: "D20",
        title: "the disk is full",
        needs: &[Need::Root],
        run: full_disk::run,
    },
    Fault {
        id: "D21",
        title: "pages are zeroed, bits are flipped",
        needs: &[],
        run: damage::run,
    },
    Fault {
        id: "D22",
        title: "state on a network filesystem",
        needs: &[],
        run: places::run,
    },
    Fault {
        id: "D22F",
        title: "state on FUSE",
        needs: &[Need::Fuse],
        run: places::fuse,
    },
    Fault {
        id: "D23",
        title: "the kernel has no watches left",
        needs: &[Need::Root],
        run: road::watches,
    },
    Fault {
        id: "D24",
        title: "a person's terminal is closed",
        needs: &[],
        run: closing::run,
    },
    Fault {
        id: "D25",
        title: "everything stands still for longer than a lease lasts",
        needs: &[],
        run: road::standstill,
    },
    Fault {
        id: "D26",
        title: "an agent prints much, and nobody reads it",
        needs: &[],
        run: printing::flood,
    },
    Fault {
        id: "D27",
        title: "an agent prints what is no text",
        needs: &[],
        run: printing::garbage,
    },
    Fault {
        id: "D28",
        title: "an agent prints more than is kept",
        needs: &[],
        run: printing::endless,
    },
    Fault {
        id: "D29",
        title: "one SQLite, new enough",
        needs: &[],
        run: places::one_sqlite,
    },
    Fault {
        id: "D36",
        title: "another user wants to talk to a session",
        needs: &[Need::Root],
        run: neighbour::run,
    },
    Fault {
        id: "D39",
        title: "hostile names",
        needs: &[],
        run: names::run,
    },
    Fault {
        id: "D40",
        title: "packages that mean harm",
        needs: &[],
        run: parcels::hostile,
    },
    Fault {
        id: "D41",
        title: "packages that were tampered with",
        needs: &[],
        run: parcels::tampered,
    },
    Fault {
        id: "D42",
        title: "secrets that want to be sealed",
        needs: &[],
        run: parcels::secrets,
    },
    Fault {
        id: "D43",
        title: "a person commits while we look",
        needs: &[],
        run: commits::looking,
    },
    Fault {
        id: "D44",
        title: "a text is more than a text",
        needs: &[],
        run: typing::run,
    },
    Fault {
        id: "D45",
        title: "a crowd at the port of a session",
        needs: &[],
        run: crowd::run,
    },
    Fault {
        id: "D46",
        title: "objects are pruned while a commit is made",
        needs: &[],
        run: commits::pruning,
    },
    Fault {
        id: "D47",
        title: "a backup is made and put back while others work, and is killed",
        needs: &[Need::Strace],
        run: backups::run,
    },
    Fault {
        id: "W01",
        title: "sessions of a workflow cheat",
        needs: &[],
        run: workflow::cheat,
    },
    Fault {
        id: "W02",
        title: "all of a run is killed after each event",
        needs: &[Need::Root, Need::MountNamespace],
        run: workflow::everywhere,
    },
    Fault {
        id: "W02R",
        title: "all of a run is killed at random",
        needs: &[Need::Root, Need::MountNamespace],
        run: workflow::at_random,
    },
];

fn main() -> ExitCode {
    let campaign = Campaign::parse();
    exit_code(match &campaign.part {
        Some(Part::Part(args)) => part::run(args),
        None => run(&campaign.args),
    })
}

fn run(args: &CampaignArgs) -> Result<Verdict> {
    let tier = if args.small { Tier::Small } else { Tier::Full };
    let seed = args.seed.unwrap_or_else(|| tier.seed());
    for wanted in &args.only {
        let is_known = FAULTS.iter().any(|fault| fault.id == *wanted);
        anyhow::ensure!(is_known, "there is no fault `{wanted}`");
    }
    let stage = Stage::set_up(tier, seed, args.store, args.binary.clone())?;
    let trials = try_all(stage, |fault| {
        args.only.is_empty() || args.only.iter().any(|wanted| *wanted == fault.id)
    });
    let tally = tally(&trials);
    if let Some(path) = &args.json {
        let report = serde_json::json!({
            "schema": "handoff.campaign/1",
            "tier": tier,
            "seed": seed,
            "tally": tally,
            "trials": trials,
        });
        std::fs::write(path, serde_json::to_string_pretty(&report)? + "\n")
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    output::say(&tally.to_string());
    Ok(Verdict::of(tally.failed == 0))
}

fn try_all(mut stage: Stage, is_wanted: impl Fn(&Fault) -> bool) -> Vec<Trial> {
    for fault in FAULTS.iter().filter(|fault| is_wanted(fault)) {
        match fault.needs.iter().find(|need| !need.is_met()) {
            Some(need) => stage.skip(fault, *need),
            None => stage.attempt(fault),
        }
    }
    stage.into_trials()
}

fn tally(trials: &[Trial]) -> Tally {
    let mut tally = Tally::default();
    for trial in trials {
        match &trial.outcome {
            stage::Outcome::Passed => tally.passed += 1,
            stage::Outcome::Failed { .. } => tally.failed += 1,
            stage::Outcome::Skipped { .. } => tally.skipped += 1,
        }
    }
    tally
}
