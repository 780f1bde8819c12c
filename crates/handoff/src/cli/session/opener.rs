//! How a person gets to see the sessions that a worker begins: not at all, in a window of tmux, or by a command or an address of
//! their own. The session is the same in each case and lives without any of them.
//!
//! Only the user's own configuration can name one; a repository cannot.

use std::ffi::{OsStr, OsString};
use std::str::FromStr;
use std::time::Duration;

use handoff_process::{Exit, Program};
use handoff_session::Known;
use serde::Deserialize;

use super::launch::require_program;
use super::tmux::{WindowName, open_window};
use crate::context::Context;
use crate::failure::Failure;

/// Whoever opens a window answers within this time, or something hangs.
const PATIENCE: Duration = Duration::from_secs(10);
/// What opens an address.
const BROWSER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// `"detached"`, `"tmux"`, an address such as `"vscode://…{session}"`, or a program with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Wording")]
pub(crate) enum Opener {
    /// Nothing opens.
    #[default]
    Detached,
    /// A window of tmux.
    Tmux,
    /// Whatever is registered for the address.
    Address(Template),
    /// A program, and what it gets.
    Command(String, Vec<Template>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Wording {
    Word(String),
    Command(Vec<String>),
}

/// A text with places for what is known of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(Field),
}

/// What can stand in braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Session,
    Name,
    Task,
    Worktree,
}

/// A text that opens nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OpenerError {
    #[error(
        "{0:?} is none of `detached`, `tmux`, an address with `://`, or a list of a program and its arguments"
    )]
    Unknown(String),
    #[error("`{{{0}}}` is none of `{{session}}`, `{{name}}`, `{{task}}` and `{{worktree}}`")]
    Field(String),
    #[error("a list names a program first")]
    NoProgram,
}

impl TryFrom<Wording> for Opener {
    type Error = OpenerError;

    fn try_from(wording: Wording) -> Result<Self, OpenerError> {
        match wording {
            Wording::Word(word) if word == "detached" => Ok(Self::Detached),
            Wording::Word(word) if word == "tmux" => Ok(Self::Tmux),
            Wording::Word(word) if word.contains("://") => word.parse().map(Self::Address),
            Wording::Word(word) => Err(OpenerError::Unknown(word)),
            Wording::Command(words) => {
                let (program, words) = words.split_first().ok_or(OpenerError::NoProgram)?;
                let words = words.iter().map(|it| it.parse());
                let words = words.collect::<Result<_, OpenerError>>()?;
                Ok(Self::Command(program.clone(), words))
            }
        }
    }
}

impl FromStr for Template {
    type Err = OpenerError;

    fn from_str(text: &str) -> Result<Self, OpenerError> {
        let (mut pieces, mut rest) = (vec![], text);
        while let Some((before, after)) = rest.split_once('{')
            && let Some((name, after)) = after.split_once('}')
        {
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Field(name.parse()?));
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }
}

impl FromStr for Field {
    type Err = OpenerError;

    fn from_str(text: &str) -> Result<Self, OpenerError> {
        match text {
            "session" => Ok(Self::Session),
            "name" => Ok(Self::Name),
            "task" => Ok(Self::Task),
            "worktree" => Ok(Self::Worktree),
            other => Err(OpenerError::Field(other.to_owned())),
        }
    }
}

impl Field {
    fn of(self, known: &Known) -> OsString {
        let record = &known.record;
        match self {
            Self::Session => record.id.to_string().into(),
            Self::Name => record.name.to_string().into(),
            Self::Task => record.task.as_ref().map_or("", |it| it.as_str()).into(),
            Self::Worktree => record.cwd.clone().into_os_string(),
        }
    }
}

impl Template {
    fn filled(&self, value: impl Fn(Field) -> OsString) -> OsString {
        let mut filled = OsString::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push(text),
                Piece::Field(field) => filled.push(value(*field)),
            }
        }
        filled
    }
}

