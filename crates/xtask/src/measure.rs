//! The numbers we hold ourselves to, taken from the sources.
//!
//! Counted are lines that hold code: neither blank lines nor comments. A file's tests are counted
//! apart from its other code, as if they were a file of their own. What only a compiler can know,
//! such as undocumented items, is left to lints.

mod comments;
mod distribution;
mod facts;
mod gates;
mod lines;
mod report;
mod source;

use anyhow::{Result, bail};
use clap::Args;

use self::facts::FileFacts;
use self::report::Report;
use handoff_chores::{Verdict, output};

/// Measure the sources and check the gates.
#[derive(Args, Debug)]
pub(crate) struct MeasureArgs {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &MeasureArgs) -> Result<Verdict> {
    let report = measure()?;
    if args.json {
        output::say(&serde_json::to_string_pretty(&report)?);
    } else {
        output::say(&report.to_string());
    }
    Ok(if report.violations.is_empty() {
        Verdict::Good
    } else {
        Verdict::Bad
    })
}

/// The same as a step of a longer chore: shows the numbers and fails on a gate.
pub(crate) fn check_gates() -> Result<()> {
    let report = measure()?;
    output::say(&report.to_string());
    match report.violations.len() {
        0 => Ok(()),
        count => bail!("{count} gate violations"),
    }
}

fn measure() -> Result<Report> {
    let sources = source::find_all()?;
    let facts: Vec<FileFacts> = sources.iter().map(FileFacts::gather).collect();
    Ok(Report::new(&facts))
}
