//! What a briefing is made from.

use handoff_core::tree::Freshness;
use handoff_core::{Digest, FeatureName, FeatureRecord, TreeState};

use crate::config::Check;
use crate::plan::Plan;
use crate::quote;

/// What is known of a feature.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// What it is called.
    pub name: &'a FeatureName,
    /// Its folder, from the root of the repository.
    pub path: &'a str,
    /// What is wanted, as its document says.
    pub goal: &'a str,
    /// The plan.
    pub plan: &'a Plan,
    /// What people and agents wrote down.
    pub memory: &'a Memory,
    /// What the repository calls proof.
    pub checks: &'a [Check],
    /// What the tool itself knows.
    pub knowledge: Knowledge<'a>,
}

/// What the tool itself knows: nothing, where there is no git or nothing was recorded.
#[derive(Debug, Clone, Copy)]
pub struct Knowledge<'a> {
    /// What the ledger has.
    pub record: Option<&'a FeatureRecord>,
    /// How the code stands now.
    pub code: Option<CodeNow<'a>>,
    /// How far the code has moved since the record.
    pub freshness: &'a Freshness,
    /// The digest of the plan's document now.
    pub plan: Option<&'a Digest>,
    /// What could not be found out.
    pub warnings: &'a [String],
}

/// How the code stands now.
#[derive(Debug, Clone, Copy)]
pub struct CodeNow<'a> {
    /// Branch, commit, edits.
    pub tree: &'a TreeState,
    /// The files that are not committed.
    pub edited: &'a [String],
    /// The commits since the record, newest first, as far as they were asked for.
    pub commits: &'a [String],
}

/// What people and agents wrote down for whoever comes next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    /// What was decided, and why.
    pub decisions: Vec<Entry>,
    /// What was tried and does not work.
    pub dead_ends: Vec<Entry>,
    /// What keeps the work from going on.
    pub blockers: Vec<Entry>,
    /// What is half done or broken.
    pub in_flight: Vec<Entry>,
    /// What the last session wanted to do next.
    pub next: Vec<Entry>,
    /// Files worth reading first.
    pub files: Vec<Entry>,
    /// What nobody has answered.
    pub questions: Vec<Entry>,
    /// Everything else.
    pub notes: Vec<Entry>,
}

/// One thing that was written down, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it says.
    pub text: String,
    /// Where, such as `SESSION.md:12`.
    pub source: String,
}

impl Entry {
    pub(super) fn quoted(&self) -> String {
        format!("- {} > {}", self.source, quote::folded(&self.text, "  "))
    }
}

impl Knowledge<'_> {
    /// Whether the plan's document is another than the one that was recorded last, or than a command left it. A checkpoint
    /// says where things stand and not that it is right: it does not make an edit by hand a command's.
    #[must_use]
    pub fn is_plan_edited(&self) -> bool {
        let Some(record) = self.record else {
            return false;
        };
        let marked = record.mark.as_ref().map(|marked| &marked.mark.plan);
        let written = record.written_plan.as_ref();
        marked.is_some_and(|plan| plan.as_ref() != self.plan)
            || written.is_some_and(|written| Some(written) != self.plan)
    }
}
