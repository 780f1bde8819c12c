//! Noticing refs that moved past our hooks: told to the person who runs the next command, once, and kept in the ledger.
//!
//! A session that is restricted, or works on a task, is watched from before its start (`Launch::start`) until somebody has looked after its end. Only a
//! person is told: a worker's terminal is read by nobody, and a session would read about itself.

use handoff_core::visible::plain;
use handoff_core::{Caller, CommitId, IdempotencyKey, SessionId, UnseenMove};
use handoff_engine::Places;
use handoff_git::hooks::HooksState;
use handoff_git::ref_watch::{ForeignMove, Picture, RefWatchError, Sightings};
use handoff_git::{Git, Repository};
use handoff_session::{Standing, catalogue};
use handoff_store::queue::{Change, Request, submit};

use crate::caller::caller;
use crate::failure::Failure;
use crate::project::{Project, discover};
use crate::workplace::Workplace;

/// What a person who works here has to be told of, in words. Whoever cannot look does what was asked all the same.
#[must_use]
pub fn glance(here: &Workplace) -> Vec<String> {
    let is_person = matches!(caller(&here.ambient), Ok(Caller::Person));
    let Ok(repository) = discover(here) else {
        return vec![];
    };
    if !is_person || here.tree.is_some() || repository.watched().is_empty() {
        return vec![];
    }
    let seen = look(&repository, here).unwrap_or_default();
    seen.iter().map(told).collect()
}

/// What moved unseen and was not told yet. It is in the ledger before it is told; watches of sessions that are over end.
pub fn look(at: &Repository, here: &Workplace) -> Result<Vec<ForeignMove>, Failure> {
    if at.watched().is_empty() {
        return Ok(vec![]);
    }
    // Asked before: what one does between our look and its end must not get lost.
    let over = over(at, here)?;
    let git = Git::new(here.ambient.environment.clone());
    let seen = git.unseen_moves(at).map_err(|error| unwatched(&error))?;
    let Some(mut seen) = seen else {
        return Ok(vec![]);
    };
    keep(&mut seen, here)?;
    git.acknowledge(at, &seen)
        .map_err(|error| unwatched(&error))?;
    for session in over {
        let ended = at.end_ref_watch(&session);
        ended.map_err(|error| Failure::failed("cannot end a watch").because(&error))?;
    }
    Ok(seen.moves)
}

fn unwatched(error: &RefWatchError) -> Failure {
    Failure::failed("cannot tell which refs moved past our hooks").because(error)
}

/// The watches of sessions that do not live any more. What a person called something is theirs to end.
fn over(at: &Repository, here: &Workplace) -> Result<Vec<String>, Failure> {
    let places = Places::new(here.home()?).of_sessions();
    let is_over = |name: &String| {
        let id = name.parse::<SessionId>().ok();
        id.is_some_and(|id| match catalogue::by_id(&places, id) {
            Ok(known) => known.is_none_or(|it| it.standing != Standing::Live),
            Err(_) => false,
        })
    };
    Ok(at.watched().into_iter().filter(is_over).collect())
}

/// Writes it down. What another one wrote down at the same time is theirs to tell.
fn keep(seen: &mut Sightings, here: &Workplace) -> Result<(), Failure> {
    if seen.moves.is_empty() {
        return Ok(());
    }
    let Some(mut project) = Project::peek(here)? else {
        return Ok(());
    };
    let mut others = vec![];
    for it in &seen.moves {
        if let Some(request) = request(&project, it)
            && submit(&mut *project.store, &request)?.is_repeat
        {
            others.push(it.sighting.clone());
        }
    }
    seen.moves.retain(|it| !others.contains(&it.sighting));
    Ok(())
}

/// What the ledger is told; nothing of a ref that has no name which can be shown.
fn request(project: &Project, it: &ForeignMove) -> Option<Request> {
    let place = |id: &str| -> Option<CommitId> {
        let is_nowhere = id.bytes().all(|digit| digit == b'0');
        id.parse().ok().filter(|_| !is_nowhere)
    };
    let link = |place: &str| place.strip_prefix("ref:")?.parse().ok();
    let key: IdempotencyKey = it.sighting.parse().ok()?;
    let moved = UnseenMove {
        name: it.moved.name.parse().ok()?,
        old: place(&it.moved.old),
        new: place(&it.moved.new),
        old_link: link(&it.moved.old),
        new_link: link(&it.moved.new),
        watched: it
            .sessions
            .iter()
            .filter_map(|it| it.parse().ok())
            .collect(),
    };
    Some(Request {
        by: Caller::Reconciler,
        key: key.in_project(project.id),
        change: Change::NoteMove {
            project: project.id,
            moved,
        },
    })
}

/// One that went past our hooks, in words.
pub fn told(it: &ForeignMove) -> String {
    format!(
        "`{}` moved from {} to {} past our hooks, while these lived: {}. Nothing of ours did that.",
        plain(&it.moved.name),
        place(&it.moved.old),
        place(&it.moved.new),
        plain(&it.sessions.join(", "))
    )
}

/// Where a ref is: the beginning of an id, or what a link leads to.
fn place(place: &str) -> String {
    match place.strip_prefix("ref:") {
        Some(name) => format!("`{}`", plain(name)),
        // Also this may be what somebody wrote by hand.
        None => plain(&format!("{place:.10}")),
    }
}

/// A watch that begins when its session has begun, with how things were before.
pub struct Vigil {
    git: Git,
    at: Repository,
    before: Picture,
}

impl Vigil {
    /// Looks where the refs are. Without our hooks nobody would see what is right either, and everything would be told as
    /// foreign: then there is none.
    pub fn before(at: Repository, here: &Workplace) -> Option<Self> {
        let git = Git::new(here.ambient.environment.clone());
        let state = git.hooks_state(&at).ok()?;
        if !matches!(state, HooksState::Installed { .. }) {
            return None;
        }
        let before = git.take_picture(&at).ok()?;
        Some(Self { git, at, before })
    }

    /// The session lives.
    pub fn keep(self, session: SessionId) {
        // A session that is not watched is no reason not to have one.
        let name = session.to_string();
        self.git
            .watch_since(&self.at, &name, self.before)
            .unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_ref_is_cannot_move_the_cursor() {
        assert_eq!(place("0123456789abcdef"), "0123456789");
        assert_eq!(
            place("ref:refs/heads/a\u{1b}[2J"),
            "`refs/heads/a\\u{1b}[2J`"
        );
        assert_eq!(place("\u{1b}[2J"), "\\u{1b}[2J");
    }
}
