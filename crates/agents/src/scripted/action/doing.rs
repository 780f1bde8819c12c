//! What an agent does to files, processes and time.

use std::num::NonZeroU32;

use serde::Deserialize;

use super::showing::once;
use crate::scripted::inner_path::InnerPath;
use crate::scripted::period::Period;
use crate::scripted::script::Step;
use crate::scripted::signal::IgnorableSignal;
use crate::scripted::text::Text;

/// `write = { path = "src/lib.rs", text = "…" }` replaces or makes a file beneath the working
/// directory, and the directories above it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    #[serde(rename = "write")]
    pub file: FileText,
}

/// `append = { path = "log.txt", text = "…" }` adds to the end of a file, or makes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Append {
    #[serde(rename = "append")]
    pub file: FileText,
}

/// A file and the text for it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileText {
    pub path: InnerPath,
    pub text: Text,
}

/// `delete = "src/old.rs"` deletes a file; it must be there, and be no directory.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delete {
    #[serde(rename = "delete")]
    pub path: InnerPath,
}

/// `git = ["commit", "-m", "x"]` runs git in the working directory; see [`Run`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Git {
    #[serde(rename = "git")]
    pub arguments: Arguments,
    #[serde(default)]
    pub may_fail: bool,
}

/// `run = ["make", "check"]` runs a command, not through a shell, in the working directory with
/// the agent's output and no input. It must succeed unless `may_fail = true`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    #[serde(rename = "run")]
    pub arguments: Arguments,
    #[serde(default)]
    pub may_fail: bool,
}

/// A command line of at least one word.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<Text>")]
pub struct Arguments(Vec<Text>);

impl Arguments {
    pub fn as_slice(&self) -> &[Text] {
        &self.0
    }
}

impl TryFrom<Vec<Text>> for Arguments {
    type Error = &'static str;

    fn try_from(arguments: Vec<Text>) -> Result<Self, Self::Error> {
        if arguments.is_empty() {
            return Err("the command line is empty");
        }
        Ok(Self(arguments))
    }
}

/// `spawn = "30s"` leaves a process behind that lives this long, and keeps its id as `{child}`.
///
/// It keeps the agent's output open unless `holds_terminal = false`. `setsid = true` puts it in a
/// session of its own, `double_fork = true` lets its parent end so that it is nobody's child, and
/// `ignores = ["TERM"]` makes it deaf to signals.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spawn {
    #[serde(rename = "spawn")]
    pub lifetime: Period,
    #[serde(default)]
    pub setsid: bool,
    #[serde(default)]
    pub double_fork: bool,
    #[serde(default = "yes")]
    pub holds_terminal: bool,
    #[serde(default)]
    pub ignores: Vec<IgnorableSignal>,
}

const fn yes() -> bool {
    true
}

/// `ignore = ["TERM", "HUP"]` makes the agent deaf to these signals from here on. Commands it runs
/// are not.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ignore {
    #[serde(rename = "ignore")]
    pub signals: Vec<IgnorableSignal>,
}

/// `wait = "2s"`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    #[serde(rename = "wait")]
    pub period: Period,
}

/// `wait_for = "go"` waits until a file of that path exists, or until `timeout`. Any path will do:
/// nothing is changed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitFor {
    #[serde(rename = "wait_for")]
    pub path: Text,
    pub timeout: Option<Period>,
}

/// `repeat = 3` plays the steps of `[[step.steps]]` that often, and without the key once; `{round}`
/// counts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    #[serde(default = "once", rename = "repeat")]
    pub rounds: NonZeroU32,
    /// Read by the parser, which names the steps in it.
    #[serde(skip)]
    pub steps: Vec<Step>,
}
