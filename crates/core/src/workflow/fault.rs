//! What can be wrong with a definition.

use std::fmt;

use super::definition::{Proof, SuiteFormat, Workflow};
use super::next::Outcome;
use crate::context::WordError;
use crate::name::NameError;
use crate::ownership::{OwnershipError, PatternError, RepoPath, RepoPathError};
use crate::text::TextError;
use crate::{AgentNameError, PhaseName};

/// Why a text is no definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// It is no TOML, or a value is of another kind than it must be.
    #[error("line {line}: {what}")]
    Unreadable {
        /// Where, counted from one.
        line: usize,
        /// What the reader said.
        what: String,
    },
    /// It can be read, and cannot be meant.
    #[error("{} found", count(.0.len()))]
    Flawed(Vec<Flaw>),
}

fn count(flaws: usize) -> String {
    match flaws {
        1 => "one mistake was".to_owned(),
        many => format!("{many} mistakes were"),
    }
}

/// Something wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The line, counted from one.
    pub line: usize,
    /// The name of the phase it concerns, if it concerns one: whatever stands there.
    pub within: Option<String>,
    /// What.
    pub fault: Fault,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.within {
            Some(phase) => write!(f, "phase `{phase}`: {}", self.fault),
            None => fmt::Display::fmt(&self.fault, f),
        }
    }
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A field that nobody knows.
    #[error("there is no field `{0}`")]
    UnknownField(String),
    /// A field that must be there.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// Another version of the schema.
    #[error(
        "schema version {found} is not known; this program reads version {}",
        Workflow::SCHEMA_VERSION
    )]
    Schema {
        /// What stands there.
        found: i64,
    },
    /// Not a name.
    #[error("{field}: {cause}")]
    Name {
        /// Where.
        field: &'static str,
        /// Why not.
        cause: NameError,
    },
    /// Not the name of an agent.
    #[error("agent: {0}")]
    Agent(AgentNameError),
    /// A text that does not fit.
    #[error("{field}: {cause}")]
    Text {
        /// Where.
        field: &'static str,
        /// Why not.
        cause: TextError,
    },
    /// Not a pattern of paths.
    #[error("{field}: {cause}")]
    Pattern {
        /// Where.
        field: &'static str,
        /// Why not.
        cause: PatternError,
    },
    /// Patterns that are no set of paths together.
    #[error("{field}: {cause}")]
    Ownership {
        /// Where.
        field: &'static str,
        /// Why not.
        cause: OwnershipError,
    },
    /// Not a path of the repository.
    #[error("{field}: {cause}")]
    Path {
        /// Where.
        field: &'static str,
        /// Why not.
        cause: RepoPathError,
    },
    /// A word that means no group of paths.
    #[error("{field}: `{text}` is not one of `@tests`, `@config` and `@declared`")]
    Group {
        /// Where.
        field: &'static str,
        /// What stands there.
        text: String,
    },
    /// No such proof.
    #[error("proof: `{word}` is not one of {}", words(&Proof::ALL.map(Proof::word)))]
    Proof {
        /// What stands there.
        word: String,
    },
    /// No such format.
    #[error("format: `{word}` is not one of {}", words(&SuiteFormat::ALL.map(SuiteFormat::word)))]
    Format {
        /// What stands there.
        word: String,
    },
    /// No such gate.
    #[error("gate: `{0}` is not `human`")]
    Gate(String),
    /// Something that a session cannot get.
    #[error("takes: `{0}` is neither the name of a phase, `file:PATH` nor `context:KEY`")]
    Input(String),
    /// Not a key of a context.
    #[error("takes: {0}")]
    Context(WordError),
    /// A question that nobody is asked.
    #[error("ask: there is no gate at which it would be asked")]
    NobodyAsked,
    /// A suite of which only the end is known, and a proof that needs to see one test.
    #[error("proof `red` needs a suite that names its tests; the format `exit` does not")]
    OneTest,
    /// A number that cannot be meant.
    #[error("{field}: {found} is not between {least} and {most}")]
    Range {
        /// Where.
        field: &'static str,
        /// What stands there.
        found: String,
        /// The least it can be.
        least: i64,
        /// The most it can be.
        most: i64,
    },
    /// A schema that is none.
    #[error("gives: {0}")]
    Gives(String),
    /// A workflow that does nothing.
    #[error("a workflow has at least one phase")]
    NoPhases,
    /// Two phases with one name.
    #[error("the name `{0}` is used twice")]
    Twice(PhaseName),
    /// A name that means something else.
    #[error("no phase can be called `end`, which is where a run ends")]
    CalledEnd,
    /// A phase that is spoken of and not there.
    #[error("{field}: there is no phase `{phase}`")]
    NoSuchPhase {
        /// Where.
        field: &'static str,
        /// Which.
        phase: PhaseName,
    },
    /// An outcome that leads nowhere.
    #[error("next: its proof can come to `{0}`, which leads nowhere")]
    DeadEnd(String),
    /// An outcome that its proof cannot have.
    #[error("next: its proof never comes to `{0}`")]
    NoSuchOutcome(Outcome),
    /// Several outcomes and nobody to choose.
    #[error(
        "next has several outcomes; `gives` must ask its session for one, in a field `outcome`"
    )]
    NoChooser,
    /// A fan-out that is described nowhere.
    #[error(
        "next: `{0}` is neither `result`, for the field `batch` of the result, nor `file:PATH`"
    )]
    ManifestSource(String),
    /// A fan-out by a result that nobody asks for.
    #[error(
        "next: the batch of `{0}` is to be in the result; `gives` must ask for it, in a field `batch`"
    )]
    NoManifest(Outcome),
    /// A fan-out into a file that its session may not write.
    #[error("next: the batch of `{outcome}` is to be in `{path}`, which the phase may not touch")]
    ManifestOutOfReach {
        /// Of which outcome.
        outcome: Outcome,
        /// Which file.
        path: RepoPath,
    },
    /// Nothing to check.
    #[error("proof `until` needs at least one command in `checks`")]
    NothingToCheck,
    /// A phase that no run comes to.
    #[error("no way leads to it from `{0}`")]
    Unreachable(PhaseName),
    /// A phase from which no run comes to the end.
    #[error("no way leads from it to the end")]
    Endless,
}

fn words(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|it| format!("`{it}`")).collect();
    words.join(", ")
}
