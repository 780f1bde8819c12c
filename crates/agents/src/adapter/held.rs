//! What an agent CLI needs when it is held in a sandbox: the table `[sandbox]` of an adapter.
//!
//! An agent writes into its configuration directory all the time, and its settings, hooks and plugins lie there too: from these the
//! person's own agent takes commands later. So it gets a directory of the session's own ([`PrivateState`]), and of the person's only
//! what is data can be changed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// What an agent CLI needs in a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Held {
    /// What it keeps for itself, and must be able to change.
    pub write: Vec<StatePlace>,
    /// Arguments that it gets there: its own sandbox cannot be made in ours.
    pub arguments: Vec<String>,
    /// Variables that it gets there; `{tmp}` is the private directory for temporary files.
    pub environment: BTreeMap<String, String>,
    /// The directory of its own that it gets there.
    pub private: Option<PrivateState>,
    /// The agent itself is somewhere else: what is started stands in for it, runs only what the person's settings name, and would
    /// not reach their desktop from a sandbox.
    pub is_elsewhere: bool,
}

/// A configuration directory for one session, in the place of the person's.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivateState {
    /// The variable that leads the agent to it, and to the person's where they have set it.
    pub variable: String,
    /// Where the person's is otherwise.
    pub place: StatePlace,
    /// The folder below what the variable names, if that is not the directory itself.
    #[serde(default)]
    pub folder: Option<StateEntry>,
    /// Files that the session gets a copy of.
    #[serde(default)]
    pub copy: Vec<StateEntry>,
    /// Files elsewhere that it gets a copy of, under their names, where the directory has none of that name.
    #[serde(default)]
    pub copy_from: Vec<StatePlace>,
    /// What the session can read and not change.
    #[serde(default)]
    pub link: Vec<StateEntry>,
    /// What the session changes in the person's directory itself: data, from which no program takes a command.
    #[serde(default)]
    pub share: Vec<StateEntry>,
}

/// Something in a configuration directory: `skills/` is a directory, `auth.json` a file. `{cwd}` is the directory that the agent works
/// in, as Claude Code makes a name of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct StateEntry(String);

/// A text that names nothing in a directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names nothing in a directory: no `/` in front, no `..`")]
pub struct StateEntryError(String);

impl PrivateState {
    /// The person's own directory; none where it cannot be told.
    pub fn origin(&self, environment: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
        let set = environment.get(&OsString::from(&self.variable));
        let set = set.map(PathBuf::from).filter(|it| it.is_absolute());
        if let Some(set) = set {
            return Some(self.within(&set));
        }
        match self.place.locate(environment)? {
            State::Directory(path) | State::File(path) => Some(path),
        }
    }

    /// The directory that the variable leads to when it names this place.
    pub fn within(&self, place: &Path) -> PathBuf {
        let folder = self.folder.as_ref();
        folder.map_or_else(|| place.to_owned(), |it| place.join(&it.0))
    }

    /// What the session changes in the person's own directory.
    pub fn shared(
        &self,
        environment: &BTreeMap<OsString, OsString>,
        cwd: &Path,
    ) -> Vec<(PathBuf, State)> {
        let Some(origin) = self.origin(environment) else {
            return vec![];
        };
        let shared = self.share.iter();
        shared
            .map(|entry| (entry.path(cwd), entry.locate(&origin, cwd)))
            .collect()
    }
}

impl StateEntry {
    /// Where it is below a directory, for an agent that works in this one.
    pub fn path(&self, cwd: &Path) -> PathBuf {
        let text = self.0.trim_end_matches('/');
        let letter = |it: char| if it.is_ascii_alphanumeric() { it } else { '-' };
        let cwd: String = cwd.to_string_lossy().chars().map(letter).collect();
        PathBuf::from(text.replace("{cwd}", &cwd))
    }

    fn locate(&self, directory: &Path, cwd: &Path) -> State {
        let path = directory.join(self.path(cwd));
        if self.0.ends_with('/') {
            State::Directory(path)
        } else {
            State::File(path)
        }
    }
}

impl TryFrom<String> for StateEntry {
    type Error = StateEntryError;

    fn try_from(text: String) -> Result<Self, StateEntryError> {
        let is_inside = |it: &str| !it.is_empty() && it != "." && it != "..";
        if text.trim_end_matches('/').split('/').all(is_inside) {
            Ok(Self(text))
        } else {
            Err(StateEntryError(text))
        }
    }
}

/// A place that an agent keeps something at: `~/.claude/` is a directory, `~/.claude.json` a file. One that begins with a
/// variable, as `$CODEX_HOME/`, is one only where that is set.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct StatePlace(String);

