//! `handoff package list`.

use handoff_api::{ExitCode, PackageRow, PackagesDocument};
use handoff_operations::{Failure, Project};
use std::collections::BTreeMap;

use handoff_core::package::{Label, Origin, PackageStanding, SessionRef, SubjectId};
use handoff_core::{BatchName, PackageRecord, TaskId, TaskName, Timestamp};
use handoff_package::shelf::{Headers, Presence};
use handoff_store::{packages, read};

use crate::context::Context;
use crate::output::{Table, Tone};

/// What tasks are called, and their batches.
type TaskNames = BTreeMap<TaskId, (TaskName, Option<BatchName>)>;

/// So many rows are read at a time.
const PAGE: u32 = 1_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only those of this session.
    #[arg(long, value_name = "ID")]
    session: Option<SessionRef>,
    /// Only those about this.
    #[arg(long, value_name = "ID")]
    subject: Option<SubjectId>,
    /// Only those that can still be received, or only those whose time is over.
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// Only those made after this time.
    #[arg(long, value_name = "TIME")]
    created_after: Option<Timestamp>,
    /// How many at most.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Status {
    Active,
    Expired,
}

impl Args {
    fn wants(&self, record: &PackageRecord, standing: PackageStanding) -> bool {
        let label = &record.label;
        let is_of = self.session.is_none() || self.session == label.session_id;
        let is_about = self.subject.is_none() || self.subject == label.subject_id;
        let is_new = self
            .created_after
            .is_none_or(|after| label.created_at > after);
        let is_status = match self.status {
            None => true,
            Some(Status::Active) => standing.is_active(),
            Some(Status::Expired) => standing == PackageStanding::Expired,
        };
        is_of && is_about && is_new && is_status
    }
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let document = match Project::peek(ctx)? {
        Some(mut desk) => page(&mut desk, args)?,
        None => PackagesDocument {
            packages: vec![],
            damaged: vec![],
            has_more: false,
        },
    };
    if ctx.out.is_json() {
        ctx.out.document(PackagesDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    if document.packages.is_empty() {
        ctx.out
            .note("There is no package. Make one: `handoff package create`.")?;
    } else {
        ctx.out.table(&table(&document.packages))?;
    }
    for damaged in &document.damaged {
        ctx.out.note(format!("{damaged}; it was left as it is"))?;
    }
    if document.has_more {
        let limit = args.limit.saturating_mul(4).min(100_000);
        ctx.out.note(format!(
            "There are more: `handoff package list --limit {limit}`."
        ))?;
    }
    Ok(ExitCode::Done)
}

fn page(desk: &mut Project, args: &Args) -> Result<PackagesDocument, Failure> {
    let project = desk.id;
    let (headers, is_shared) = {
        let depot = desk.depot();
        (depot.shelf().headers(), depot.is_shared())
    };
    let mut document = PackagesDocument {
        packages: vec![],
        damaged: vec![],
        has_more: false,
    };
    let names = read(&mut *desk.store, |tx| packages::task_names(tx, project))?;
    let mut after: Option<PackageRecord> = None;
    loop {
        let rows = read(&mut *desk.store, |tx| {
            packages::page(tx, project, after.as_ref(), PAGE)
        })?;
        let is_last = rows.len() < PAGE as usize;
        for (record, standing) in rows {
            if args.wants(&record, standing) {
                if document.packages.len() == args.limit as usize {
                    document.has_more = true;
                    return Ok(document);
                }
                let presence = presence(&record, standing, &headers, is_shared);
                let about = about(&record, &names);
                document.add(&record, (standing, presence), about);
            }
            after = Some(record);
        }
        if is_last {
            return Ok(document);
        }
    }
}

/// The task that it belongs to, or the batch that was paused with it: that has its name on the label.
fn about(record: &PackageRecord, names: &TaskNames) -> Option<String> {
    let (task, batch) = names.get(&record.task()?)?;
    let subject = record.label.subject_id.as_ref();
    let is_of = |batch: &&BatchName| subject.is_some_and(|it| it.as_str() == batch.as_str());
    Some(match batch.as_ref().filter(is_of) {
        Some(batch) => format!("batch {batch}"),
        None => format!("task {task}"),
    })
}

/// Whether the header on the shelf is the one that the ledger knows.
fn presence(
    record: &PackageRecord,
    standing: PackageStanding,
    headers: &Headers,
    is_shared: bool,
) -> Presence {
    if is_shared {
        return Presence::Whole;
    }
    match headers.presence(record.label.id, &record.digest) {
        // Nobody needs the bytes of what is over.
        Presence::Missing if !standing.is_active() => Presence::Whole,
        presence @ (Presence::Whole | Presence::Damaged | Presence::Missing) => presence,
    }
}

/// Puts a row into the document, and tells if it is damaged.
trait Listing {
    fn add(
        &mut self,
        record: &PackageRecord,
        standing: (PackageStanding, Presence),
        about: Option<String>,
    );
}

impl Listing for PackagesDocument {
    fn add(
        &mut self,
        record: &PackageRecord,
        (standing, presence): (PackageStanding, Presence),
        about: Option<String>,
    ) {
        let id = record.label.id;
        let word = match presence {
            Presence::Whole => "whole",
            Presence::Damaged => "damaged",
            Presence::Missing => "missing",
        };
        if presence != Presence::Whole {
            self.damaged.push(format!("{id} is {word}"));
        }
        self.packages
            .push(PackageRow::of(record, standing, word, about));
    }
}

fn table(rows: &[PackageRow]) -> Table {
    let mut table = Table::new(&[
        "PACKAGE", "STATE", "KIND", "CREATED", "EXPIRES", "ORIGIN", "ABOUT",
    ]);
    let short = |at: Timestamp| at.strftime("%Y-%m-%d %H:%M").to_string();
    for row in rows {
        let label = &row.label;
        let about = match &row.about {
            Some(about) => vec![about.clone()],
            None => foreign(label),
        };
        let (tone, state) = match row.presence {
            "whole" => (tone(row.state), row.state.word()),
            word => (Tone::Bad, word),
        };
        table.row([
            (Tone::Strong, row.id.clone()),
            (tone, state.to_owned()),
            (Tone::Plain, label.kind.word().to_owned()),
            (Tone::Faint, short(label.created_at)),
            (
                Tone::Faint,
                label.expires_at.map_or_else(|| "never".to_owned(), short),
            ),
            (origin_tone(row.origin), row.origin.word().to_owned()),
            (Tone::Plain, about.join("  ")),
        ]);
    }
    table
}

/// What stands on one whose task is not in this ledger, or that belongs to none.
fn foreign(label: &Label) -> Vec<String> {
    let about = [
        label.subject_id.as_ref().map(ToString::to_string),
        label.source_phase.as_ref().map(ToString::to_string),
        label.task.map(|task| task.to_string()),
    ];
    about.into_iter().flatten().collect()
}

const fn origin_tone(origin: Origin) -> Tone {
    match origin {
        Origin::Made => Tone::Faint,
        Origin::Imported => Tone::Plain,
        Origin::Unsealed => Tone::Attention,
    }
}

fn tone(state: PackageStanding) -> Tone {
    match state {
        PackageStanding::Created => Tone::Good,
        PackageStanding::Claimed => Tone::Active,
        PackageStanding::Expired => Tone::Attention,
        PackageStanding::Consumed | PackageStanding::Transferred | PackageStanding::Cancelled => {
            Tone::Faint
        }
    }
}
