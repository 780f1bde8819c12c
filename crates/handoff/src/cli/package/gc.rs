//! `handoff package gc`.

use handoff_api::{ExitCode, SweepDocument};
use handoff_core::caller::Action;
use handoff_core::package::PackageStanding;
use handoff_core::{Digest, PackageId};
use handoff_store::{StoreError, packages, read};

use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Do it; otherwise it is only told what would be done.
    #[arg(long)]
    apply: bool,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut document = SweepDocument {
        leftovers: 0,
        packages: 0,
        attachments: 0,
        is_dry_run: !args.apply,
    };
    if let Some(mut desk) = Desk::peek(ctx)? {
        desk.caller.may(Action::Steer)?;
        sweep(&mut desk, args, &mut document)?;
    }
    if ctx.out.is_json() {
        ctx.out.document(SweepDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let verb = if args.apply {
        "Removed"
    } else {
        "Would remove"
    };
    let (packages, attachments) = (document.packages, document.attachments);
    ctx.out.line(format!(
        "{verb} {packages} package files and {attachments} attachments; swept {} leftovers.",
        document.leftovers
    ))?;
    Ok(ExitCode::Done)
}

/// Takes away files of packages that are over. The rows stay: they are the record.
fn sweep(desk: &mut Desk, args: &Args, document: &mut SweepDocument) -> Result<(), Failure> {
    if args.apply {
        let swept = desk.depot().shelf().sweep();
        document.leftovers = swept.map_err(|error| unusable(&error))?;
    }
    let ids = desk.depot().shelf().ids();
    let mut kept = Some(vec![]);
    for id in ids.map_err(|error| unusable(&error))? {
        if is_over(desk, id)? {
            document.packages += 1;
            if args.apply {
                let removed = desk.depot().shelf().remove(id);
                removed.map_err(|error| unusable(&error))?;
            }
        } else {
            kept = kept.and_then(|kept| with_attachments(kept, id, desk));
        }
    }
    // What cannot be read may have attachments: nothing is taken away that it could need.
    if let Some(kept) = kept.filter(|_| args.apply) {
        document.attachments = remove_blobs(&desk.depot(), &kept)?;
    }
    Ok(())
}

/// These attachments and those of a package; none if it cannot be read.
fn with_attachments(mut kept: Vec<Digest>, id: PackageId, desk: &mut Desk) -> Option<Vec<Digest>> {
    let stored = desk.depot().find(id).ok()?;
    let attached = &stored.opened.package.payload.attachments;
    kept.extend(attached.iter().map(|it| it.sha256.clone()));
    Some(kept)
}

fn remove_blobs(depot: &handoff_engine::Depot<'_>, kept: &[Digest]) -> Result<usize, Failure> {
    depot
        .shelf()
        .remove_blobs_except(kept)
        .map_err(|error| unusable(&error))
}

/// Whether nobody can need its bytes any more. A file that the ledger does not know is left: it may be about to be known.
fn is_over(desk: &mut Desk, id: PackageId) -> Result<bool, Failure> {
    let found = read(&mut *desk.store, |tx| {
        let record = packages::get(tx, id)?;
        let wall = packages::clock(tx)?;
        Ok(record.standing(wall, &tx.now.moment))
    });
    match found {
        Ok(standing) => Ok(matches!(
            standing,
            PackageStanding::Consumed
                | PackageStanding::Transferred
                | PackageStanding::Cancelled
                | PackageStanding::Expired
        )),
        Err(StoreError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn unusable(error: &handoff_package::ShelfError) -> Failure {
    Failure::failed("cannot use the packages").because(error)
}
