//! `handoff package gc`.

use std::collections::BTreeSet;
use std::time::SystemTime;

use handoff_api::{ExitCode, SweepDocument};
use handoff_core::Digest;
use handoff_core::caller::Action;
use handoff_core::package::PackageStanding;
use handoff_core::{PackageId, PackageRecord};
use handoff_store::{blobs, packages, read};

use super::orphans;
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

/// So many rows are read in one go.
const PAGE: u32 = 500;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Do it; otherwise it is only told what would be done.
    #[arg(long)]
    apply: bool,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let document = match Desk::peek(ctx)? {
        Some(mut desk) => sweep(&mut desk, Doing::of(args.apply))?,
        None => nothing(Doing::of(args.apply)),
    };
    show(document, ctx)
}

/// Whether anything is done, or only told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Telling,
    Applying,
}

impl Doing {
    pub(crate) const fn of(apply: bool) -> Self {
        if apply { Self::Applying } else { Self::Telling }
    }
}

const fn nothing(doing: Doing) -> SweepDocument {
    SweepDocument {
        leftovers: 0,
        packages: 0,
        attachments: 0,
        unknown: vec![],
        is_dry_run: matches!(doing, Doing::Telling),
    }
}

/// Takes away what nobody needs, or tells what that is.
pub(crate) fn sweep(desk: &mut Desk, doing: Doing) -> Result<SweepDocument, Failure> {
    desk.caller.may(Action::Steer)?;
    let mut document = nothing(doing);
    let mut sweeping = Sweeping {
        desk,
        apply: doing == Doing::Applying,
        document: &mut document,
    };
    sweeping.all()?;
    Ok(document)
}

fn show(document: SweepDocument, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(SweepDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let (verb, swept) = if document.is_dry_run {
        ("Would remove", "")
    } else {
        ("Removed", "; swept ")
    };
    let leftovers = match swept {
        "" => String::new(),
        swept => format!("{swept}{} leftovers", document.leftovers),
    };
    let (packages, attachments) = (document.packages, document.attachments);
    ctx.out.line(format!(
        "{verb} {packages} package files and {attachments} attachments{leftovers}."
    ))?;
    for path in &document.unknown {
        ctx.out.note(orphans::in_words(path))?;
    }
    Ok(ExitCode::Done)
}

/// Takes away what nobody needs. The rows stay: they are the record.
struct Sweeping<'a> {
    desk: &'a mut Desk,
    apply: bool,
    document: &'a mut SweepDocument,
}

impl Sweeping<'_> {
    fn all(&mut self) -> Result<(), Failure> {
        if self.apply {
            let swept = self.desk.depot().shelf().sweep();
            self.document.leftovers = swept.map_err(|error| unusable(&error))?;
        }
        let kept = self.packages()?;
        let unknown = orphans::find(self.desk)?;
        let is_all_known = unknown.is_empty();
        let paths = unknown.iter().map(|path| path.display().to_string());
        self.document.unknown = paths.collect();
        // What cannot be read may have attachments: nothing is taken away that it could need.
        if let Some(kept) = kept.filter(|_| is_all_known) {
            self.document.attachments = self.contents(&kept)?;
        }
        Ok(())
    }

    /// Removes the files of packages that are over. Returns the contents that the others have; none if one cannot be read.
    fn packages(&mut self) -> Result<Option<BTreeSet<Digest>>, Failure> {
        let (project, mut after) = (self.desk.project, None::<PackageRecord>);
        let files: BTreeSet<PackageId> = {
            let ids = self.desk.depot().shelf().ids();
            ids.map_err(|error| unusable(&error))?.into_iter().collect()
        };
        let mut kept = Some(BTreeSet::new());
        loop {
            let rows = read(&mut *self.desk.store, |tx| {
                packages::page(tx, project, after.as_ref(), PAGE)
            })?;
            if rows.is_empty() {
                return Ok(kept);
            }
            for (record, standing) in rows {
                let id = record.label.id;
                if !is_over(standing) {
                    kept = kept.and_then(|kept| with_contents(kept, id, self.desk));
                } else if files.contains(&id) {
                    self.remove(id)?;
                }
                after = Some(record);
            }
        }
    }

    fn remove(&mut self, id: PackageId) -> Result<(), Failure> {
        self.document.packages += 1;
        if self.apply {
            let removed = self.desk.depot().shelf().remove(id);
            removed.map_err(|error| unusable(&error))?;
        }
        Ok(())
    }

    /// Contents that no package names, and that nobody has wanted for a while: somebody may be about to name them.
    fn contents(&mut self, kept: &BTreeSet<Digest>) -> Result<usize, Failure> {
        let project = self.desk.project;
        let now = self.desk.now()?.wall;
        let depot = self.desk.depot();
        if !depot.is_shared() {
            let before = now.checked_sub(blobs::GRACE).unwrap_or(now);
            let shelf = depot.shelf();
            let found = shelf.unnamed_blobs(kept, SystemTime::from(before));
            let found = found.map_err(|error| unusable(&error))?;
            if self.apply {
                let removed = shelf.remove_blobs(&found);
                removed.map_err(|error| unusable(&error))?;
            }
            return Ok(found.len());
        }
        let store = &mut *self.desk.store;
        let found = read(store, |tx| blobs::unnamed(tx, project, kept))?;
        if !self.apply {
            return Ok(found.len());
        }
        let swept = blobs::sweep(store, project, &found)?;
        self.document.leftovers += usize::try_from(swept.pieces).unwrap_or(usize::MAX);
        Ok(swept.contents)
    }
}

/// These contents and those of a package; none if it cannot be read.
fn with_contents(
    mut kept: BTreeSet<Digest>,
    id: PackageId,
    desk: &mut Desk,
) -> Option<BTreeSet<Digest>> {
    let stored = desk.depot().find(id).ok()?;
    let attached = &stored.opened.package.payload.attachments;
    kept.extend(attached.iter().map(|it| it.sha256.clone()));
    Some(kept)
}

/// Whether nobody can need its bytes any more.
const fn is_over(standing: PackageStanding) -> bool {
    match standing {
        PackageStanding::Consumed
        | PackageStanding::Transferred
        | PackageStanding::Cancelled
        | PackageStanding::Expired => true,
        PackageStanding::Created | PackageStanding::Claimed => false,
    }
}

fn unusable(error: &handoff_package::ShelfError) -> Failure {
    Failure::failed("cannot use the packages").because(error)
}
