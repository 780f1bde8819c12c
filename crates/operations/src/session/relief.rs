//! What becomes of a session whose lease keeper was killed. The session itself cannot renew its lease, and the keeper is alone: so
//! whoever lists sessions next starts another one, and says so; where that fails, or is too late, it says that too.

use handoff_api::TenureDocument;
use handoff_core::SessionId;
use handoff_files::{Dir, Lock, Mode, WriteError, atomic};
use handoff_session::environment::Work;
use handoff_session::{Known, Standing, place};

use super::address::places;
use super::lease_keeper;
use crate::failure::Failure;
use crate::workplace::Workplace;

/// How the lease of a session stands.
#[derive(Debug)]
pub enum Tenure {
    /// Its keeper lives.
    Kept,
    /// Another keeper has been started.
    Relieved,
    /// Nobody renews it.
    Unkept(Failure),
    /// It is somebody else's, or nobody's.
    Lost,
}

/// What is seen of a lease without asking the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeping {
    /// It needs no keeper.
    None,
    Kept,
    Unkept,
    Lost,
}

/// Looks after the lease of a session, if it is one that has to be kept.
pub fn relieve(known: &Known, here: &Workplace) -> Option<(Work, Tenure)> {
    let work = work(known)?;
    let tenure = match keeping(known) {
        Keeping::None => return None,
        Keeping::Kept => Tenure::Kept,
        Keeping::Lost => Tenure::Lost,
        Keeping::Unkept => match lease_keeper::start(known.record.id, &work, here) {
            Ok(()) => Tenure::Relieved,
            // It may have found out that there is nothing left to keep.
            Err(_) if keeping(known) == Keeping::Lost => Tenure::Lost,
            Err(failure) => Tenure::Unkept(failure),
        },
    };
    Some((work, tenure))
}

fn work(known: &Known) -> Option<Work> {
    let record = &known.record;
    Some(Work {
        task: record.task.clone()?,
        id: record.task_id?,
        fence: record.fence?,
        batch: None,
    })
}

fn keeping(known: &Known) -> Keeping {
    let keeper = place::keeper_lock(&known.directory);
    match known.standing {
        Standing::Ended | Standing::Lost => Keeping::None,
        Standing::Live if known.directory.join(place::LOST_LEASE).exists() => Keeping::Lost,
        // What cannot be looked at is not taken for dead.
        Standing::Live if Lock::is_held(&keeper).unwrap_or(true) => Keeping::Kept,
        Standing::Live if keeper.exists() => Keeping::Unkept,
        Standing::Live => Keeping::None,
    }
}

/// Says of a session, before it has its lease, that somebody has to keep it: also if we are killed before a keeper lives.
pub fn demand(session: SessionId, here: &Workplace) -> Result<(), Failure> {
    let directory = places(here)?.session(session);
    let lock = Lock::try_acquire(&place::keeper_lock(&directory), "");
    let failed = || Failure::failed("cannot say that the lease has to be kept");
    lock.map(drop).map_err(|error| failed().because(&error))
}

/// Says of a session that its lease is gone, so that nobody tries to keep it.
pub fn give_up(directory: &Dir) -> Result<(), WriteError> {
    atomic::replace(directory, place::LOST_LEASE, b"", Mode::Private)
}

impl Tenure {
    pub const fn document(&self) -> TenureDocument {
        match self {
            Self::Kept => TenureDocument::Kept,
            Self::Relieved => TenureDocument::Relieved,
            Self::Unkept(_) => TenureDocument::Unkept,
            Self::Lost => TenureDocument::Lost,
        }
    }

    /// What a person should know of it.
    pub fn remark(&self, known: &Known, work: &Work) -> Option<String> {
        let (name, task) = (&known.record.name, &work.task);
        match self {
            Self::Kept => None,
            Self::Relieved => Some(format!(
                "The lease keeper of `{name}` was gone; another one keeps the lease of `{task}` now."
            )),
            Self::Unkept(failure) => Some(format!(
                "Nobody renews the lease of `{task}`, on which `{name}` works: {}. Try again from where the ledger can be \
                 reached: `handoff ps`.",
                failure.message
            )),
            Self::Lost => Some(format!(
                "`{name}` has no lease on `{task}` any more: the task is over, or anybody's. End it: `handoff stop --id {name}`."
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(directory: &std::path::Path, standing: Standing) -> Known {
        let record = serde_json::from_value(serde_json::json!({
            "schema_version": 1, "id": "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60", "name": "a",
            "project": "proj_0192f0c47d0a7c3e9f5b2a1c3d4e5f60", "agent": "cat", "command": [], "description": null,
            "cwd": "/", "socket": "/s", "holder": { "pid": 1, "start_ticks": 1 }, "warden": null,
            "child": { "pid": 2, "start_ticks": 1 }, "rows": 1, "columns": 1, "started_at": "2026-01-02T03:04:05Z",
            "ended": null,
        }));
        Known {
            record: record.unwrap(),
            directory: directory.to_owned(),
            standing,
            notice: None,
        }
    }

    #[test]
    fn only_a_living_session_whose_keeper_is_gone_wants_another() {
        let place = tempfile::TempDir::new().unwrap();
        let live = known(place.path(), Standing::Live);
        assert_eq!(keeping(&live), Keeping::None, "its lease is its lock");
        let lock = || Lock::acquire(&place::keeper_lock(place.path()), "").unwrap();
        lock().release();
        assert_eq!(keeping(&live), Keeping::Unkept);
        let ended = known(place.path(), Standing::Ended);
        assert_eq!(keeping(&ended), Keeping::None);
        let keeper = lock();
        assert_eq!(keeping(&live), Keeping::Kept);
        keeper.release();
        give_up(&Dir::open(place.path()).unwrap()).unwrap();
        assert_eq!(keeping(&live), Keeping::Lost);
    }
}
