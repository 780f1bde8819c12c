//! Everything that must hold before a change is good, in one command.
//!
//! Every step is run, whatever failed before it, so that one run shows all that is broken. Only without its tools nothing can be.

mod junit;
mod skips;
mod suite;
mod tools;

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use comfy_table::Table;
use serde::Deserialize;

use handoff_chores::program::{self, cargo};
use handoff_chores::{Tally, Verdict, output, product};

use crate::{agents, measure};

/// Check everything: form, lints, tests, documentation, measures, faults.
#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// Run this step only; may be given several times
    #[arg(long, value_name = "STEP", conflicts_with = "skip")]
    only: Vec<Step>,
    /// Leave this step out; may be given several times
    #[arg(long, value_name = "STEP")]
    skip: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Install the tools that the tests use
    Tools,
    /// `cargo fmt --check`
    Fmt,
    /// `cargo clippy`, warnings denied
    Clippy,
    /// `cargo nextest run`, with a private PostgreSQL
    Tests,
    /// `cargo test --doc`
    Doctests,
    /// `cargo doc`, warnings denied
    Docs,
    /// The gates of `cargo xtask measure`
    Measure,
    /// The small tier of `cargo xtask campaign`
    Campaign,
    /// The agents of `cargo xtask agents` that must pass
    Agents,
    /// `cargo deny`, where it is installed
    Deny,
}

/// How a step ended.
#[derive(Debug)]
enum Outcome {
    Passed,
    Counted(Tally),
    Failed(String),
    NotRun(&'static str),
}

impl Outcome {
    fn is_failure(&self) -> bool {
        match self {
            Self::Failed(_) => true,
            Self::Counted(tally) => tally.failed > 0,
            Self::Passed | Self::NotRun(_) => false,
        }
    }
}

impl Step {
    /// Whether nothing after this step is worth the wait once it has failed.
    fn ends_run(self) -> bool {
        matches!(self, Self::Tools)
    }

    fn name(self) -> String {
        let value = self.to_possible_value().expect("no step is hidden");
        value.get_name().to_owned()
    }

    fn run(self) -> Result<Outcome> {
        match self {
            Self::Tools => tools::provide()?,
            Self::Fmt => program::run(&mut cargo(["fmt", "--all", "--check"]))?,
            Self::Clippy => program::run(&mut cargo(CLIPPY))?,
            Self::Tests => return suite::run().map(Outcome::Counted),
            Self::Doctests => program::run(&mut cargo(DOCTESTS))?,
            Self::Docs => program::run(cargo(DOC).env("RUSTDOCFLAGS", "-D warnings"))?,
            Self::Measure => measure::check_gates()?,
            Self::Campaign => return faults().map(Outcome::Counted),
            Self::Agents => return agents::gate(product::build("dev")?).map(Outcome::Counted),
            Self::Deny => return deny(),
        }
        Ok(Outcome::Passed)
    }
}

const CLIPPY: [&str; 6] = [
    "clippy",
    "--workspace",
    "--all-targets",
    "--",
    "-D",
    "warnings",
];
const DOCTESTS: [&str; 4] = ["test", "--quiet", "--doc", "--workspace"];
const DOC: [&str; 4] = [
    "doc",
    "--workspace",
    "--no-deps",
    "--document-private-items",
];

/// Every fault at its small count, done to the program that the tests have used: building another one would take longer than the
/// faults do.
fn faults() -> Result<Tally> {
    let binary = product::build("dev")?;
    let scratch = tempfile::tempdir()?;
    let report = scratch.path().join("campaign.json");
    let mut campaign = cargo(["run", "--quiet", "--package", "campaign", "--", "--small"]);
    campaign.arg("--binary").arg(binary);
    campaign.arg("--json").arg(&report);
    program::status(&mut campaign)?;
    let report = fs::read(&report).context("the campaign did not come to its end")?;
    let report: CampaignReport = serde_json::from_slice(&report)?;
    Ok(report.tally)
}

/// What is read of the report of a campaign.
#[derive(Deserialize)]
struct CampaignReport {
    tally: Tally,
}

/// Advisories are left out: their database is fetched from the network, which a test run must not
/// depend on.
fn deny() -> Result<Outcome> {
    if program::find_program("cargo-deny").is_none() {
        return Ok(Outcome::NotRun("cargo-deny is not installed"));
    }
    program::run(&mut cargo(["deny", "check", "licenses", "sources", "bans"]))?;
    Ok(Outcome::Passed)
}

#[derive(Debug)]
struct Finished {
    step: Step,
    outcome: Outcome,
    took: Duration,
}

pub(crate) fn run(args: &TestArgs) -> Result<Verdict> {
    let mut finished: Vec<Finished> = Vec::new();
    for step in Step::value_variants()
        .iter()
        .copied()
        .filter(|step| args.wants(*step))
    {
        output::heading(&step.name());
        let (outcome, took) = program::timed(|| attempt(step));
        report(step, &outcome, took);
        let is_last = step.ends_run() && outcome.is_failure();
        finished.push(Finished {
            step,
            outcome,
            took,
        });
        if is_last {
            break;
        }
    }
    output::say(&format!("\n{}", summary(&finished)));
    let is_bad = finished
        .iter()
        .any(|finished| finished.outcome.is_failure());
    Ok(Verdict::of(!is_bad))
}

impl TestArgs {
    fn wants(&self, step: Step) -> bool {
        (self.only.is_empty() || self.only.contains(&step)) && !self.skip.contains(&step)
    }
}

/// A step that cannot even be tried has failed like any other.
fn attempt(step: Step) -> Outcome {
    step.run()
        .unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
}

fn report(step: Step, outcome: &Outcome, took: Duration) {
    output::say(&format!("took {}", seconds(took)));
    output::say(&format!("{}: {}", step.name(), outcome_text(outcome)));
}

fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Passed => "passed".to_owned(),
        Outcome::Counted(tally) => tally.to_string(),
        Outcome::Failed(reason) => format!("FAILED: {reason}"),
        Outcome::NotRun(reason) => format!("NOT RUN: {reason}"),
    }
}

fn summary(finished: &[Finished]) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(["step", "time", "outcome"]);
    for Finished {
        step,
        outcome,
        took,
    } in finished
    {
        let text = outcome_text(outcome);
        let first_line = text.lines().next().unwrap_or_default().to_owned();
        table.add_row([step.name(), seconds(*took), first_line]);
    }
    let total = finished.iter().map(|finished| finished.took).sum();
    table.add_row(["all".to_owned(), seconds(total), String::new()]);
    table
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
