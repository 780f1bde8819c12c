//! On which side of a sandbox somebody stands who asks a holder.
//!
//! Sockets have paths, and on most kernels nothing keeps a program in a sandbox from connecting to them. So holders look
//! who comes: one who is in the sandbox of another session is not let in, and one in that of their own is the session, and
//! never the person who started it.
//!
//! Nobody can say to be elsewhere than they are. Everything in a sandbox is below its holder, because the holder adopts what
//! is left behind; and it has more filters of system calls than the holder, because entering the sandbox adds one and
//! nothing takes it away. What a holder itself starts outside, to do something for its session, has no more.

use std::ffi::OsStr;

use handoff_process::{Ancestor, Identity};

use crate::environment;

/// The command of a holder and of the warden behind it.
pub const HOLDER_COMMAND: &str = "session-holder";
/// Their argument that says that the agent is in a sandbox.
pub const SANDBOX_ARGUMENT: &str = "--sandbox=worktree";

/// Where somebody stands, seen from a holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// In no sandbox, or in one that the holder is in too.
    Free,
    /// In the sandbox of the holder's own session.
    Within,
    /// In that of another session, or in what is run as a check.
    Elsewhere,
    /// It cannot be told. That is never taken for a person.
    Unknown,
}

/// A process above somebody, or they themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub identity: Identity,
    /// How many filters of system calls hold it.
    pub filters: u32,
    pub kind: Kind,
}

/// What a process does for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It holds a session in a sandbox, or stands behind one that does.
    Confining,
    /// It is run as a check: code of a session may be in it.
    Checked,
    Other,
}

/// Looks at a chain of processes; none if one of them cannot be looked at any more.
pub fn links(chain: &[Ancestor]) -> Option<Vec<Link>> {
    chain.iter().map(link).collect()
}

fn link(ancestor: &Ancestor) -> Option<Link> {
    let arguments = ancestor.arguments();
    let is_holder = arguments
        .get(1)
        .is_some_and(|it| it == OsStr::new(HOLDER_COMMAND));
    // What follows is the agent's own.
    let mut options = arguments.iter().take_while(|it| *it != OsStr::new("--"));
    let is_confining = is_holder && options.any(|it| it == OsStr::new(SANDBOX_ARGUMENT));
    let is_checked = ancestor.variable(environment::CHECK).is_some();
    Some(Link {
        identity: ancestor.identity,
        filters: ancestor.filters()?,
        kind: match (is_confining, is_checked) {
            (true, _) => Kind::Confining,
            (false, true) => Kind::Checked,
            (false, false) => Kind::Other,
        },
    })
}

/// Where the first of a chain stands. `own` is the holder, and `above` are the processes above it: what holds them too
/// separates nobody.
pub fn judge(chain: &[Link], own: Identity, above: &[Identity]) -> Side {
    let Some(peer) = chain.first() else {
        return Side::Unknown;
    };
    for link in chain {
        if above.contains(&link.identity) {
            return Side::Free;
        }
        if link.kind == Kind::Checked {
            return Side::Elsewhere;
        }
        let holds = link.kind == Kind::Confining && peer.filters > link.filters;
        match (holds, link.identity == own) {
            (true, true) => return Side::Within,
            (false, true) => return Side::Free,
            (true, false) => return Side::Elsewhere,
            (false, false) => {}
        }
    }
    Side::Free
}

/// Where somebody stands who is one of several: where they may do least.
pub fn strictest(sides: impl Iterator<Item = Side>) -> Side {
    let order = |side: &Side| match side {
        Side::Free => 0,
        Side::Within => 1,
        Side::Unknown => 2,
        Side::Elsewhere => 3,
    };
    sides.max_by_key(order).unwrap_or(Side::Free)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn identity(pid: u32) -> Identity {
        Identity { pid, started: 0 }
    }

    const fn link(pid: u32, filters: u32, kind: Kind) -> Link {
        Link {
            identity: identity(pid),
            filters,
            kind,
        }
    }

    /// The shell of a person is 1, the holder that is asked is 10.
    fn side(chain: &[Link]) -> Side {
        judge(chain, identity(10), &[identity(1)])
    }

    #[test]
    fn where_somebody_stands_follows_from_who_is_above() {
        use Kind::{Confining, Other};
        let (shell, own) = (link(1, 0, Other), link(10, 0, Confining));
        let another = link(20, 0, Confining);
        let unheld = link(30, 0, Other);
        let check = link(40, 1, Kind::Checked);
        let table: [(&str, &[Link], Side); 10] = [
            (
                "a test that hides what it is",
                &[link(41, 1, Other), check, shell],
                Side::Elsewhere,
            ),
            ("a person", &[link(5, 0, Other), shell], Side::Free),
            ("its agent", &[link(11, 1, Other), own, shell], Side::Within),
            (
                "an orphan of another agent",
                &[link(29, 1, Other), another, shell],
                Side::Elsewhere,
            ),
            (
                "an agent that tightened its own sandbox",
                &[link(29, 3, Other), link(21, 1, Other), another, shell],
                Side::Elsewhere,
            ),
            (
                "what another holder does for its session",
                &[link(22, 0, Other), another, shell],
                Side::Free,
            ),
            (
                "what this holder does for its session",
                &[link(12, 0, Other), own, shell],
                Side::Free,
            ),
            (
                "an agent that nothing holds, with a filter of its own",
                &[link(31, 1, Other), unheld, shell],
                Side::Free,
            ),
            (
                "a person whose own shell is in a sandbox, as is this holder",
                &[link(5, 1, Other), link(1, 1, Confining)],
                Side::Free,
            ),
            ("nobody", &[], Side::Unknown),
        ];
        for (who, chain, expected) in table {
            assert_eq!(side(chain), expected, "{who}");
        }
    }
}
