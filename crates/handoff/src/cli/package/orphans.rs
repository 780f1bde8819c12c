//! Files of packages that the ledger does not know: their maker died between the file and its row. They are named, and a person
//! says what they are; nothing here knows whether the work was repeated since.

use std::path::PathBuf;

use handoff_api::{Finding, Verdict};
use handoff_store::{packages, read};

use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;
use crate::output::one_line;

/// The files that the ledger does not know.
pub(super) fn find(desk: &mut Desk) -> Result<Vec<PathBuf>, Failure> {
    let project = desk.project;
    let shelf = desk.depot().shelf().clone();
    let ids = shelf.ids();
    let ids = ids.map_err(|error| Failure::failed("cannot use the packages").because(&error))?;
    // Read after the files were listed: what is made meanwhile is known by then, or was not listed.
    let known = read(&mut *desk.store, |tx| packages::ids_of(tx, project))?;
    let unknown = ids.into_iter().filter(|id| !known.contains(id));
    Ok(unknown.map(|id| shelf.file(id)).collect())
}

/// What is to be said of one.
pub(crate) fn in_words(path: &str) -> String {
    let path = one_line(path);
    format!(
        "`{path}` is no package that the ledger knows: its maker died, or is at it. `handoff package import {path}` takes it in"
    )
}

/// What `doctor` says about them; nothing where there are none.
pub(crate) fn finding(ctx: &Context) -> Option<Finding> {
    let mut desk = Desk::peek(ctx).ok()??;
    let found = find(&mut desk).ok()?;
    let first = found.first()?;
    Some(Finding {
        what: "packages",
        verdict: Verdict::Limited,
        found: in_words(&first.display().to_string()),
    })
}
