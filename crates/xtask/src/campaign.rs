//! The fault suite: kills, failing system calls, power loss, attacks, load.

use anyhow::Result;
use clap::Args;

use crate::tally::Tally;
use crate::{Verdict, output};

/// Run the fault suite at its full count.
#[derive(Args, Debug)]
pub(crate) struct CampaignArgs {}

pub(crate) fn run(_args: &CampaignArgs) -> Result<Verdict> {
    let tally = small_tier()?;
    output::say(&format!("campaign: {tally}"));
    Ok(if tally.failed == 0 {
        Verdict::Good
    } else {
        Verdict::Bad
    })
}

/// Every tier at the small count that `cargo xtask test` can wait for.
#[expect(
    clippy::unnecessary_wraps,
    reason = "no tier is written yet; 2026-11-15"
)]
pub(crate) fn small_tier() -> Result<Tally> {
    Ok(Tally::default())
}
