//! Which session a process belongs to, and in which role: by what it says, and by what the processes
//! above it were started with. Saying less takes nothing away: the strictest role counts.

use std::ffi::{OsStr, OsString};

use handoff_core::caller::Role;
use handoff_operations::Ambient;
use handoff_process::{Ancestor, ancestors};

/// What a process is part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Membership {
    pub(crate) role: Role,
    /// The session, as the nearest process says that was told.
    pub(crate) session: Option<OsString>,
    /// Its task, by the same.
    pub(crate) task: Option<OsString>,
}

impl Membership {
    /// None outside of our sessions.
    pub(crate) fn find(ambient: &Ambient) -> Option<Self> {
        let own = |name: &str| ambient.variable(name).map(OsStr::to_owned);
        Self::among(&own, &ancestors())
    }

    fn among(own: &dyn Fn(&str) -> Option<OsString>, ancestors: &[Ancestor]) -> Option<Self> {
        let all = |name: &str| {
            let above = ancestors.iter().filter_map(|it| it.variable(name));
            let all: Vec<OsString> = own(name).into_iter().chain(above).collect();
            all.into_iter()
                .filter(|it| !it.is_empty())
                .collect::<Vec<_>>()
        };
        let (roles, sessions) = (all("HANDOFF_ROLE"), all("HANDOFF_SESSION"));
        if roles.is_empty() && sessions.is_empty() {
            return None;
        }
        Some(Self {
            role: strictest(&roles),
            session: sessions.into_iter().next(),
            task: all("HANDOFF_TASK_ID").into_iter().next(),
        })
    }
}

/// A word that is no role counts as the strictest.
fn strictest(words: &[OsString]) -> Role {
    let role = |word: &OsString| match word.to_str().map(str::trim) {
        Some("main") => Role::Main,
        Some("fan-in") => Role::FanIn,
        Some(_) | None => Role::SubTask,
    };
    let rank = |role: &Role| match role {
        Role::Main => 0,
        Role::FanIn => 1,
        Role::SubTask => 2,
    };
    words
        .iter()
        .map(role)
        .max_by_key(rank)
        .unwrap_or(Role::Main)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_word_counts() {
        let strictest = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(Into::into).collect();
            strictest(&words)
        };
        assert_eq!(strictest(&[]), Role::Main);
        assert_eq!(strictest(&["main", "fan-in"]), Role::FanIn);
        assert_eq!(strictest(&["fan-in", "sub-task", "main"]), Role::SubTask);
        assert_eq!(strictest(&["sub-task "]), Role::SubTask);
        assert_eq!(strictest(&["admin"]), Role::SubTask);
    }

    #[test]
    fn nobody_says_anything_outside() {
        assert_eq!(Membership::among(&|_| None, &[]), None);
        let own = |name: &str| (name == "HANDOFF_ROLE").then(|| "sub-task".into());
        let found = Membership::among(&own, &[]).unwrap();
        assert_eq!((found.role, found.session), (Role::SubTask, None));
    }
}
