//! A manifest as it stands in a file, before anything is checked: every field may be missing or of another kind than it must be, and
//! fields that nobody knows are kept by name, so that all mistakes can be told at once.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Fields that nobody knows.
pub(super) type Unknown = BTreeMap<String, IgnoredAny>;

/// A value as it must be, or what is wrong with its kind.
#[derive(Debug)]
pub(super) enum Given<T> {
    Right(T),
    Wrong(String),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Given<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(match serde_json::from_value(value) {
            Ok(right) => Self::Right(right),
            Err(error) => Self::Wrong(in_words(&error.to_string())),
        })
    }
}

/// What is wrong with a kind, without the words of a programming language.
fn in_words(error: &str) -> String {
    let Some((found, expected)) = error.split_once(", expected ") else {
        return error.to_owned();
    };
    let found = match found.strip_prefix("invalid type: ").unwrap_or(found) {
        "sequence" => "list",
        "map" => "table",
        other => other,
    };
    let expected = match expected {
        "i64" => "a whole number",
        "f64" => "a number",
        "a string" => "a text",
        "a sequence" => "a list",
        other => other,
    };
    format!("the {found} stands where {expected} is wanted")
}

/// A field that may be missing.
pub(super) type Field<T> = Option<Given<T>>;

#[derive(Debug, Deserialize)]
pub(super) struct Draft {
    pub(super) schema_version: Field<i64>,
    pub(super) batch_id: Field<String>,
    pub(super) fan_in_task: Field<String>,
    pub(super) fan_in: Field<FanInDraft>,
    pub(super) next_after_fanin: Field<NextDraft>,
    pub(super) split_rationale: Field<String>,
    pub(super) amdahl_estimate: Field<AmdahlDraft>,
    pub(super) timeout_hours: Field<f64>,
    pub(super) overlap: Field<String>,
    pub(super) workspace: Field<String>,
    /// An earlier tool put it into the copy it kept. What counts is when the batch is opened.
    #[serde(rename = "created_at")]
    _created_at: Option<IgnoredAny>,
    pub(super) sub_tasks: Field<Vec<Given<PartDraft>>>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a table")]
pub(super) struct PartDraft {
    pub(super) id: Field<String>,
    pub(super) brief: Field<String>,
    pub(super) estimated_minutes: Field<f64>,
    pub(super) file_ownership: Field<Vec<PatternDraft>>,
    pub(super) depends_on: Field<Vec<Given<String>>>,
    pub(super) verify: Field<String>,
    pub(super) agent: Field<String>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a table")]
pub(super) struct FanInDraft {
    pub(super) brief: Field<String>,
    pub(super) estimated_minutes: Field<f64>,
    pub(super) verify: Field<String>,
    pub(super) agent: Field<String>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}

/// The name of a task, or the task itself.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum NextDraft {
    Name(String),
    Task(Box<NextTaskDraft>),
    Other(IgnoredAny),
}

#[derive(Debug, Deserialize)]
pub(super) struct NextTaskDraft {
    pub(super) task: Field<String>,
    pub(super) brief: Field<String>,
    pub(super) verify: Field<String>,
    pub(super) agent: Field<String>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}

/// What people expected of the split. Only the serial part is used; the speed-up is computed.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a table")]
pub(super) struct AmdahlDraft {
    #[serde(rename = "estimated_speedup")]
    _estimated_speedup: Field<f64>,
    pub(super) serial_minutes: Field<f64>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}

/// A pattern as a text, or with its type beside it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum PatternDraft {
    Text(String),
    Typed {
        #[serde(rename = "type")]
        word: String,
        path: String,
        #[serde(flatten)]
        unknown: Unknown,
    },
    Other(IgnoredAny),
}
