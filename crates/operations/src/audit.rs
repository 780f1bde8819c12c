//! What `doctor --audit` compares, and what it says of what it finds: what is wrong, what is safe, what to do next. Nothing that it
//! says destroys anything.

use std::fmt::Write as _;

use handoff_api::{ExitCode, FaultDocument, Finding, Verdict};
use handoff_engine::results::{self, Absence};
use handoff_store::audit::{self, Audit, Fault};
use handoff_store::{Store, StoreError, read};

use crate::audit::packages::PackageFault;
use crate::failure::Failure;
use crate::project::Project;
use crate::workplace::Workplace;

mod packages;

/// So many are told in the text; JSON has all.
const SHOWN: usize = 20;

const LEDGER_SAFE: &str =
    "commits, branches and worktrees do not depend on the ledger and are safe";
const LEDGER_NEXT: &str = "let no worker run, copy the whole state directory to another disk as it is, and keep it; then bring back a \
                           backup from before (`handoff restore --check DIR`), or report this";
const PACKAGE_SAFE: &str = "the ledger, commits and branches do not depend on it and are safe";
const PACKAGE_NEXT: &str = "keep the file as it is; bring the package back from a backup (`handoff restore --check DIR`) or from \
                            whoever sent it (`handoff package import FILE`), or let its task be done again";

/// What came of it.
pub struct Audited {
    /// A line of `doctor` for each kind of thing.
    pub findings: Vec<Finding>,
    /// One by one.
    pub faults: Vec<FaultDocument>,
}

/// Compares everything. What cannot be compared is a fault, and the rest is compared all the same.
pub fn run(store: &mut dyn Store, here: &Workplace) -> Audited {
    let kind = store.info().kind;
    let mut faults = vec![];
    faults.extend(all(store.lost().map(Vec::from_iter)));
    faults.extend(all(read(store, |tx| audit::engine_faults(tx, kind))));
    let audit = match read(store, audit::audit) {
        Ok(audit) => {
            faults.extend(audit.faults.iter().map(of_ledger));
            Some(audit)
        }
        Err(error) => {
            faults.push(unreadable(&error.into()));
            None
        }
    };
    faults.extend(of_project(store, here));
    let findings = findings(audit.as_ref(), &faults);
    Audited { findings, faults }
}

fn all(found: Result<Vec<Fault>, StoreError>) -> Vec<FaultDocument> {
    match found {
        Ok(faults) => faults.iter().map(of_ledger).collect(),
        Err(error) => vec![unreadable(&error.into())],
    }
}

fn of_ledger(fault: &Fault) -> FaultDocument {
    FaultDocument {
        kind: fault.kind.word(),
        verdict: Verdict::Bad,
        what: fault.what.clone(),
        safe: LEDGER_SAFE,
        next: LEDGER_NEXT.to_owned(),
    }
}

fn unreadable(failure: &Failure) -> FaultDocument {
    FaultDocument {
        kind: "unreadable",
        verdict: Verdict::Bad,
        what: explained(failure),
        safe: LEDGER_SAFE,
        next: LEDGER_NEXT.to_owned(),
    }
}

/// The packages and the repository of the project that one stands in. Nothing outside of one.
fn of_project(store: &dyn Store, here: &Workplace) -> Vec<FaultDocument> {
    let mut project = match Project::peek(here) {
        Ok(Some(project)) => project,
        Ok(None) => return vec![],
        Err(failure) if failure.code == ExitCode::NotFound => return vec![],
        // The ledger is open: it is another one than the repository says, or its mark cannot be read.
        Err(failure) => {
            let id = store.info().id;
            return vec![FaultDocument {
                kind: "other_store",
                verdict: Verdict::Bad,
                what: explained(&failure),
                safe: "both ledgers and the repository are as they were",
                next: format!(
                    "set HANDOFF_HOME or HANDOFF_STORE to what was used when the first task was added; the ledger in use is {id}"
                ),
            }];
        }
    };
    let mut faults = match packages::faults(&mut project) {
        Ok(found) => found.into_iter().map(of_package).collect(),
        Err(failure) => vec![unreadable(&failure)],
    };
    let unknown = project.depot().unknown_files().unwrap_or_default();
    faults.extend(unknown.iter().map(|path| {
        let what = format!("`{}` is no package that the ledger knows", path.display());
        FaultDocument {
            kind: "package_unknown",
            verdict: Verdict::Limited,
            what,
            safe: PACKAGE_SAFE,
            next:
                "look what it is, and take it in with `handoff package import FILE` if it is missed"
                    .to_owned(),
        }
    }));
    let git = here.git(&project.repository);
    match results::compare(&mut *project.store, project.id, &git, &project.repository) {
        Ok(absences) => faults.extend(absences.iter().map(of_repository)),
        Err(error) => faults.push(FaultDocument {
            kind: "repository_unread",
            verdict: Verdict::Limited,
            what: explained(&error.into()),
            safe: "the ledger and its packages are safe",
            next: "see what git says: `git fsck --connectivity-only`".to_owned(),
        }),
    }
    faults
}

