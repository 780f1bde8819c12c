//! How a person gets to see the sessions that a worker begins: not at all, in a window of tmux, or by a command or an address of
//! their own. The session is the same in each case and lives without any of them. A tab in which the agent itself lives is opened
//! in the same way.
//!
//! Only the user's own configuration can name one; a repository cannot.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use handoff_process::{Exit, Program};
use handoff_session::{Known, place};
use serde::Deserialize;

use crate::failure::Failure;
use crate::program::require_program;
use crate::tmux::{WindowName, open_window};
use crate::workplace::Workplace;

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
pub enum Opener {
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
#[serde(
    untagged,
    expecting = "it is neither a text nor a list of a program and its arguments"
)]
enum Wording {
    Word(String),
    Command(Vec<String>),
}

/// A text with places for what is known of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

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
    Fence,
    PromptFile,
    Prompt,
}

/// A text that opens nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenerError {
    #[error(
        "{0:?} is none of `detached`, `tmux`, an address with `://`, or a list of a program and its arguments"
    )]
    Unknown(String),
    #[error(
        "`{{{0}}}` is none of `{{session}}`, `{{name}}`, `{{task}}`, `{{worktree}}`, `{{fence}}`, `{{prompt_file}}` and `{{prompt}}`"
    )]
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
            "fence" => Ok(Self::Fence),
            "prompt_file" => Ok(Self::PromptFile),
            "prompt" => Ok(Self::Prompt),
            other => Err(OpenerError::Field(other.to_owned())),
        }
    }
}

/// What is known of a session that something is opened for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    pub session: String,
    pub name: String,
    pub task: String,
    pub worktree: PathBuf,
    pub fence: String,
    pub prompt_file: PathBuf,
}

impl Subject {
    pub fn of(known: &Known) -> Self {
        let record = &known.record;
        Self {
            session: record.id.to_string(),
            name: record.name.to_string(),
            task: record
                .task
                .as_ref()
                .map_or_else(String::new, ToString::to_string),
            worktree: record.cwd.clone(),
            fence: record.fence.map_or_else(String::new, |it| it.to_string()),
            prompt_file: place::prompt(&known.directory),
        }
    }

    /// What an agent is told that nobody can type to.
    fn prompt(&self) -> String {
        let Self { task, fence, .. } = self;
        let (file, tree) = (self.prompt_file.display(), self.worktree.display());
        format!(
            "Read {file} and do what it says, in {tree}. First run `handoff heartbeat --task {task} --fence {fence}`, and again every \
             few minutes while you work. At the end run `handoff done --task {task} --fence {fence} --summary \"what you did\"`, or, \
             if you cannot go on without a person, `handoff block --task {task} --fence {fence} --reason \"what you need\"`."
        )
    }

    fn value(&self, field: Field) -> OsString {
        match field {
            Field::Session => self.session.clone().into(),
            Field::Name => self.name.clone().into(),
            Field::Task => self.task.clone().into(),
            Field::Worktree => self.worktree.clone().into_os_string(),
            Field::Fence => self.fence.clone().into(),
            Field::PromptFile => self.prompt_file.clone().into_os_string(),
            Field::Prompt => self.prompt().into(),
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
    /// Refuses what is not there, or would set a second agent to work in the tree of the first, before a task is claimed for it.
    pub fn require(&self, here: &Workplace) -> Result<(), Failure> {
        if self.tells_what_to_do() {
            let text = "`{prompt}` in `[worker] spawn` would have a second agent work in the tree of the first";
            return Err(Failure::usage(text)
                .hint("`spawn` opens a view of a session: use `{session}`, `{name}` or `{worktree}`")
                .hint("for an agent that lives in a tab, set `[worker] tab` and work with `--agent tab`"));
        }
        let program = match self {
            Self::Detached => return Ok(()),
            Self::Tmux => "tmux",
            Self::Address(_) => BROWSER,
            Self::Command(program, _) => program,
        };
        require_program(program.as_ref(), here.cwd()?, here)
    }

    fn tells_what_to_do(&self) -> bool {
        let mut templates = match self {
            Self::Detached | Self::Tmux => [].iter(),
            Self::Address(address) => std::slice::from_ref(address).iter(),
            Self::Command(_, words) => words.iter(),
        };
        templates.any(|it| it.0.contains(&Piece::Field(Field::Prompt)))
    }

    /// Opens it for a session that runs.
    pub fn open(&self, known: &Known, here: &Workplace) -> Result<(), Failure> {
        if *self == Self::Tmux {
            let name = WindowName::from(&known.record.name);
            return open_window(known, &name, here).map(drop);
        }
        self.open_for(&Subject::of(known), here).map(drop)
    }

    /// Opens it, unless it is a window of tmux; says whether there is anything to open.
    pub fn open_for(&self, subject: &Subject, here: &Workplace) -> Result<Opened, Failure> {
        let (program, words) = match self {
            Self::Detached | Self::Tmux => return Ok(Opened::Nothing),
            Self::Address(address) => (
                BROWSER,
                vec![address.filled(|field| escaped(&subject.value(field)))],
            ),
            Self::Command(program, words) => {
                let words = words.iter();
                let words = words.map(|it| it.filled(|field| subject.value(field)));
                (program.as_str(), words.collect())
            }
        };
        let mut program = Program::new(program, here.cwd()?).with_arguments(words);
        program.environment = here.ambient.environment.clone();
        acknowledged(&program).map(|()| Opened::Something)
    }
}

/// Whether something was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    Something,
    Nothing,
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
        let subject = Subject {
            session: "ses_1".to_owned(),
            name: "fix-1".to_owned(),
            task: "fix".to_owned(),
            worktree: "/a b".into(),
            fence: "3".to_owned(),
            prompt_file: "/p.md".into(),
        };
        let value = |field| subject.value(field);
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
        assert_eq!(filled("{fence} {prompt_file}"), "3 /p.md");
        let told = filled("{prompt}");
        assert!(
            told.starts_with("Read /p.md and do what it says, in /a b."),
            "{told}"
        );
        assert!(told.contains("handoff done --task fix --fence 3"), "{told}");
    }

    #[test]
    fn an_address_takes_nothing_that_means_something_else_there() {
        assert_eq!(escaped(OsStr::new("/a b&c=d#e")), "/a%20b%26c%3Dd%23e");
    }
}