/// A text that is no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no place; one begins with `~/`, `/` or `$VARIABLE/`")]
pub struct StatePlaceError(String);

/// What there is at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Made where it is missing: a file can only be made in a directory that may be changed.
    Directory(PathBuf),
    File(PathBuf),
}

impl StatePlace {
    /// Where that is on this machine; none where a variable is not set.
    pub fn locate(&self, environment: &BTreeMap<OsString, OsString>) -> Option<State> {
        let variable = |name: &str| {
            let value = environment.get(&OsString::from(name))?;
            let path = Path::new(value);
            path.is_absolute().then(|| path.to_owned())
        };
        let (first, rest) = self.0.split_once('/').unwrap_or((&self.0, ""));
        let base = match first {
            "" => PathBuf::from("/"),
            "~" => variable("HOME")?,
            name => variable(name.strip_prefix('$')?)?,
        };
        let path = base.join(rest.trim_end_matches('/'));
        Some(if self.0.ends_with('/') {
            State::Directory(path)
        } else {
            State::File(path)
        })
    }
}

impl TryFrom<String> for StatePlace {
    type Error = StatePlaceError;

    fn try_from(text: String) -> Result<Self, StatePlaceError> {
        let begins = ["~/", "/", "$"].iter().any(|it| text.starts_with(it));
        let climbs = text.split('/').any(|it| it == "..");
        if begins && text.contains('/') && !climbs && text.len() > 1 {
            Ok(Self(text))
        } else {
            Err(StatePlaceError(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(text: &str) -> Option<State> {
        let pairs = [
            ("HOME", "/home/me"),
            ("CODEX_HOME", "/c"),
            ("ODD", "relative"),
        ];
        let environment = pairs.map(|(name, value)| (name.into(), value.into()));
        let place = StatePlace::try_from(text.to_owned()).unwrap();
        place.locate(&environment.into())
    }

    #[test]
    fn a_place_is_found_from_the_environment() {
        let directory = |path: &str| Some(State::Directory(path.into()));
        let table = [
            ("~/.claude/", directory("/home/me/.claude")),
            (
                "~/.claude.json",
                Some(State::File("/home/me/.claude.json".into())),
            ),
            ("$CODEX_HOME/", directory("/c")),
            ("$CODEX_HOME/log/", directory("/c/log")),
            ("/var/cache/x/", directory("/var/cache/x")),
            ("$UNSET/", None),
            ("$ODD/", None),
        ];
        for (text, expected) in table {
            assert_eq!(located(text), expected, "{text}");
        }
    }

    fn private() -> PrivateState {
        let entries = |names: &[&str]| {
            let names = names.iter().map(|it| (*it).to_owned());
            names.map(|it| StateEntry::try_from(it).unwrap()).collect()
        };
        PrivateState {
            variable: "CODEX_HOME".to_owned(),
            place: StatePlace::try_from("~/.codex/".to_owned()).unwrap(),
            folder: None,
            copy: vec![],
            copy_from: vec![],
            link: vec![],
            share: entries(&["auth.json", "projects/{cwd}/"]),
        }
    }

    #[test]
    fn what_is_shared_lies_in_the_directory_that_the_person_uses() {
        let home = |pairs: &[(&str, &str)]| {
            let pairs = pairs
                .iter()
                .map(|(name, it)| ((*name).into(), (*it).into()));
            private().shared(&pairs.collect(), Path::new("/w/a.b"))
        };
        let pair = |base: &str| {
            let base = Path::new(base);
            let of_cwd = PathBuf::from("projects/-w-a-b");
            vec![
                ("auth.json".into(), State::File(base.join("auth.json"))),
                (of_cwd.clone(), State::Directory(base.join(of_cwd))),
            ]
        };
        assert_eq!(home(&[("HOME", "/me")]), pair("/me/.codex"));
        assert_eq!(home(&[("HOME", "/me"), ("CODEX_HOME", "/c")]), pair("/c"));
        assert_eq!(home(&[]), []);
    }

    #[test]
    fn an_entry_stays_in_its_directory() {
        for text in ["a", "a/", "a/b", ".x/{cwd}/"] {
            assert!(StateEntry::try_from(text.to_owned()).is_ok(), "{text}");
        }
        for text in ["", "/", "/a", "..", "a/../b", "a//b", "./a"] {
            assert!(StateEntry::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in ["", "~", "/", "x", "x/y", "~/../x", "$HOME"] {
            assert!(StatePlace::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
