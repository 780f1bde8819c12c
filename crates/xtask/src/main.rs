//! Chores of this repository, started with `cargo xtask`.

mod agents;
mod bench;
mod campaign;
mod measure;
mod output;
mod postgres;
mod processor_time;
mod program;
mod tally;
mod test;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

/// Chores of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    Test(test::TestArgs),
    Measure(measure::MeasureArgs),
    Postgres(postgres::PostgresArgs),
    Campaign(campaign::CampaignArgs),
    Bench(bench::BenchArgs),
    Agents(agents::AgentsArgs),
    #[command(hide = true)]
    AgentsInside(agents::AgentsInsideArgs),
    #[command(hide = true)]
    Part(campaign::PartArgs),
    #[command(hide = true)]
    DrainWorker(bench::worker::WorkerArgs),
}

/// How a chore that came to its end went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Good,
    Bad,
}

fn main() -> ExitCode {
    let verdict = match Chore::parse() {
        Chore::Test(args) => test::run(&args),
        Chore::Measure(args) => measure::run(&args),
        Chore::Postgres(args) => postgres::run(&args),
        Chore::Campaign(args) => campaign::run(&args),
        Chore::Bench(args) => bench::run(&args),
        Chore::Agents(args) => agents::run(&args),
        Chore::AgentsInside(args) => agents::run_inside(&args),
        Chore::Part(args) => campaign::play_part(&args),
        Chore::DrainWorker(args) => bench::worker::run(&args),
    };
    exit_code(verdict)
}

fn exit_code(verdict: Result<Verdict>) -> ExitCode {
    match verdict {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::FAILURE,
        Err(error) => {
            output::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
