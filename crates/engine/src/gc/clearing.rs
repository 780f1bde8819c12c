//! Looking at what there is, and clearing away what may go. Killed in the middle it can be repeated.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use handoff_core::{BranchName, CommitId, Digest, PackageId, SessionId, TaskName, Timestamp};
use handoff_files::{Dir, Lock};
use handoff_session::{Known, catalogue, place};
use handoff_store::{StoreError, read, tasks};

use super::branches;
use super::verdict::{Kind, Limits, SessionFact, TaskFact, Verdict};
use super::verdict::{crowd_out, of_baton, of_session};
use super::whose::task_fact;
use crate::error::EngineError;
use crate::places::Attempt;
use crate::reconcile::{self, Retired, Tenancy};
use crate::workshop::Workshop;

/// What a directory is called that is on its way out: no session has such a name, so that nobody finds it any more.
const GONE: &str = ".gone-";

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is.
    pub kind: Kind,
    /// What it is called.
    pub name: String,
    /// What becomes of it.
    pub verdict: Verdict,
    /// How much there is of it.
    pub bytes: u64,
    pub(super) what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    Session(SessionId),
    Transcript(SessionId),
    Worktree(Attempt),
    Spare(PathBuf),
    Baton(PathBuf),
    Branch(BranchName, CommitId),
    Package(PackageId),
    Attachment(Digest),
}

/// Looks at everything of a project, and changes nothing.
pub fn survey(workshop: &mut Workshop<'_>, limits: Limits) -> Result<Vec<Found>, EngineError> {
    let now = workshop.clock.now().wall;
    let mut found = sessions(workshop, limits, now)?;
    found.extend(worktrees(workshop)?);
    found.extend(spares(workshop)?);
    found.extend(batons(workshop)?);
    found.extend(branches::branches(workshop)?);
    Ok(found)
}

/// Clears away what may go, and says what it was. What somebody uses by now stays.
pub fn clear(workshop: &mut Workshop<'_>, limits: Limits) -> Result<Vec<Found>, EngineError> {
    finish(&workshop.places.of_sessions().sessions());
    let mut done = vec![];
    for mut found in survey(workshop, limits)? {
        if found.verdict.goes() && !remove(workshop, &found)? {
            found.verdict = Verdict::Live;
        }
        done.push(found);
    }
    Ok(done)
}

