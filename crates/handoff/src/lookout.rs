//! Noticing refs that moved past our hooks: told to the person who runs the next command, once, and kept in the ledger.
//!
//! A session that is restricted, or works on a task, is watched from before its start (`Launch::start`) until somebody has looked after its end. Only a
//! person is told: a worker's terminal is read by nobody, and a session would read about itself.

use handoff_core::{Caller, CommitId, IdempotencyKey, SessionId, UnseenMove};
use handoff_engine::Places;
use handoff_git::hooks::HooksState;
use handoff_git::ref_watch::{ForeignMove, Picture, RefWatchError, Sightings};
use handoff_git::{Git, Repository};
use handoff_session::{Standing, catalogue};
use handoff_store::queue::{Change, Request, submit};

use crate::context::Context;
use crate::desk::{self, Desk};
use crate::failure::Failure;
use crate::output::plain;

/// Tells what moved unseen. A command that cannot look does what it was asked to all the same.
pub(crate) fn glance(ctx: &mut Context) {
    let is_person = matches!(desk::caller(&ctx.ambient), Ok(Caller::Person));
    let Ok(repository) = desk::discover(ctx) else {
        return;
    };
    if !is_person || ctx.tree.is_some() || repository.watched().is_empty() {
        return;
    }
    for it in look(&repository, ctx).unwrap_or_default() {
        // Whoever has closed this has nothing to read it with.
        ctx.out.note(told(&it)).unwrap_or_default();
    }
}

/// What moved unseen and was not told yet. It is in the ledger before it is told; watches of sessions that are over end.
pub(crate) fn look(at: &Repository, ctx: &Context) -> Result<Vec<ForeignMove>, Failure> {
    if at.watched().is_empty() {
        return Ok(vec![]);
    }
    // Asked before: what one does between our look and its end must not get lost.
    let over = over(at, ctx)?;
    let git = Git::new(ctx.ambient.environment.clone());
    let seen = git.unseen_moves(at).map_err(|error| unwatched(&error))?;
    let Some(mut seen) = seen else {
        return Ok(vec![]);
    };
    keep(&mut seen, ctx)?;
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
fn over(at: &Repository, ctx: &Context) -> Result<Vec<String>, Failure> {
    let places = Places::new(ctx.home()?).of_sessions();
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
fn keep(seen: &mut Sightings, ctx: &Context) -> Result<(), Failure> {
    if seen.moves.is_empty() {
        return Ok(());
    }
    let Some(mut desk) = Desk::peek(ctx)? else {
        return Ok(());
    };
    let mut others = vec![];
    for it in &seen.moves {
        if let Some(request) = request(&desk, it)
            && submit(&mut *desk.store, &request)?.is_repeat
        {
            others.push(it.sighting.clone());
        }
    }
    seen.moves.retain(|it| !others.contains(&it.sighting));
    Ok(())
}

/// What the ledger is told; nothing of a ref that has no name which can be shown.
fn request(desk: &Desk, it: &ForeignMove) -> Option<Request> {
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
        key: key.in_project(desk.project),
        change: Change::NoteMove {
            project: desk.project,
            moved,
        },
    })
}

/// One that went past our hooks, in words.
pub(crate) fn told(it: &ForeignMove) -> String {
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
pub(crate) struct Vigil {
    git: Git,
    at: Repository,
    before: Picture,
}

impl Vigil {
    /// Looks where the refs are. Without our hooks nobody would see what is right either, and everything would be told as
    /// foreign: then there is none.
    pub(crate) fn before(at: Repository, ctx: &Context) -> Option<Self> {
        let git = Git::new(ctx.ambient.environment.clone());
        let state = git.hooks_state(&at).ok()?;
        if !matches!(state, HooksState::Installed { .. }) {
            return None;
        }
        let before = git.take_picture(&at).ok()?;
        Some(Self { git, at, before })
    }

    /// The session lives.
    pub(crate) fn keep(self, session: SessionId) {
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
