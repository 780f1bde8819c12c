//! Chores of this repository, started with `cargo xtask`.

mod agents;
mod measure;
mod postgres;
mod test;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser};
use handoff_chores::{Verdict, exit_code, program};

/// Chores of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    Test(test::TestArgs),
    Measure(measure::MeasureArgs),
    Postgres(postgres::PostgresArgs),
    /// Run the fault suite (`cargo run -p campaign`)
    #[command(disable_help_flag = true)]
    Campaign(Forwarded),
    /// Measure the load figures (`cargo run -p bench`)
    #[command(disable_help_flag = true)]
    Bench(Forwarded),
    Agents(agents::AgentsArgs),
    #[command(hide = true)]
    AgentsInside(agents::AgentsInsideArgs),
}

/// Words for another program of the workspace. What it needs is built only for those who ask for it.
#[derive(Args, Debug)]
struct Forwarded {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl Forwarded {
    fn run(&self, package: &str) -> Result<Verdict> {
        let mut command = program::cargo(["run", "--quiet", "--package", package, "--"]);
        let status = program::status(command.args(&self.words))?;
        Ok(Verdict::of(status.success()))
    }
}

fn main() -> ExitCode {
    exit_code(match Chore::parse() {
        Chore::Test(args) => test::run(&args),
        Chore::Measure(args) => measure::run(&args),
        Chore::Postgres(args) => postgres::run(&args),
        Chore::Campaign(words) => words.run("campaign"),
        Chore::Bench(words) => words.run("bench"),
        Chore::Agents(args) => agents::run(&args),
        Chore::AgentsInside(args) => agents::run_inside(&args),
    })
}
