//! `handoff scripted-agent SCRIPT.toml`: reads the script, plays it, says what went wrong.

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use handoff_agents::scripted::{Script, ScriptError};

use crate::outcome::{Failure, Outcome};
use crate::player::play;
use crate::world::World;

/// The exit code for a script that cannot be read or is wrong.
const UNUSABLE_SCRIPT: u8 = 2;

/// A script cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("cannot read the script `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the script `{}` is wrong", path.display())]
    Parse { path: PathBuf, source: ScriptError },
}

/// Plays the script at `script` and gives the exit code the process should end with.
///
/// | code | meaning |
/// |---|---|
/// | 0 | the script was played to its end |
/// | as written | `exit` ended it |
/// | 1 | a step failed |
/// | 2 | the script cannot be read or is wrong |
/// | 3 | the prompt does not contain what `prompt_contains` says |
/// | 4 | an awaited line, key or file did not come |
/// | 130 | Ctrl-C was pressed where the agent reads keys |
pub fn run(script: &Path, world: World) -> ExitCode {
    let stderr = world.stderr.try_clone().map(File::from);
    let (code, complaint) = match load(&world.cwd.join(script)) {
        Ok(script) => {
            let outcome = play(&script, world);
            (outcome.exit_code(), complaint(&outcome))
        }
        Err(error) => (UNUSABLE_SCRIPT, Some(with_causes(&error))),
    };
    if let (Ok(mut stderr), Some(complaint)) = (stderr, complaint) {
        // Whoever closed the stream does not want to read this; the exit code still tells.
        drop(writeln!(stderr, "scripted-agent: {complaint}"));
    }
    ExitCode::from(code)
}

/// Reads the script at `path`.
pub fn load(path: &Path) -> Result<Script, LoadError> {
    let path = || path.to_owned();
    let text = fs::read_to_string(path()).map_err(|source| LoadError::Read {
        path: path(),
        source,
    })?;
    Script::parse(&text).map_err(|source| LoadError::Parse {
        path: path(),
        source,
    })
}

fn complaint(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Failed(failure) if matches!(failure.failure, Failure::OutputClosed) => None,
        Outcome::Failed(failure) => Some(with_causes(failure)),
        Outcome::Finished | Outcome::Exited(_) => None,
    }
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
