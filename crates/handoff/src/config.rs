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
        Self::parse(&text).map_err(|error| {
            Failure::failed(format!("`{}` has a mistake", path.display())).because(&error)
        })
    }

    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_setting_is_a_mistake() {
        assert!(Config::parse("[store]\nurl = \"postgres:///x\"\n").is_ok());
        assert!(Config::parse("[store]\nurll = \"postgres:///x\"\n").is_err());
    }
}
