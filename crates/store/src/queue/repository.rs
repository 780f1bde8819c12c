//! What becomes known of a repository: its row, the baseline's row and the event, in one transaction.

use handoff_core::caller::Action;
use handoff_core::{Baseline, Caller, Event, ProjectId, RepositoryEvent, StreamId, UnseenMove};

use super::{Answer, Performed, Proved};
use crate::error::StoreError;
use crate::events::{self, Entry, Keyed};
use crate::repositories;
use crate::store::Transaction;

fn baseline(tx: &Transaction<'_>, proved: &Proved, by: &Caller) -> Baseline {
    Baseline {
        branch: proved.branch.clone(),
        commit: proved.commit.clone(),
        command: proved.command.clone(),
        by: by.clone(),
        at: tx.now.wall,
    }
}

/// What is proved already in the same way is not proved once more.
pub(super) fn set_baseline(
    tx: &mut Transaction<'_>,
    proved: &Proved,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    by.may(Action::Prove)?;
    let project = proved.project;
    let version = repositories::lock(tx, project)?;
    let baseline = baseline(tx, proved, by);
    let there = repositories::baseline(tx, project, &proved.branch)?;
    if let Some(there) = there.filter(|it| it.is_same_proof(&baseline)) {
        let event = RepositoryEvent::BaselineSet { baseline: there };
        return Ok(Performed::unrecorded(Answer::Repository { event }));
    }
    repositories::write_baseline(tx, project, version + 1, &baseline)?;
    let event = RepositoryEvent::BaselineSet { baseline };
    append(tx, project, version + 1, event, by, keyed)
}

/// Whoever notices it may write it down: it is about others.
pub(super) fn note_move(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    moved: &UnseenMove,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    let version = repositories::lock(tx, project)?;
    let moved = moved.clone();
    let event = RepositoryEvent::RefMovedUnseen { moved };
    append(tx, project, version + 1, event, by, keyed)
}

fn append(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    seq: u64,
    event: RepositoryEvent,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    repositories::save(tx, project, seq)?;
    let entry = Entry {
        stream: StreamId::Repository(project),
        seq,
        project: Some(project),
        by,
        keyed: Some(keyed),
        event: Event::Repository(event.clone()),
    };
    events::append(tx, &entry)?;
    Ok(Performed {
        answer: Answer::Repository { event },
        is_recorded: true,
    })
}
