//! A manifest as it stands in a file, before anything is checked: every field may be missing, and fields that nobody knows are
//! kept by name, so that all mistakes can be told at once.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Fields that nobody knows.
pub(super) type Unknown = BTreeMap<String, IgnoredAny>;

#[derive(Debug, Deserialize)]
pub(super) struct Draft {
    pub(super) schema_version: Option<i64>,
    pub(super) batch_id: Option<String>,
    pub(super) fan_in_task: Option<String>,
    #[serde(default)]
    pub(super) fan_in: FanInDraft,
    pub(super) next_after_fanin: Option<NextDraft>,
    pub(super) split_rationale: Option<String>,
    pub(super) amdahl_estimate: Option<AmdahlDraft>,
    pub(super) timeout_hours: Option<f64>,
    pub(super) overlap: Option<String>,
    pub(super) workspace: Option<String>,
    /// An earlier tool put it into the copy it kept. What counts is when the batch is opened.
    #[serde(rename = "created_at")]
    _created_at: Option<IgnoredAny>,
    #[serde(default)]
    pub(super) sub_tasks: Vec<PartDraft>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Deserialize)]
pub(super) struct PartDraft {
    pub(super) id: Option<String>,
    pub(super) brief: Option<String>,
    pub(super) estimated_minutes: Option<f64>,
    #[serde(default)]
    pub(super) file_ownership: Vec<PatternDraft>,
    #[serde(default)]
    pub(super) depends_on: Vec<String>,
    pub(super) verify: Option<String>,
    pub(super) agent: Option<String>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct FanInDraft {
    pub(super) brief: Option<String>,
    pub(super) estimated_minutes: Option<f64>,
    pub(super) verify: Option<String>,
    pub(super) agent: Option<String>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}

/// The name of a task, or the task itself.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum NextDraft {
    Name(String),
    Task(NextTaskDraft),
}

#[derive(Debug, Deserialize)]
pub(super) struct NextTaskDraft {
    pub(super) task: Option<String>,
    pub(super) brief: Option<String>,
    pub(super) verify: Option<String>,
    pub(super) agent: Option<String>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}

/// What people expected of the split. Only the serial part is used; the speed-up is computed.
#[derive(Debug, Deserialize)]
pub(super) struct AmdahlDraft {
    #[serde(rename = "estimated_speedup")]
    _estimated_speedup: Option<f64>,
    pub(super) serial_minutes: Option<f64>,
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