/// What one who was killed began to remove. What cannot be removed now can be the next time.
fn finish(sessions: &Path) {
    let entries = fs::read_dir(sessions).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_name().to_string_lossy().starts_with(GONE) {
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}

/// Whether it is gone; if not, somebody uses it.
fn remove(workshop: &mut Workshop<'_>, found: &Found) -> Result<bool, EngineError> {
    match &found.what {
        What::Session(id) => remove_session(workshop, *id),
        What::Transcript(id) => remove_transcript(workshop, *id),
        What::Worktree(attempt) => remove_worktree(workshop, *attempt),
        What::Spare(path) => reconcile::discard(workshop, path),
        What::Baton(path) => Ok(fs::remove_file(path).is_ok()),
        What::Branch(branch, commit) => branches::remove(workshop, branch, commit),
        // These go with the packages.
        What::Package(_) | What::Attachment(_) => Ok(false),
    }
}

/// Both locks of a session that has ended; none if somebody has one of them.
fn quiet(workshop: &Workshop<'_>, id: SessionId) -> Result<Option<[Lock; 2]>, EngineError> {
    let places = &workshop.places;
    let holder = Lock::try_acquire(&places.holder_lock(id), "gc")?;
    let worker = Lock::try_acquire(&places.worker_lock(id), "gc")?;
    Ok(holder.zip(worker).map(|(holder, worker)| [holder, worker]))
}

fn remove_session(workshop: &Workshop<'_>, id: SessionId) -> Result<bool, EngineError> {
    let places = workshop.places.of_sessions();
    let Some(known) = catalogue::by_id(&places, id).map_err(EngineError::Session)? else {
        return Ok(true);
    };
    let Some(locks) = quiet(workshop, id)? else {
        return Ok(false);
    };
    forget_name(&known, &places)?;
    let gone = places.sessions().join(format!("{GONE}{id}"));
    let is_gone = fs::rename(&known.directory, &gone).is_ok();
    drop(locks);
    // If it is not removed to the end, the next one does that.
    fs::remove_dir_all(gone).ok();
    Ok(is_gone)
}

/// Its name leads to nobody any more, unless another session has it.
fn forget_name(known: &Known, places: &handoff_session::Places) -> Result<(), EngineError> {
    let (project, name) = (known.record.project, &known.record.name);
    let Some(lock) = Lock::try_acquire(&places.name_lock(project, name), "gc")? else {
        return Ok(());
    };
    let path = places.names(project).join(name.as_str());
    let is_its_own = |text: String| text.trim_end() == known.record.id.to_string();
    if fs::read_to_string(&path).is_ok_and(is_its_own) {
        fs::remove_file(path).ok();
    }
    lock.release();
    Ok(())
}

fn remove_transcript(workshop: &Workshop<'_>, id: SessionId) -> Result<bool, EngineError> {
    let Some(_locks) = quiet(workshop, id)? else {
        return Ok(false);
    };
    for path in transcripts(&workshop.places.session(id)) {
        fs::remove_file(path).ok();
    }
    Ok(true)
}

fn remove_worktree(workshop: &mut Workshop<'_>, attempt: Attempt) -> Result<bool, EngineError> {
    let Tenancy::Over(task) = reconcile::tenancy(workshop, attempt)? else {
        return Ok(false);
    };
    Ok(reconcile::retire(workshop, &task, attempt)? == Retired::Gone)
}

/// Newest first.
fn sessions(
    workshop: &mut Workshop<'_>,
    limits: Limits,
    now: Timestamp,
) -> Result<Vec<Found>, EngineError> {
    let places = workshop.places.of_sessions();
    let mut known = catalogue::all(&places).map_err(EngineError::Session)?;
    known.retain(|it| it.record.project == workshop.project);
    known.reverse();
    let mut facts = vec![];
    for session in &known {
        facts.push(fact(workshop, session)?);
    }
    let sizes: Vec<u64> = known.iter().map(|it| size(&it.directory)).collect();
    let verdicts = facts.iter().map(|it| of_session(*it, now, limits.sessions));
    let mut judged: Vec<_> = verdicts.zip(sizes).collect();
    if let Some(limit) = limits.bytes {
        crowd_out(&mut judged, limit);
    }
    let mut found = vec![];
    for ((session, fact), (verdict, bytes)) in known.iter().zip(facts).zip(judged) {
        let id = session.record.id;
        let name = session.record.name.to_string();
        let printed = transcripts(&session.directory);
        let printed: u64 = printed.iter().map(|it| size(it)).sum();
        found.push(Found {
            kind: Kind::Session,
            name: name.clone(),
            verdict,
            bytes,
            what: What::Session(id),
        });
        // It goes with its session.
        if !verdict.goes() && printed > 0 {
            found.push(Found {
                kind: Kind::Transcript,
                name,
                verdict: of_session(fact, now, limits.transcripts),
                bytes: printed,
                what: What::Transcript(id),
            });
        }
    }
    Ok(found)
}

fn transcripts(session: &Path) -> [PathBuf; 2] {
    [place::transcript(session), place::older_transcript(session)]
}

fn fact(workshop: &mut Workshop<'_>, session: &Known) -> Result<SessionFact, EngineError> {
    let id = session.record.id;
    let places = &workshop.places;
    let is_held =
        Lock::is_held(&places.holder_lock(id))? || Lock::is_held(&places.worker_lock(id))?;
    let task = match session.record.task_id {
        Some(task) => read(workshop.store, |tx| task_fact(tx, task))?,
        None => TaskFact::None,
    };
    Ok(SessionFact {
        is_held,
        ended_at: session.record.ended.as_ref().map(|it| it.at),
        task,
    })
}

fn worktrees(workshop: &mut Workshop<'_>) -> Result<Vec<Found>, EngineError> {
    let attempts = reconcile::attempts(workshop)?;
    let mut found = vec![];
    for attempt in attempts {
        let path = workshop.places.worktree(workshop.project, attempt);
        let verdict = match reconcile::tenancy(workshop, attempt)? {
            Tenancy::Over(_) => Verdict::Orphaned,
            Tenancy::Occupied => Verdict::Live,
            Tenancy::Deserted => Verdict::Left,
            Tenancy::Foreign => Verdict::Foreign,
        };
        let name = path.file_name().unwrap_or_default();
        found.push(Found {
            kind: Kind::Worktree,
            name: name.to_string_lossy().into_owned(),
            verdict,
            bytes: size(&path),
            what: What::Worktree(attempt),
        });
    }
    Ok(found)
}

/// Trees that a worker made ahead; one whose worker is gone is of no use to anybody.
fn spares(workshop: &Workshop<'_>) -> Result<Vec<Found>, EngineError> {
    let mut found = vec![];
    for path in reconcile::spares(workshop)? {
        let is_held = Lock::is_held(&path.with_extension("lock"))?;
        let name = path.file_name().unwrap_or_default();
        found.push(Found {
            kind: Kind::Worktree,
            name: name.to_string_lossy().into_owned(),
            verdict: if is_held {
                Verdict::Spare
            } else {
                Verdict::Unused
            },
            bytes: size(&path),
            what: What::Spare(path),
        });
    }
    Ok(found)
}

fn batons(workshop: &mut Workshop<'_>) -> Result<Vec<Found>, EngineError> {
    let place = workshop.places.batons(workshop.project);
    let names = match Dir::open(&place) {
        Ok(dir) => dir.names()?,
        Err(error) if error.is_not_found() => return Ok(vec![]),
        Err(error) => return Err(error.into()),
    };
    let mut found = vec![];
    for file in names {
        let Some(name) = baton_of(&file) else {
            continue;
        };
        let path = place.join(&file);
        found.push(Found {
            kind: Kind::Baton,
            verdict: of_baton(named_fact(workshop, &name)?),
            name: name.to_string(),
            bytes: size(&path),
            what: What::Baton(path),
        });
    }
    Ok(found)
}

fn baton_of(file: &OsStr) -> Option<TaskName> {
    file.to_str()?.strip_suffix(".md")?.parse().ok()
}

fn named_fact(workshop: &mut Workshop<'_>, name: &TaskName) -> Result<TaskFact, EngineError> {
    let project = workshop.project;
    Ok(read(workshop.store, |tx| {
        match tasks::named(tx, project, name) {
            Err(StoreError::NotFound { .. }) => Ok(TaskFact::Foreign),
            found => task_fact(tx, found?.id),
        }
    })?)
}

/// What a file or all below a directory takes. What cannot be looked at counts as nothing: it is only told.
fn size(path: &Path) -> u64 {
    let Ok(metadata) = path.symlink_metadata() else {
        return 0;
    };
    if !metadata.is_dir() {
        return metadata.len();
    }
    let entries: io::Result<Vec<_>> = fs::read_dir(path).and_then(Iterator::collect);
    entries
        .unwrap_or_default()
        .iter()
        .map(|it| size(&it.path()))
        .sum()
}
