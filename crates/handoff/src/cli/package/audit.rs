//! The packages of a project compared with their rows: each that can still be received is opened, and its attachments are read.

use std::io;

use handoff_core::PackageRecord;
use handoff_operations::{Failure, Project};
use handoff_store::{packages, read};

use super::export::bundled;
use crate::context::Context;
use crate::output::one_line;

/// So many rows are read at a time.
const PAGE: u32 = 1_000;

/// What does not agree, in words. Nothing outside of a project.
pub(crate) fn faults(ctx: &Context) -> Result<Vec<String>, Failure> {
    let Ok(Some(mut desk)) = Project::peek(ctx) else {
        return Ok(vec![]);
    };
    let project = desk.id;
    let mut faults = vec![];
    let mut after: Option<PackageRecord> = None;
    loop {
        let rows = read(&mut *desk.store, |tx| {
            packages::page(tx, project, after.as_ref(), PAGE)
        })?;
        let is_last = rows.len() < PAGE as usize;
        for (record, standing) in rows {
            if standing.is_active() {
                faults.extend(fault(&record, &mut desk));
            }
            after = Some(record);
        }
        if is_last {
            return Ok(faults);
        }
    }
}

fn fault(record: &PackageRecord, desk: &mut Project) -> Option<String> {
    let id = record.label.id;
    let whole = bundled(id, desk, |bundle| {
        Ok(io::copy(bundle, &mut io::sink()).map(drop)?)
    });
    let failure = whole.err()?;
    let why: Vec<_> = std::iter::once(&failure.message)
        .chain(&failure.causes)
        .map(|it| one_line(it))
        .collect();
    Some(format!("{id} is not as it was sealed: {}", why.join(": ")))
}
