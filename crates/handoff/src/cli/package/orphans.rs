//! Files of packages that the ledger does not know: their maker died between the file and its row. They are named, and a person
//! says what they are; nothing here knows whether the work was repeated since.

use handoff_api::{Finding, Verdict};
use handoff_operations::Project;

use crate::context::Context;
use crate::output::one_line;

/// What is to be said of one.
pub(crate) fn in_words(path: &str) -> String {
    let path = one_line(path);
    format!(
        "`{path}` is no package that the ledger knows: its maker died, or is at it. `handoff package import {path}` takes it in"
    )
}

/// What `doctor` says about them; nothing where there are none.
pub(crate) fn finding(ctx: &Context) -> Option<Finding> {
    let mut desk = Project::peek(ctx).ok()??;
    let found = desk.depot().unknown_files().ok()?;
    let first = found.first()?;
    Some(Finding {
        what: "packages",
        verdict: Verdict::Limited,
        found: in_words(&first.display().to_string()),
    })
}
