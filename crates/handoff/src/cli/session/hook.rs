//! `handoff hook`: hands what an agent tells by a hook to its holder. Agents start it; people never do.
//!
//! It says nothing and never fails: an agent takes the words of a hook for its user's, and a failure for a reason to stop.

use std::io::Read as _;

use handoff_agents::hook::HookReport;
use handoff_api::ExitCode;
use handoff_session::{Client, Token, environment};

use crate::context::Context;

/// A hook tells what a tool printed too.
const LARGEST_REPORT: u64 = 16 * 1024 * 1024;

pub(super) fn run(ctx: &Context) -> ExitCode {
    // Without a holder there is nobody to tell, and the agent must not notice.
    hand_over(ctx).unwrap_or(());
    ExitCode::Done
}

fn hand_over(ctx: &Context) -> Option<()> {
    let mut text = vec![];
    let stdin = std::io::stdin().lock();
    stdin.take(LARGEST_REPORT).read_to_end(&mut text).ok()?;
    let report: HookReport = serde_json::from_slice(&text).ok()?;
    let token: Token = ctx.ambient.text(environment::TOKEN)?.parse().ok()?;
    let socket = ctx.ambient.variable(environment::SOCKET)?;
    Client::new(socket).with_token(token).report(&report).ok()
}
