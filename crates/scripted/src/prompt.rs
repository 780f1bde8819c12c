//! The prompt an agent was started with.

use std::fs;
use std::io;
use std::path::Path;

use crate::input::Input;
use crate::outcome::Failure;
use crate::variables::Variables;

/// The environment variable that names the file with the prompt.
const PROMPT_FILE: &str = "HANDOFF_PROMPT_FILE";

/// A prompt, and where it came from.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    pub(crate) text: String,
    pub(crate) origin: String,
}

impl Prompt {
    /// Reads the file if the environment names one, else the input to its end.
    pub(crate) fn read(
        variables: &Variables,
        cwd: &Path,
        input: &mut Input,
    ) -> Result<Self, Failure> {
        match variables.environment_value(PROMPT_FILE) {
            Some(path) => Self::from_file(&cwd.join(path)),
            None => Self::from(input.rest(), "the input".to_owned()),
        }
    }

    fn from_file(path: &Path) -> Result<Self, Failure> {
        let bytes = fs::read(path);
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Self::from(text, format!("`{}`", path.display()))
    }

    fn from(text: io::Result<String>, origin: String) -> Result<Self, Failure> {
        match text {
            Ok(text) => Ok(Self { text, origin }),
            Err(source) => Err(Failure::Prompt { origin, source }),
        }
    }

    pub(crate) fn check_contains(&self, part: &str) -> Result<(), Failure> {
        if self.text.contains(part) {
            return Ok(());
        }
        Err(Failure::PromptLacks {
            part: part.to_owned(),
            length: self.text.len(),
            origin: self.origin.clone(),
        })
    }
}
