//! What the commands of the feature workspace say: `init`, `switch`, `list`, `archive`, `clean`, `ignore`, `export`.

use serde::Serialize;

use crate::plan::PlanDocument;

/// What `init` did.
#[derive(Debug, Serialize)]
pub struct InitDocument {
    /// The feature.
    pub feature: String,
    /// Its folder.
    pub path: String,
    /// The documents that were not there before.
    pub made: Vec<&'static str>,
    /// Which feature is current now.
    pub current: Option<String>,
    /// Where a real folder that stood at `current` was moved to.
    pub displaced: Option<String>,
    /// What explains the repository.
    pub context_sources: Vec<&'static str>,
    /// What is missing there.
    pub context_gaps: Vec<&'static str>,
}

impl InitDocument {
    /// The schema of `init`.
    pub const SCHEMA: &str = "handoff.init/1";
}

/// What `switch` did.
#[derive(Debug, Serialize)]
pub struct SwitchDocument {
    /// Which feature is current now.
    pub current: String,
    /// Which one was before.
    pub before: Option<String>,
    /// Whether `current` is a link, or a file where links cannot be made.
    pub is_link: bool,
    /// Where a real folder that stood at `current` was moved to.
    pub displaced: Option<String>,
}

impl SwitchDocument {
    /// The schema of `switch`.
    pub const SCHEMA: &str = "handoff.switch/1";
}

/// A feature in a list.
#[derive(Debug, Serialize)]
pub struct FeatureRow {
    /// What it is called.
    pub name: String,
    /// Whether it is the current one.
    pub is_current: bool,
    /// Its plan in short; none if it cannot be read.
    pub plan: Option<PlanDocument>,
}

/// An archive in a list.
#[derive(Debug, Serialize)]
pub struct ArchiveRow {
    /// What the feature was called.
    pub name: String,
    /// Its folder.
    pub folder: String,
}

/// What `list` says.
#[derive(Debug, Default, Serialize)]
pub struct FeaturesDocument {
    /// Which feature is current.
    pub current: Option<String>,
    /// Those in work.
    pub features: Vec<FeatureRow>,
    /// Those put away.
    pub archives: Vec<ArchiveRow>,
    /// What lies between them and is neither.
    pub strays: Vec<String>,
}

impl FeaturesDocument {
    /// The schema of `list`.
    pub const SCHEMA: &str = "handoff.features/1";
}

/// What `archive` did.
#[derive(Debug, Serialize)]
pub struct ArchiveDocument {
    /// What was put away, and where it is.
    #[serde(flatten)]
    pub archive: ArchiveRow,
    /// Whether it was the current feature, so that none is now.
    pub was_current: bool,
}

impl ArchiveDocument {
    /// The schema of `archive`.
    pub const SCHEMA: &str = "handoff.archive/1";
}

/// How far a cleaning went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CleaningOutcome {
    /// Nothing was done; this is what would be.
    Planned,
    /// Somebody said no.
    Declined,
    /// The features are in the trash.
    Cleaned,
    /// They are back.
    Undone,
}

/// What `clean` did.
#[derive(Debug, Serialize)]
pub struct CleaningDocument {
    /// How far it went.
    pub outcome: CleaningOutcome,
    /// The features that it is about.
    pub features: Vec<String>,
    /// The one that stays, because it is current.
    pub kept: Option<String>,
    /// Whether no feature is current afterwards.
    pub clears_current: bool,
}

impl CleaningDocument {
    /// The schema of `clean`.
    pub const SCHEMA: &str = "handoff.cleaning/1";
}

/// What `ignore` did.
#[derive(Debug, Serialize)]
pub struct ExclusionDocument {
    /// Whether the file has a line for the workspace now.
    pub is_excluded: bool,
    /// The file.
    pub path: String,
    /// Whether git ignores the workspace now, by this line or another; nothing if it could not be asked.
    pub is_ignored: Option<bool>,
    /// How many files of the workspace git tracks all the same.
    pub tracked: Option<usize>,
}

impl ExclusionDocument {
    /// The schema of `ignore`.
    pub const SCHEMA: &str = "handoff.exclusion/1";
}

/// What `export` did.
#[derive(Debug, Serialize)]
pub struct ExportDocument {
    /// The folder.
    pub path: String,
    /// Files that were written.
    pub written: Vec<&'static str>,
    /// Files that somebody changed, and that were left as they are.
    pub kept: Vec<&'static str>,
}

impl ExportDocument {
    /// The schema of `export`.
    pub const SCHEMA: &str = "handoff.export/1";
}
