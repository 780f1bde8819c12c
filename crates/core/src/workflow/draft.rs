//! A definition as it stands in a file, before anything is checked.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

pub(super) type Unknown = BTreeMap<String, IgnoredAny>;

#[derive(Debug, Deserialize)]
pub(super) struct Draft {
    pub(super) schema_version: Option<i64>,
    pub(super) description: Option<String>,
    pub(super) tests: Option<Spanned<SuiteDraft>>,
    pub(super) most_phases: Option<i64>,
    pub(super) budget_tokens: Option<i64>,
    #[serde(default)]
    pub(super) phases: Vec<Spanned<PhaseDraft>>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Deserialize)]
pub(super) struct SuiteDraft {
    pub(super) command: Option<String>,
    pub(super) format: Option<String>,
    pub(super) report: Option<String>,
    #[serde(default)]
    pub(super) paths: Vec<String>,
    #[serde(default)]
    pub(super) config: Vec<String>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Deserialize)]
pub(super) struct PhaseDraft {
    pub(super) name: Option<String>,
    pub(super) role: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) prompt: Option<String>,
    #[serde(default)]
    pub(super) takes: Vec<String>,
    pub(super) gives: Option<toml::Value>,
    #[serde(default)]
    pub(super) may: Vec<String>,
    #[serde(default)]
    pub(super) may_not: Vec<String>,
    pub(super) proof: Option<String>,
    #[serde(default)]
    pub(super) checks: Vec<String>,
    pub(super) commit: Option<String>,
    pub(super) retries: Option<i64>,
    pub(super) limit_minutes: Option<f64>,
    pub(super) gate: Option<String>,
    pub(super) ask: Option<String>,
    pub(super) next: Option<NextDraft>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}

/// One way on, or one for each outcome.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum NextDraft {
    One(String),
    ByOutcome(BTreeMap<String, WayDraft>),
}

/// The name of a phase, or a fan-out.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum WayDraft {
    To(String),
    FanOut(FanOutDraft),
}

#[derive(Debug, Deserialize)]
pub(super) struct FanOutDraft {
    pub(super) fan_out: Option<String>,
    pub(super) join: Option<String>,
    pub(super) degraded: Option<String>,
    #[serde(flatten)]
    pub(super) unknown: Unknown,
}
