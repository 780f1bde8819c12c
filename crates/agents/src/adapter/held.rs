//! What an agent CLI needs when it is held in a sandbox: the table `[sandbox]` of an adapter.

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

    #[test]
    fn what_is_no_place_is_refused() {
        for text in ["", "~", "/", "x", "x/y", "~/../x", "$HOME"] {
            assert!(StatePlace::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
