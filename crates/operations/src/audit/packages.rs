//! The packages of a project compared with their rows: each that can still be received is opened, and its attachments are read.

use std::io;

use handoff_api::ExitCode;
use handoff_core::PackageRecord;
use handoff_engine::depot::Stored;
use handoff_package::bundle::Bundle;
use handoff_store::{packages, read};

use crate::failure::Failure;
use crate::project::Project;

/// So many rows are read at a time.
const PAGE: u32 = 1_000;

/// A package that can be received and is not as it was sealed.
#[derive(Debug)]
pub(super) struct PackageFault {
    /// In words.
    pub(super) what: String,
    /// Whether there is nothing, rather than something else.
    pub(super) is_missing: bool,
}

/// The packages of a project that are not as they were sealed.
pub(super) fn faults(project: &mut Project) -> Result<Vec<PackageFault>, Failure> {
    let id = project.id;
    let mut faults = vec![];
    let mut after: Option<PackageRecord> = None;
    loop {
        let rows = read(&mut *project.store, |tx| {
            packages::page(tx, id, after.as_ref(), PAGE)
        })?;
        let is_last = rows.len() < PAGE as usize;
        for (record, standing) in rows {
            if standing.is_active() {
                faults.extend(fault(&record, project));
            }
            after = Some(record);
        }
        if is_last {
            return Ok(faults);
        }
    }
}

fn fault(record: &PackageRecord, project: &mut Project) -> Option<PackageFault> {
    let failure = read_whole(record, project).err()?;
    Some(PackageFault {
        what: format!(
            "{} is not as it was sealed: {}",
            record.label.id,
            super::explained(&failure)
        ),
        is_missing: failure.code == ExitCode::NotFound,
    })
}

fn read_whole(record: &PackageRecord, project: &mut Project) -> Result<(), Failure> {
    let mut depot = project.depot();
    let Stored { opened, bytes, .. } = depot.find(record.label.id)?;
    let mut blobs = depot.blobs();
    let mut bundle = Bundle::new(bytes, &opened, &mut *blobs).map_err(|error| {
        Failure::new(ExitCode::NotFound, "an attachment is not there").because(&error)
    })?;
    let read = io::copy(&mut bundle, &mut io::sink());
    read.map(drop).map_err(|error| {
        Failure::new(ExitCode::Damaged, "its content cannot be read").because(&error)
    })
}
