//! `handoff transfer`: pauses a task and hands it to somebody else. It is theirs when they have taken it, and not before.

use std::path::PathBuf;

use handoff_api::ExitCode;
use handoff_core::package::{PackageKind, Recipient};

use super::package::draft::DraftArgs;
use super::package::scrub::Secrets;
use super::package::{export, send, tell};
use super::pause::{Pausing, find};
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, by name or id.
    task: String,
    /// Who is to go on with it. Without `--output` or `--ssh` it is offered to whoever uses this store.
    #[arg(long, value_name = "RECIPIENT")]
    to: Recipient,
    /// Write it to this file, for another store.
    #[arg(long, short, value_name = "FILE", conflicts_with = "ssh")]
    output: Option<PathBuf>,
    /// Hand it to `handoff package import -` on this host.
    #[arg(long, value_name = "HOST")]
    ssh: Option<String>,
    /// Replace what looks like a secret by a mark, instead of refusing.
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    draft: DraftArgs,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Desk::open(ctx)?;
    let pausing = Pausing {
        task: find(&args.task, &mut desk)?,
        kind: PackageKind::Transfer,
        secrets: Secrets::of(args.redact),
    };
    let record = pausing.pause(args.draft, &mut desk, ctx)?;
    let id = record.label.id;
    if let Some(host) = args.ssh {
        return send::run(&send::Args::to_host(id, host), ctx);
    }
    if let Some(output) = &args.output {
        return export::to_file(id, output, args.to, ctx);
    }
    let note = format!("Offered to {}: `handoff resume {id}`", args.to);
    tell(&mut desk, &record, vec![note], ctx)
}
