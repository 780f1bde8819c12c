//! `handoff doctor`: versions, paths, the store, limits, and what is missing here.

use handoff_api::{DoctorDocument, ExitCode, Finding, StoreDocument, Verdict};
use handoff_core::lease::Ttl;
use handoff_core::task::Brief;
use handoff_core::{Action, Caller};
use handoff_files::{Filesystem, filesystem};
use handoff_git::Repository;
use handoff_operations::program::require_program;
use handoff_operations::project::require_person;
use handoff_operations::{Failure, audit};
use handoff_process::Kernel;
use handoff_process::sandbox::Cover;
use handoff_store::{Store, packages, queue, read};

use crate::context::Context;
use crate::output::{Table, Tone};

/// Below this a store still works, but sessions and packages soon will not.
const LOW_SPACE: u64 = 500 * 1024 * 1024;

/// So many hours ahead of the clock a time in the ledger is told.
const CLOCK_AHEAD: i64 = 1;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Also compare everything that is stored with everything that repeats it: rows with events, packages with files, results with
    /// the repository. Takes longer the more there is.
    #[arg(long)]
    audit: bool,
    /// Let packages expire by this clock again, after it was ahead: what had expired meanwhile stays expired.
    #[arg(long)]
    set_clock_right: bool,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if args.set_clock_right {
        set_clock_right(ctx)?;
    }
    let mut findings = vec![
        program(),
        home(ctx),
        space(ctx),
        git(ctx),
        project(ctx),
        sandbox(),
    ];
    findings.extend(notify(ctx));
    findings.extend(super::feature::findings(ctx));
    findings.extend(super::package::finding(ctx));
    let mut faults = vec![];
    let store = match ctx.open_store() {
        Ok(mut store) => {
            findings.push(good("store", describe(&*store)));
            findings.extend(clock(&mut *store));
            if args.audit {
                let audited = audit::run(&mut *store, ctx);
                findings.extend(audited.findings);
                faults = audited.faults;
            }
            Some(document(&*store))
        }
        Err(failure) => {
            findings.push(bad("store", explained(&failure)));
            None
        }
    };
    findings.extend(limits());
    let is_bad = findings
        .iter()
        .any(|finding| finding.verdict == Verdict::Bad);
    let document = DoctorDocument {
        findings,
        store,
        faults,
    };
    show(document, ctx)?;
    Ok(if is_bad {
        ExitCode::CheckFailed
    } else {
        ExitCode::Done
    })
}

