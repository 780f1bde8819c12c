//! The sessions there are, and whether they live. A reader derives everything from files and kernel locks; it never writes.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_core::{ProjectId, SessionId, SessionName};
use handoff_files::{Dir, DirError, Lock, LockError};
use handoff_process::tree;

use crate::environment;
use crate::notice::Notice;
use crate::place::{self, Places};
use crate::record::{Record, RecordError};

/// A session as its files show it.
#[derive(Debug, Clone)]
pub struct Known {
    pub record: Record,
    pub directory: PathBuf,
    pub standing: Standing,
    /// What its holder says that it does.
    pub notice: Option<Notice>,
}

/// Whether a session lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its holder lives.
    Live,
    /// It ended, and the record says how.
    Ended,
    /// Its holder died without saying how it ended.
    Lost,
}

/// The sessions cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error("cannot look into the directory of sessions")]
    Directory(#[source] DirError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("cannot tell whether the holder of a session lives")]
    Lock(#[source] LockError),
    #[error("cannot read which session has the name `{0}`")]
    Name(SessionName, #[source] io::Error),
}

/// All sessions, the oldest first.
pub fn all(places: &Places) -> Result<Vec<Known>, CatalogueError> {
    let sessions = match Dir::open(&places.sessions()) {
        Ok(sessions) => sessions,
        Err(error) if error.is_not_found() => return Ok(vec![]),
        Err(error) => return Err(CatalogueError::Directory(error)),
    };
    let names = sessions.names().map_err(CatalogueError::Directory)?;
    let mut ids: Vec<SessionId> = names
        .iter()
        .filter_map(|name| name.to_str()?.parse().ok())
        .collect();
    ids.sort_unstable();
    let known = ids.into_iter().map(|id| by_id(places, id));
    known.filter_map(Result::transpose).collect()
}

/// The sessions of a project that live, the oldest first. Only locks are looked at of all the others that there ever were.
pub fn living(places: &Places, project: ProjectId) -> Result<Vec<Known>, CatalogueError> {
    let directory = places.names(project);
    let entries = match Dir::open(&directory).and_then(|it| it.names()) {
        Ok(entries) => entries,
        Err(error) if error.is_not_found() => return Ok(vec![]),
        Err(error) => return Err(CatalogueError::Directory(error)),
    };
    let mut living = vec![];
    for entry in entries {
        let name = entry.to_str().and_then(|it| it.strip_suffix(".lock"));
        let Some(name) = name.and_then(|it| it.parse::<SessionName>().ok()) else {
            continue;
        };
        if Lock::is_held(&directory.join(&entry)).map_err(CatalogueError::Lock)? {
            let known = by_name(places, project, &name)?;
            living.extend(known.filter(|it| it.standing == Standing::Live));
        }
    }
    living.sort_unstable_by_key(|it| it.record.id);
    Ok(living)
}

/// The session with this id, if it has a terminal.
pub fn by_id(places: &Places, id: SessionId) -> Result<Option<Known>, CatalogueError> {
    let path = places.session(id);
    let directory = match Dir::open(&path) {
        Ok(directory) => directory,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(CatalogueError::Directory(error)),
    };
    // The lock first: a holder that ends in between writes its record before it lets go.
    let held = Lock::look(&place::holder_lock(&path)).map_err(CatalogueError::Lock)?;
    let Some(record) = Record::read(&directory)? else {
        return Ok(None);
    };
    let standing = match (&record.ended, &held) {
        (Some(_), _) => Standing::Ended,
        (None, Some(_)) => Standing::Live,
        (None, None) => Standing::Lost,
    };
    let note = held.and_then(|held| held.note);
    Ok(Some(Known {
        record,
        directory: path,
        standing,
        notice: note.and_then(|note| Notice::parse(&note)),
    }))
}

/// The newest session with this name.
pub fn by_name(
    places: &Places,
    project: ProjectId,
    name: &SessionName,
) -> Result<Option<Known>, CatalogueError> {
    let text = match std::fs::read_to_string(places.names(project).join(name.as_str())) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CatalogueError::Name(name.clone(), error)),
    };
    match text.trim_end().parse() {
        Ok(id) => by_id(places, id),
        Err(error) => {
            let error = io::Error::new(io::ErrorKind::InvalidData, error);
            Err(CatalogueError::Name(name.clone(), error))
        }
    }
}

/// Whether the holder of the session in this directory lives.
pub fn is_held(directory: &Path) -> Result<bool, CatalogueError> {
    Lock::is_held(&place::holder_lock(directory)).map_err(CatalogueError::Lock)
}

/// The processes that hold sessions now, and those that stand behind them: they are not part of the session that they were
/// started in.
pub fn holders(places: &Places) -> Vec<u32> {
    let Ok(sessions) = std::fs::read_dir(places.sessions()) else {
        return vec![];
    };
    let directories = sessions.filter_map(|entry| Some(entry.ok()?.path()));
    directories.flat_map(|it| holder_of(&it)).collect()
}

/// Ends what a lost session has left: processes that went away from their terminal outlive a holder and a warden that were killed
/// at once. Says what could not be ended.
pub fn clear_away(known: &Known, places: &Places, timeout: Duration) -> io::Result<Vec<u32>> {
    let id = known.record.id.to_string();
    let left = tree::end_marked((environment::SESSION, &id), &holders(places), timeout)?;
    Ok(left.into_iter().map(|process| process.pid).collect())
}

fn holder_of(directory: &Path) -> Vec<u32> {
    let Ok(Some(holder)) = Lock::holder(&place::holder_lock(directory)) else {
        return vec![];
    };
    let record = Dir::open(directory)
        .ok()
        .and_then(|directory| Record::read(&directory).ok()?);
    let warden = record.and_then(|record| record.warden);
    std::iter::once(holder.pid).chain(warden).collect()
}