fn of_package(fault: PackageFault) -> FaultDocument {
    FaultDocument {
        kind: match fault.is_missing {
            true => "package_missing",
            false => "package_changed",
        },
        verdict: Verdict::Bad,
        what: fault.what,
        safe: PACKAGE_SAFE,
        next: PACKAGE_NEXT.to_owned(),
    }
}

fn of_repository(absence: &Absence) -> FaultDocument {
    let (kind, what, safe, next) = match absence {
        Absence::Unnamed {
            task,
            branch,
            commit,
        } => (
            "result_unnamed",
            format!("commit {commit} of `{task}` is in no branch; `{branch}` is gone"),
            "the commit is still there",
            format!("if it was not landed, keep it: `git branch {branch} {commit}`"),
        ),
        Absence::Gone {
            task,
            branch,
            commit,
        } => (
            "result_missing",
            format!("commit {commit} of `{task}` is not there, and neither is `{branch}`"),
            "everything else; it may have been landed in another form, or lie in another clone",
            format!(
                "if it is missed, fetch it from another clone, or add the task again: `handoff queue show {task}`"
            ),
        ),
        Absence::Baseline { branch, commit } => (
            "baseline_missing",
            format!("commit {commit}, the baseline of `{branch}`, is not there"),
            "the branch itself",
            "fetch it from another clone, or prove the branch again: `handoff baseline set`"
                .to_owned(),
        ),
        Absence::BaselineRef { branch } => (
            "baseline_ref",
            format!("`refs/handoff/baseline/{branch}` is not what the ledger says"),
            "the ledger's proof and the branch itself",
            "nothing: the next worker puts it right".to_owned(),
        ),
    };
    FaultDocument {
        kind,
        verdict: Verdict::Limited,
        what,
        safe,
        next,
    }
}

fn findings(audit: Option<&Audit>, faults: &[FaultDocument]) -> Vec<Finding> {
    let of = |verdict| faults.iter().filter(move |it| it.verdict == verdict);
    let mut findings = vec![];
    match audit {
        Some(audit) if of(Verdict::Bad).next().is_none() => {
            findings.push(finding("audit", Verdict::Good, agreed(audit)));
        }
        Some(_) | None => findings.push(finding("audit", Verdict::Bad, told(of(Verdict::Bad)))),
    }
    // Unknown files are told without an audit, too.
    let repository = of(Verdict::Limited).filter(|it| it.kind != "package_unknown");
    if repository.clone().next().is_some() {
        findings.push(finding("results", Verdict::Limited, told(repository)));
    }
    findings
}

fn agreed(audit: &Audit) -> String {
    format!(
        "{} tasks, {} features, {} packages and {} contexts agree with their {} events",
        audit.tasks, audit.features, audit.packages, audit.contexts, audit.events
    )
}

/// What is wrong, and for all that is of one kind once what is safe and what to do.
fn told<'a>(faults: impl Iterator<Item = &'a FaultDocument>) -> String {
    let mut text = String::new();
    let mut before: Option<&FaultDocument> = None;
    let mut more = 0;
    for (number, fault) in faults.enumerate() {
        if number >= SHOWN {
            more += 1;
            continue;
        }
        match before {
            Some(other) if other.safe == fault.safe && other.next == fault.next => {
                text.push_str("; ");
            }
            Some(other) => text.push_str(&advice(other)),
            None => {}
        }
        text.push_str(&fault.what);
        before = Some(fault);
    }
    if more > 0 {
        write!(text, "; and {more} more").expect("a text takes every character");
    }
    text.push_str(before.map_or_else(String::new, advice).trim_end());
    text
}

fn advice(fault: &FaultDocument) -> String {
    format!(". Safe: {}. Next: {}. ", fault.safe, fault.next)
}

fn explained(failure: &Failure) -> String {
    std::iter::once(&failure.message)
        .chain(&failure.causes)
        .cloned()
        .collect::<Vec<_>>()
        .join(": ")
}

fn finding(what: &'static str, verdict: Verdict, found: String) -> Finding {
    Finding {
        what,
        verdict,
        found,
    }
}