fn program() -> Finding {
    good(
        "handoff",
        format!("{} on {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS),
    )
}

fn home(ctx: &Context) -> Finding {
    let path = match ctx.home() {
        Ok(path) => path,
        Err(failure) => return bad("state", explained(&failure)),
    };
    match Filesystem::of(&path) {
        Ok(Filesystem::Local) => good("state", path.display().to_string()),
        Ok(other) => bad(
            "state",
            format!("{} is on a {other} file system", path.display()),
        ),
        Err(error) => bad("state", error.to_string()),
    }
}

fn space(ctx: &Context) -> Finding {
    let free = ctx
        .home()
        .ok()
        .and_then(|path| filesystem::free_space(&path).ok());
    match free {
        Some(free) if free < LOW_SPACE => limited("space", format!("only {} MiB free", free >> 20)),
        Some(free) => good("space", format!("{} MiB free", free >> 20)),
        None => limited("space", "unknown".to_owned()),
    }
}

fn git(ctx: &Context) -> Finding {
    match handoff_git::Git::new(ctx.ambient.environment.clone()).version() {
        Ok(version) => good("git", version),
        Err(error) => bad("git", error.to_string()),
    }
}

fn project(ctx: &Context) -> Finding {
    let Ok(cwd) = ctx.cwd() else {
        return limited("project", "no working directory".to_owned());
    };
    let Ok(repository) = Repository::discover(cwd) else {
        return limited("project", "not inside a git repository".to_owned());
    };
    let place = repository.common_dir().display().to_string();
    match repository.read_mark() {
        Ok(Some(mark)) => good("project", format!("{} in {place}", mark.project)),
        Ok(None) => good(
            "project",
            format!("none yet in {place}; the first task makes one"),
        ),
        Err(error) => bad("project", error.to_string()),
    }
}

/// What the kernel keeps a session in a sandbox from.
fn sandbox() -> Finding {
    let kernel = Kernel::read();
    let is_whole = Cover::ALL.into_iter().all(|it| kernel.covers(it));
    match kernel {
        Kernel::Holds(_) if is_whole => good("sandbox", kernel.to_string()),
        Kernel::Holds(_) | Kernel::TooOld(_) | Kernel::Without => {
            limited("sandbox", kernel.to_string())
        }
    }
}

/// Whether whoever is to call a person is there at all.
fn notify(ctx: &Context) -> Option<Finding> {
    let command = ctx.config().ok()?.notify.command;
    let name = command.first()?;
    let found = ctx
        .home()
        .and_then(|home| require_program(name.as_ref(), &home, ctx));
    Some(match found {
        Ok(()) => good("notify", name.clone()),
        Err(failure) => bad("notify", explained(&failure)),
    })
}

/// A time in the ledger that is far ahead of the clock: packages expire by it.
fn clock(store: &mut dyn Store) -> Option<Finding> {
    let found = read(store, |tx| Ok((packages::clock(tx)?, tx.now.wall)));
    let (mark, wall) = match found {
        Ok(found) => found,
        Err(error) => return Some(bad("clock", explained(&error.into()))),
    };
    let hours = mark.duration_since(wall).as_hours();
    (hours >= CLOCK_AHEAD).then(|| {
        limited(
            "clock",
            format!(
                "the ledger has seen {mark}, {hours} hours ahead of this clock, and packages expire by that; if this clock is \
                 right, a person can run `handoff doctor --set-clock-right`, which revives nothing"
            ),
        )
    })
}

fn set_clock_right(ctx: &mut Context) -> Result<(), Failure> {
    require_person(Action::Trust, &ctx.ambient)?;
    let expired = queue::set_clock_right(&mut *ctx.open_store()?, &Caller::Person)?;
    Ok(ctx.out.note(format!(
        "Packages expire by this clock again; {expired} that had expired by the later time stay expired."
    ))?)
}

fn limits() -> [Finding; 2] {
    [
        good(
            "lease",
            format!("{} s to {} s", Ttl::MIN.as_secs(), Ttl::MAX.as_secs()),
        ),
        good("brief", format!("up to {} KiB", Brief::LIMIT >> 10)),
    ]
}

fn describe(store: &dyn Store) -> String {
    let info = store.info();
    format!(
        "{} at {}, schema {}",
        info.engine, info.location, info.schema
    )
}

fn document(store: &dyn Store) -> StoreDocument {
    let info = store.info();
    StoreDocument {
        id: info.id.to_string(),
        engine: info.kind.to_string(),
        engine_version: info.engine.clone(),
        location: info.location.clone(),
        schema_version: info.schema,
    }
}

fn explained(failure: &Failure) -> String {
    std::iter::once(&failure.message)
        .chain(&failure.causes)
        .cloned()
        .collect::<Vec<_>>()
        .join(": ")
}

fn good(what: &'static str, found: String) -> Finding {
    Finding {
        what,
        verdict: Verdict::Good,
        found,
    }
}

fn limited(what: &'static str, found: String) -> Finding {
    Finding {
        what,
        verdict: Verdict::Limited,
        found,
    }
}

fn bad(what: &'static str, found: String) -> Finding {
    Finding {
        what,
        verdict: Verdict::Bad,
        found,
    }
}

fn show(document: DoctorDocument, ctx: &mut Context) -> Result<(), Failure> {
    if ctx.out.is_json() {
        return Ok(ctx.out.document(DoctorDocument::SCHEMA, document)?);
    }
    let mut table = Table::new(&["CHECK", "", "FOUND"]).wrapped();
    for finding in document.findings {
        let (tone, word) = match finding.verdict {
            Verdict::Good => (Tone::Good, "ok"),
            Verdict::Limited => (Tone::Attention, "limited"),
            Verdict::Bad => (Tone::Bad, "problem"),
        };
        table.row([
            (Tone::Strong, finding.what.to_owned()),
            (tone, word.to_owned()),
            (Tone::Plain, finding.found),
        ]);
    }
    Ok(ctx.out.table(&table)?)
}