impl Opener {
    /// Refuses what is not there, before a task is claimed for it.
    pub(super) fn require(&self, ctx: &Context) -> Result<(), Failure> {
        let program = match self {
            Self::Detached => return Ok(()),
            Self::Tmux => "tmux",
            Self::Address(_) => BROWSER,
            Self::Command(program, _) => program,
        };
        require_program(program.as_ref(), ctx.cwd()?, ctx)
    }

    /// Opens it for a session that runs.
    pub(super) fn open(&self, known: &Known, ctx: &Context) -> Result<(), Failure> {
        let (program, words) = match self {
            Self::Detached => return Ok(()),
            Self::Tmux => {
                let name = WindowName::from(&known.record.name);
                return open_window(known, &name, ctx).map(drop);
            }
            Self::Address(address) => (
                BROWSER,
                vec![address.filled(|field| escaped(&field.of(known)))],
            ),
            Self::Command(program, words) => {
                let words = words.iter().map(|it| it.filled(|field| field.of(known)));
                (program.as_str(), words.collect())
            }
        };
        let mut program = Program::new(program, ctx.cwd()?).with_arguments(words);
        program.environment = ctx.ambient.environment.clone();
        acknowledged(&program)
    }
}

/// A command that ends well has opened something.
fn acknowledged(program: &Program) -> Result<(), Failure> {
    let cannot = || Failure::failed("no window was opened");
    let output = handoff_process::output(program, Some(PATIENCE))
        .map_err(|error| cannot().because(&error))?;
    let why = match output.exit {
        Exit::Code(0) => return Ok(()),
        Exit::Code(code) => format!("the command exited with {code}"),
        Exit::Signal(signal) => format!("the command was ended by signal {signal}"),
        Exit::TimedOut => "the command does not end".to_owned(),
    };
    Err(Failure {
        causes: vec![why],
        ..cannot()
    })
}

/// As it stands in an address: everything else could mean something there.
fn escaped(text: &OsStr) -> OsString {
    let bytes = text.as_encoded_bytes().iter();
    let escaped = bytes.map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
            char::from(*byte).to_string()
        }
        other => format!("%{other:02X}"),
    });
    escaped.collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Setting {
        spawn: Opener,
    }

    fn read(text: &str) -> Result<Opener, toml::de::Error> {
        toml::from_str::<Setting>(&format!("spawn = {text}")).map(|it| it.spawn)
    }

    fn filled(template: &str) -> String {
        let template: Template = template.parse().unwrap();
        let value = |field| match field {
            Field::Session => "ses_1".into(),
            Field::Name => "fix-1".into(),
            Field::Task => "fix".into(),
            Field::Worktree => "/a b".into(),
        };
        template.filled(value).into_string().unwrap()
    }

    #[test]
    fn there_are_four_ways_and_the_rest_is_a_mistake() {
        assert_eq!(read("\"detached\"").unwrap(), Opener::Detached);
        assert_eq!(read("\"tmux\"").unwrap(), Opener::Tmux);
        assert!(matches!(
            read("\"vscode://x?s={session}\"").unwrap(),
            Opener::Address(_)
        ));
        assert!(matches!(
            read("[\"open-tab\", \"{name}\"]").unwrap(),
            Opener::Command(..)
        ));
        for wrong in [
            "\"screen\"",
            "[]",
            "[\"x\", \"{password}\"]",
            "\"a://{}\"",
            "1",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_stands_in_braces_is_filled_in_and_the_rest_stays() {
        assert_eq!(filled("{task}/{name} in {worktree}"), "fix/fix-1 in /a b");
        assert_eq!(filled("a}b{"), "a}b{");
    }

    #[test]
    fn an_address_takes_nothing_that_means_something_else_there() {
        assert_eq!(escaped(OsStr::new("/a b&c=d#e")), "/a%20b%26c%3Dd%23e");
    }
}
