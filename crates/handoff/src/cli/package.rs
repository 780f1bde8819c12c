//! `handoff package`: what one session hands to the next, sealed, signed, expiring, and received once.

mod attachment;
mod create;
pub(super) mod draft;
pub(super) mod export;
pub(super) mod gc;
pub(super) mod grasp;
mod import;
mod life;
mod list;
mod orphans;
mod probe;
mod prompt;
pub(super) mod receive;
mod schema;
pub(super) mod scrub;
pub(super) mod send;
mod show;
pub(super) mod surroundings;
pub(super) mod tree_look;
mod verdict;
mod verify;

pub(super) use orphans::{finding, in_words as unknown_file};

use clap::Subcommand;
use handoff_api::{ExitCode, PackageReceipt};
use handoff_core::package::PackageStanding;
use handoff_core::{PackageId, PackageRecord};
use handoff_operations::{Failure, Project};
use handoff_store::{StoreError, packages, read};

use crate::context::Context;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Seal what the next session needs: the shared context, where to go on, and what can be proved.
    Create(Box<create::Args>),
    /// Show the packages, newest first. Damaged ones are told and left alone.
    List(list::Args),
    /// Show one package with everything in it.
    Show(show::Args),
    /// Find out whether a package may be received here, and whether its claims are true. Changes nothing.
    Verify(verify::Args),
    /// Take a package in: verify it, probe its claims, restore its context, and print what to tell the next session.
    Receive(receive::Args),
    /// Give back the right to receive a package.
    Release(life::ReleaseArgs),
    /// Delete a package. What happened to it stays in the ledger.
    Delete(life::DeleteArgs),
    /// Write a package to a file or to standard output, with its attachments.
    Export(export::Args),
    /// Take a file out of a package.
    Attachment(attachment::Args),
    /// Take in a package from a file or from standard input; also one of the Handoff Protocol, which has no seal.
    Import(import::Args),
    /// Hand a package to another machine: `ssh HOST handoff package import -`.
    Send(send::Args),
    /// Clear away what nobody needs any more. Shows what that is; `--apply` does it.
    Gc(gc::Args),
    /// Print the JSON Schema of the format.
    Schema,
}

pub(super) fn run(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::Create(args) => create::run(*args, ctx),
        Command::List(args) => list::run(&args, ctx),
        Command::Show(args) => show::run(&args, ctx),
        Command::Verify(args) => verify::run(&args, ctx),
        Command::Receive(args) => receive::run(&args, ctx),
        Command::Release(args) => life::release(args, ctx),
        Command::Delete(args) => life::delete(args, ctx),
        Command::Export(args) => export::run(&args, ctx),
        Command::Attachment(args) => attachment::run(&args, ctx),
        Command::Import(args) => import::run(&args, ctx),
        Command::Send(args) => send::run(&args, ctx),
        Command::Gc(args) => gc::run(&args, ctx),
        Command::Schema => schema::run(ctx),
    }
}

/// What a package will be called that is about to be made.
pub(super) fn fresh_id() -> PackageId {
    PackageId::from_uuid(handoff_process::mint())
}

/// The desk, for a command about a package that must be there already.
pub(super) fn desk_for(id: PackageId, ctx: &Context) -> Result<Project, Failure> {
    Project::peek(ctx)?.ok_or_else(|| {
        Failure::from(StoreError::NotFound {
            what: format!("package {id}"),
        })
    })
}

/// Where a package is now.
fn standing(desk: &mut Project, record: &PackageRecord) -> Result<PackageStanding, Failure> {
    let now = read(&mut *desk.store, |tx| {
        Ok((packages::clock(tx)?, tx.now.moment.clone()))
    })?;
    Ok(record.standing(now.0, &now.1))
}

/// Says what became of a package.
pub(super) fn tell(
    desk: &mut Project,
    record: &PackageRecord,
    notes: Vec<String>,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let state = standing(desk, record)?;
    let depot = desk.depot();
    let file = depot.shelf().file(record.label.id);
    let receipt = PackageReceipt {
        id: record.label.id.to_string(),
        state,
        fence: record.fence.number(),
        expires_at: record.label.expires_at,
        path: (!depot.is_shared()).then(|| file.display().to_string()),
        notes,
    };
    if ctx.out.is_json() {
        ctx.out.document(PackageReceipt::SCHEMA, receipt)?;
        return Ok(ExitCode::Done);
    }
    ctx.out
        .line(format!("{}: {}", receipt.id, receipt.state.word()))?;
    for note in receipt.notes {
        ctx.out.note(note)?;
    }
    Ok(ExitCode::Done)
}
