//! `handoff attach`: sits down at a session's terminal.

use handoff_core::Action;
use handoff_operations::Failure;
use handoff_operations::project::caller;
use handoff_operations::session::authority::{Act, require};
use handoff_session::control::Attachment;

use super::address::Address;
use super::viewer::{self, Left};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,
    /// Only look; others may look at the same time, but only one types.
    #[arg(long)]
    read_only: bool,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<u8, Failure> {
    caller(&ctx.ambient)?.may(Action::Start)?;
    if viewer::size().is_none() || ctx.out.is_json() {
        return Err(Failure::usage("there is no terminal to sit down at")
            .hint("look at the session's screen instead: `handoff pane --id ID`"));
    }
    let known = args.address.find_live(ctx)?;
    let attachment = if args.read_only {
        Attachment::Look
    } else {
        require(Act::Answer, &known, ctx)?;
        Attachment::Write
    };
    match viewer::view(&known, attachment, ctx)? {
        Left::Detached => viewer::say_detached(&known, ctx),
        Left::Ended => viewer::ended(&args.address.find(ctx)?),
    }
}
