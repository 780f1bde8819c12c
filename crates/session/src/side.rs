//! Which session a process belongs to, established from the processes above it and from nothing that it says.
//!
//! Everything that an agent starts is below the holder of its session, also what left for a session of its own, because the
//! holder adopts it; what is run as a check is below its supervisor. So the nearest holder names the session, whatever a
//! process did to its environment. Relations between sessions are decided by the kernel's identity of holders: a program
//! that only looks like a holder is below a real one, and can take rights away from itself, but not add any.
//!
//! A process in a sandbox also has more filters of system calls than its holder, because entering the sandbox adds one and
//! nothing takes it away. What a holder itself starts outside, to do something for its session, has no more.

use std::ffi::{OsStr, OsString};

use handoff_core::{Caller, Relation, Role, SessionId, TaskId};
use handoff_process::{Ancestor, Identity};

use crate::environment;

/// The command of a holder and of the warden behind it.
pub const HOLDER_COMMAND: &str = "session-holder";
/// The command of the process above everything that is run as a check.
pub const CHECK_COMMAND: &str = "check-supervisor";
/// The argument of a holder that says that the agent is in a sandbox.
pub const SANDBOX_ARGUMENT: &str = "--sandbox=worktree";
/// The argument of a holder that says that its session may answer the dialogs of those that it starts.
pub const ANSWERS_ARGUMENT: &str = "--answers-children";

/// Where a process comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// From outside of all sessions and checks: a person, or a program of one.
    Outside,
    Session(Member),
    /// It is run as a check: code of a session may be in it.
    Check,
    /// It cannot be established. That is never taken for a person.
    Unknown,
}

/// A process of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    pub session: SessionId,
    pub role: Role,
    pub task: Option<TaskId>,
    /// What the session that is asked is to this one.
    pub relation: Relation,
    /// Whether the sandbox of a session holds it.
    pub is_sandboxed: bool,
    /// Whether it may answer the dialogs of sessions that it started.
    pub may_answer: bool,
}

impl Member {
    /// As the table of callers knows it.
    pub const fn caller(&self) -> Caller {
        Caller::Session {
            session: self.session,
            role: self.role,
            task: self.task,
        }
    }
}

/// A process above another one, or that itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub identity: Identity,
    /// How many filters of system calls hold it; looked at only where it matters.
    pub filters: u32,
    pub kind: Kind,
}

/// What a process does for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It holds this session, or stands behind the process that does.
    Holder(Held),
    /// It has the command of a holder and names no session.
    Nameless,
    /// It is above what is run as a check.
    Check,
    Other,
}

impl Link {
    /// Whether both hold the same session: a holder and its warden do.
    pub fn names_same(&self, other: &Self) -> bool {
        match (self.kind, other.kind) {
            (Kind::Holder(one), Kind::Holder(another)) => one.session == another.session,
            _ => self.identity == other.identity,
        }
    }
}

/// A session, as the arguments of its holder describe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    pub session: SessionId,
    pub role: Role,
    pub task: Option<TaskId>,
    pub is_sandboxed: bool,
    pub may_answer: bool,
}

/// The session that is asked about: its holder and the processes above that.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub holder: Identity,
    pub above: &'a [Identity],
}

/// Looks at a chain of processes; none if one of them cannot be looked at any more. Filters matter only below a holder with a
/// sandbox, and not every kernel counts them.
pub fn links(chain: &[Ancestor]) -> Option<Vec<Link>> {
    let kinds: Vec<Kind> = chain.iter().map(kind).collect();
    let is_confining = |kind: &Kind| matches!(kind, Kind::Holder(held) if held.is_sandboxed);
    let is_below_sandbox = kinds.iter().any(is_confining);
    let mut found = Vec::with_capacity(chain.len());
    for (index, (ancestor, kind)) in chain.iter().zip(kinds).enumerate() {
        let filters = match is_below_sandbox && (index == 0 || is_confining(&kind)) {
            true => ancestor.filters()?,
            false => 0,
        };
        found.push(Link {
            identity: ancestor.identity,
            filters,
            kind,
        });
    }
    Some(found)
}

fn kind(ancestor: &Ancestor) -> Kind {
    let arguments = ancestor.arguments();
    match arguments.get(1).and_then(|it| it.to_str()) {
        Some(HOLDER_COMMAND) => Held::parse(&arguments[2..]).map_or(Kind::Nameless, Kind::Holder),
        Some(CHECK_COMMAND) => Kind::Check,
        Some(_) | None if ancestor.variable(environment::CHECK).is_some() => Kind::Check,
        Some(_) | None => Kind::Other,
    }
}

