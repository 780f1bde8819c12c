//! What a package says to be true, and how whoever receives it can find out.

use std::fmt;

use handoff_core::context::ContextKey;
use handoff_core::feature::CheckName;
use handoff_core::ownership::RepoPath;
use handoff_core::task::{Reason, VerifyCommand};
use handoff_core::{CommitId, Digest, JsonText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that is said to be true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// In words.
    pub text: Reason,
    /// How to find out; none if it has to be believed.
    pub probe: Option<Probe>,
}

/// How to find out whether a claim is true. All but the last are safe: they look, or run what the receiver trusts already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Probe {
    /// A commit is in the history of what is checked out.
    Commit {
        /// Which.
        commit: CommitId,
    },
    /// A file of the tree has this content.
    File {
        /// Which.
        #[schemars(with = "String")]
        path: RepoPath,
        /// Its content.
        sha256: Digest,
    },
    /// A check of the receiver's own configuration passes.
    Check {
        /// Which.
        name: CheckName,
    },
    /// Everything is committed.
    CleanTree,
    /// A key of the receiver's context has this value.
    Context {
        /// Which.
        key: ContextKey,
        /// The value.
        value: JsonText,
    },
    /// A command succeeds. It is shown; only a person runs it.
    Command {
        /// Which.
        command: VerifyCommand,
    },
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Commit { commit } => write!(f, "commit {}", &commit.as_str()[..12]),
            Self::File { path, .. } => write!(f, "file {path}"),
            Self::Check { name } => write!(f, "check {name}"),
            Self::CleanTree => f.write_str("clean tree"),
            Self::Context { key, .. } => write!(f, "context {key}"),
            Self::Command { command } => write!(f, "command `{command}`"),
        }
    }
}
