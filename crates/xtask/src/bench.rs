//! Load figures, as ratios against a baseline measured in the same run.

use anyhow::{Result, bail};
use clap::Args;

use crate::Verdict;

/// Measure the load figures.
#[derive(Args, Debug)]
pub(crate) struct BenchArgs {}

pub(crate) fn run(_args: &BenchArgs) -> Result<Verdict> {
    bail!("no benchmark is written yet")
}