impl Held {
    /// Reads the arguments of a holder. What follows `--` is the agent's own.
    fn parse(arguments: &[OsString]) -> Option<Self> {
        let end = arguments.iter().position(|it| it == OsStr::new("--"));
        let own = &arguments[..end.unwrap_or(arguments.len())];
        let has = |word: &str| own.iter().any(|it| it == OsStr::new(word));
        Some(Self {
            session: value(own, "--session")?.parse().ok()?,
            // Without a word that we know, the one with the fewest rights.
            role: value(own, "--role")
                .and_then(|word| word.parse().ok())
                .unwrap_or(Role::SubTask),
            task: value(own, "--task-id").and_then(|text| text.parse().ok()),
            is_sandboxed: has(SANDBOX_ARGUMENT),
            may_answer: has(ANSWERS_ARGUMENT),
        })
    }
}

/// The value of an option, behind it or in the same word.
fn value<'a>(words: &'a [OsString], option: &str) -> Option<&'a str> {
    words.iter().enumerate().find_map(|(index, word)| {
        match word.to_str()?.strip_prefix(option)? {
            "" => words.get(index + 1)?.to_str(),
            rest => rest.strip_prefix('='),
        }
    })
}

/// Where the first of a chain comes from. `is_on_record` says whether a process is the holder of the session that it names:
/// any program can be started with the words of a holder.
pub fn judge(
    chain: &[Link],
    target: Option<Target<'_>>,
    is_on_record: impl Fn(Identity, SessionId) -> bool,
) -> Side {
    let Some(peer) = chain.first() else {
        return Side::Unknown;
    };
    if chain.iter().any(|it| it.kind == Kind::Check) {
        return Side::Check;
    }
    let holders: Vec<(Identity, Option<Held>, u32)> = { chain.iter() }
        .filter_map(|link| match link.kind {
            Kind::Holder(held) => Some((link.identity, Some(held), link.filters)),
            Kind::Nameless => Some((link.identity, None, link.filters)),
            Kind::Check | Kind::Other => None,
        })
        .collect();
    let Some((nearest, ..)) = holders.first() else {
        return Side::Outside;
    };
    let all = || holders.iter().filter_map(|(_, held, _)| held.as_ref());
    let real = holders.iter().find_map(|(identity, held, _)| {
        let held = held.as_ref()?;
        is_on_record(*identity, held.session).then_some(*held)
    });
    // A session of another home is one too, but what it says of its task proves nothing.
    let other_home = || {
        all().next().map(|held| Held {
            task: None,
            ..*held
        })
    };
    let Some(held) = real.or_else(other_home) else {
        return Side::Unknown;
    };
    let role = match all().any(|it| it.role == Role::SubTask) {
        true => Role::SubTask,
        false => held.role,
    };
    let is_inside = |(_, held, filters): &(Identity, Option<Held>, u32)| {
        held.is_some_and(|it| it.is_sandboxed) && peer.filters > *filters
    };
    Side::Session(Member {
        session: held.session,
        role,
        task: held.task,
        relation: target.map_or(Relation::Beside, |it| it.relation(*nearest, chain)),
        is_sandboxed: holders.iter().any(is_inside),
        // The outermost was started from outside: nobody below it wrote its arguments.
        may_answer: holders
            .last()
            .and_then(|(_, held, _)| *held)
            .is_some_and(|it| it.may_answer),
    })
}

impl Target<'_> {
    /// What it is to a process whose nearest holder this is.
    fn relation(&self, nearest: Identity, chain: &[Link]) -> Relation {
        if nearest == self.holder {
            Relation::Itself
        } else if chain.iter().any(|it| it.identity == self.holder) {
            Relation::Above
        } else if self.above.contains(&nearest) {
            Relation::Started
        } else {
            Relation::Beside
        }
    }
}

/// Where one of several comes from: from where it may do least.
pub fn strictest(sides: impl Iterator<Item = Side>) -> Side {
    let order = |side: &Side| match side {
        Side::Outside => 0,
        Side::Session(member) => match member.relation {
            Relation::Started => 1,
            Relation::Itself => 2,
            Relation::Above | Relation::Beside => 3,
        },
        Side::Unknown => 4,
        Side::Check => 5,
    };
    sides.max_by_key(order).unwrap_or(Side::Unknown)
}

#[cfg(test)]
mod tests;
