//! Typed ids. Each kind has its own type and its own prefix in text form, so that an id of one
//! kind is never taken for another, neither by the compiler nor by a person reading a log.
//!
//! Ids are never minted here: the shell hands in a UUID (version 7, so that they sort by age).
//!
//! ```compile_fail
//! # use handoff_core::{ProjectId, TaskId};
//! fn claim(task: TaskId) {}
//! claim(ProjectId::from_uuid(uuid::Uuid::nil()));
//! ```

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

/// A text that is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a {kind} id: expected `{prefix}` followed by 32 lower-case hexadecimal digits")]
pub struct IdError {
    kind: &'static str,
    prefix: &'static str,
}

fn parse(text: &str, kind: &'static str, prefix: &'static str) -> Result<Uuid, IdError> {
    let is_lower_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.strip_prefix(prefix)
        .filter(|hex| hex.len() == 32 && hex.bytes().all(is_lower_hex))
        .and_then(|hex| Uuid::try_parse(hex).ok())
        .ok_or(IdError { kind, prefix })
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $kind:literal, $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Uuid);

        impl $name {
            /// What each id of this kind starts with in text form.
            pub const PREFIX: &str = $prefix;

            /// Takes a freshly minted UUID as an id of this kind.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The number that it is.
            pub const fn as_uuid(&self) -> &Uuid {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $prefix, self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse(text, $kind, $prefix).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                String::json_schema(generator)
            }
        }
    )*};
}

ids! {
    /// A piece of work for exactly one session.
    TaskId, "task", "task_";
    /// One repository: worktrees share it, clones do not.
    ProjectId, "project", "proj_";
    /// One ledger: a SQLite home or a PostgreSQL database.
    StoreId, "store", "store_";
    /// One agent under supervision.
    SessionId, "session", "ses_";
    /// A sealed snapshot.
    PackageId, "package", "pkg_";
    /// What a person wants built.
    FeatureId, "feature", "feat_";
    /// A fan-out.
    BatchId, "batch", "batch_";
    /// A run of a workflow.
    RunId, "run", "run_";
    /// What somebody says to a session.
    MessageId, "message", "msg_";
}

impl TaskId {
    /// What a task is called in a store that takes it over with this package. Under its old id it would be taken for the one
    /// that was worked on elsewhere, if it ever came back. Whoever repeats it finds the same one.
    pub fn adopted(self, package: PackageId) -> Self {
        Self(derived(&format!("{package}/{self}")))
    }
}

impl BatchId {
    /// The same of a batch.
    pub fn adopted(self, package: PackageId) -> Self {
        Self(derived(&format!("{package}/{self}")))
    }
}

/// An identity that follows from a text: whoever asks again gets the same one.
pub(crate) fn derived(text: &str) -> Uuid {
    let digest = Sha256::digest(text);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Builder::from_custom_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "0192f0c47d0a7c3e9f5b2a1c3d4e5f60";

    #[test]
    fn text_form_round_trips() {
        let id: TaskId = format!("task_{HEX}").parse().unwrap();
        assert_eq!(id.to_string(), format!("task_{HEX}"));
        assert_eq!(
            serde_json::from_str::<TaskId>(&format!("\"{id}\"")).unwrap(),
            id
        );
    }

    #[test]
    fn only_the_one_spelling_is_an_id() {
        let upper = HEX.to_uppercase();
        let bad = [
            String::new(),
            HEX.to_owned(),
            format!("proj_{HEX}"),
            format!("task_{HEX}0"),
            format!("task_{upper}"),
            format!("task_{HEX}\n"),
            "task_0192f0c4-7d0a-7c3e-9f5b-2a1c3d4e5f60".to_owned(),
            "task_../../../../../../../../../../etc".to_owned(),
        ];
        for text in bad {
            assert!(text.parse::<TaskId>().is_err(), "{text:?}");
        }
    }
}
