//! What can be wrong with a manifest.

use std::fmt;

use super::manifest::Manifest;
use crate::name::NameError;
use crate::ownership::{Overlap, OwnershipError, PatternError};
use crate::text::TextError;
use crate::{AgentName, AgentNameError, PartName};

/// Why a text is no manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// It is neither TOML nor JSON.
    #[error("the manifest cannot be read: line {line}: {what}")]
    Unreadable {
        /// Where, counted from one.
        line: usize,
        /// What the reader said.
        what: String,
    },
    /// It can be read, and cannot be meant.
    #[error("the manifest has {}", count(.0.len()))]
    Mistaken(Vec<Mistake>),
}

fn count(mistakes: usize) -> String {
    match mistakes {
        1 => "a mistake".to_owned(),
        many => format!("{many} mistakes"),
    }
}

/// Something wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Such as `sub_tasks[1] (api).file_ownership[0]`; empty where it is the whole.
    pub place: String,
    /// What.
    pub wrong: Wrong,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => write!(f, "{}", self.wrong),
            place => write!(f, "{place}: {}", self.wrong),
        }
    }
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// A field that nobody knows.
    #[error("there is no field `{0}`")]
    UnknownField(String),
    /// A value of another kind than it must be.
    #[error("{0}")]
    Kind(String),
    /// What comes after, as something that is neither.
    #[error("what comes after is the name of a task, or a table with `task` and `brief`")]
    NoSuccessor,
    /// An agent that nobody knows here.
    #[error("no agent is called `{0}`; `handoff agents` lists those that there are")]
    UnknownAgent(AgentName),
    /// A field that must be there.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// Another version of the schema.
    #[error(
        "schema version {found} is not known; this program reads version {}",
        Manifest::SCHEMA_VERSION
    )]
    Schema {
        /// What stands there.
        found: i64,
    },
    /// Not a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Not the name of an agent.
    #[error(transparent)]
    Agent(#[from] AgentNameError),
    /// A text that does not fit.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Not a pattern of paths.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// Neither a text nor a table.
    #[error(
        "a pattern is a text such as `src/`, or a table with `type` (exact, prefix or glob) and `path`"
    )]
    NoPattern,
    /// Patterns that are no ownership together.
    #[error(transparent)]
    Ownership(#[from] OwnershipError),
    /// A number that is no time.
    #[error("{0} is not a time that work can take")]
    Time(String),
    /// A word that is no rule.
    #[error("`{0}` is neither `refuse` nor `serialise`")]
    OverlapRule(String),
    /// Two parts with one name.
    #[error("the name `{0}` is used twice")]
    Duplicate(String),
    /// A dependency on nothing.
    #[error("it depends on `{0}`, which is no part of this batch")]
    UnknownDependency(PartName),
    /// Parts that wait for each other.
    #[error("these wait for each other: {}", listed(.0))]
    Circle(Vec<PartName>),
    /// Paths that two parts want.
    #[error(
        "`{}` of `{}` and `{}` of `{}` overlap, for example at `{}`; let one depend on the other, or set overlap = \"serialise\"",
        .0.overlap.left, .0.left, .0.overlap.right, .0.right, .0.overlap.example
    )]
    Overlap(Box<Collision>),
    /// No parts.
    #[error("a batch has at least one part")]
    Empty,
    /// More parts than the setting allows.
    #[error("{count} parts are more than the {most} that `[batch] most` allows")]
    TooMany {
        /// How many there are.
        count: usize,
        /// How many there may be.
        most: usize,
    },
}

/// Two parts that want the same paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collision {
    /// One.
    pub left: PartName,
    /// The other.
    pub right: PartName,
    /// Where they meet.
    pub overlap: Overlap,
}

fn listed(parts: &[PartName]) -> String {
    let names: Vec<_> = parts.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
