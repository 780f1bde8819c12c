//! `handoff transfer`: pauses a task, a session or a batch and hands it to somebody else. It is theirs when they have taken it, and not before.

use std::path::PathBuf;

use handoff_api::{ExitCode, TransferDocument};
use handoff_core::PackageId;
use handoff_core::package::{PackageKind, Recipient};

use super::package::draft::DraftArgs;
use super::package::scrub::Secrets;
use super::package::send::Landing;
use super::package::{export, send};
use super::pause::{What, Wish};
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;
use crate::output::one_line;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    what: What,
    /// Who is to go on with it. Without `--output` or `--ssh` it is offered to whoever uses this store.
    #[arg(long, value_name = "RECIPIENT")]
    to: Recipient,
    /// Write it to this file, for another store.
    #[arg(long, short, value_name = "FILE", conflicts_with = "ssh")]
    output: Option<PathBuf>,
    /// Hand it to `handoff package import -` on this host.
    #[arg(long, value_name = "HOST")]
    ssh: Option<String>,
    #[command(flatten)]
    landing: Landing,
    /// Replace what looks like a secret by a mark, instead of refusing.
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    draft: DraftArgs,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Desk::open(ctx)?;
    if args.output.is_some() || args.ssh.is_some() {
        args.what.can_leave(&mut desk)?;
    }
    args.output
        .as_deref()
        .map_or(Ok(()), export::can_be_written)?;
    let wish = Wish {
        kind: PackageKind::Transfer,
        secrets: Secrets::of(args.redact),
        draft: args.draft,
    };
    let record = args.what.pause(wish, &mut desk, ctx)?;
    let id = record.label.id;
    let handed = match (args.ssh, &args.output) {
        (Some(host), _) => send::run(&send::Args::to_host(id, host, args.landing), ctx),
        (None, Some(output)) => export::to_file(id, output, args.to, ctx),
        (None, None) => return offer(id, &args.to, ctx),
    };
    // It is paused, with its package, and still ours.
    handed.map_err(|failure| {
        failure.hint(format!(
            "it is paused here: `handoff resume {id}` goes on with it, `handoff package send` or `export` hands it over"
        ))
    })
}

/// It is theirs when they have taken it, and so nothing is transferred yet.
fn offer(id: PackageId, to: &Recipient, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let document = TransferDocument {
        handoff_id: id.to_string(),
        target_process: to.to_string(),
        transferred_at: None,
    };
    if ctx.out.is_json() {
        ctx.out.document(TransferDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    ctx.out
        .line(format!("{id} is offered to {}", one_line(to.as_str())))?;
    ctx.out
        .note(format!("They take it with `handoff resume {id}`."))?;
    Ok(ExitCode::Done)
}
