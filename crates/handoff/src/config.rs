//! The user's configuration: `$XDG_CONFIG_HOME/handoff/config.toml`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::Failure;

/// What a person set once for all repositories.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default)]
    pub(crate) store: StoreConfig,
    #[serde(default)]
    pub(crate) upgrade: UpgradeConfig,
}

/// Which store to use.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreConfig {
    /// `postgres://…`; without it the embedded store is used.
    pub(crate) url: Option<String>,
    /// A file with nothing but the password.
    pub(crate) password_file: Option<PathBuf>,
}

/// Where releases come from.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpgradeConfig {
    /// What tells the newest release, in the form of GitHub's `releases/latest`.
    pub(crate) url: Option<String>,
}

impl Config {
    /// Reads the file; no file is an empty one.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => {
                return Err(
                    Failure::failed(format!("cannot read `{}`", path.display())).because(&error)
                );
            }
        };
        Self::parse(&text).map_err(|error| mistake(path, &text, &error))
    }

    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }
}

/// Says where and what, but not the text itself: there may be a password in it.
fn mistake(path: &Path, text: &str, error: &toml::de::Error) -> Failure {
    let place = error.span().map_or(0, |span| span.start);
    let line = text.as_bytes()[..place.min(text.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1;
    let what = format!("`{}` has a mistake in line {line}", path.display());
    Failure::failed(what).hint(
        "the settings are `[store]` with `url` and `password_file`, and `[upgrade]` with `url`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_by_its_line_and_never_by_its_text() {
        let text = "[store]\nurll = \"postgres://me:hunter2@localhost/x\"\n";
        let error = Config::parse(text).unwrap_err();
        let failure = format!("{:?}", mistake(Path::new("config.toml"), text, &error));
        assert!(
            failure.contains("line 2") && !failure.contains("hunter2"),
            "{failure}"
        );
    }

    #[test]
    fn an_unknown_setting_is_a_mistake() {
        assert!(Config::parse("[store]\nurl = \"postgres:///x\"\n").is_ok());
        assert!(Config::parse("[store]\nurll = \"postgres:///x\"\n").is_err());
    }
}
