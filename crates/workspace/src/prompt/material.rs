//! What a prompt is made from: the documents of a feature and what each is worth.

use std::path::Path;

use handoff_core::FeatureName;
use handoff_files::DirError;

use super::Refusal;
use crate::config::{Budget, Config};
use crate::context_source::ContextScan;
use crate::essence::essence;
use crate::feature::{Document, Feature};
use crate::language::Language;
use crate::plan::{Plan, Verdict};
use crate::scaffold::{Worth, WorthError};
use crate::template::Templates;
use crate::workspace::{FEATURES, FOLDER};

/// A document, and what somebody wrote in it.
#[derive(Debug)]
pub struct Artifact {
    /// Which one.
    pub document: Document,
    /// How much of it somebody has written.
    pub worth: Worth,
    text: String,
}

/// What a prompt is made from.
#[derive(Debug)]
pub struct Material {
    /// What the feature is called.
    pub name: FeatureName,
    /// Its folder, from the root of the repository.
    pub path: String,
    /// Its documents.
    pub artifacts: Vec<Artifact>,
    /// The plan in it.
    pub plan: Plan,
    /// The language of the prose.
    pub language: Language,
    /// What explains the repository.
    pub context: ContextScan,
    /// How long a prompt may become.
    pub budget: Budget,
}

/// What a prompt is made from cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum MaterialError {
    /// A document cannot be read.
    #[error(transparent)]
    Read(#[from] DirError),
    /// What a document is worth cannot be told.
    #[error(transparent)]
    Worth(#[from] WorthError),
}

impl Material {
    /// Collects it for a feature of the repository in `root`.
    pub fn collect(
        feature: &Feature,
        templates: &Templates,
        config: &Config,
        root: &Path,
    ) -> Result<Self, MaterialError> {
        let artifact = |document| -> Result<_, MaterialError> {
            let text = feature.read(document)?.unwrap_or_default();
            let worth = feature.worth(document, templates, &config.language)?;
            Ok(Artifact {
                document,
                worth,
                text,
            })
        };
        let artifacts = Document::ALL.into_iter().map(artifact);
        let artifacts = artifacts.collect::<Result<Vec<_>, _>>()?;
        let state = artifacts.iter().find(|it| it.document == Document::State);
        Ok(Self {
            plan: Plan::parse(state.map_or("", |it| &it.text)),
            name: feature.name.clone(),
            path: format!("{FOLDER}/{FEATURES}/{}", feature.name),
            artifacts: artifacts.into_iter().map(Artifact::into_essence).collect(),
            language: config.language.clone(),
            context: ContextScan::of(root),
            budget: config.budget,
        })
    }

    /// What is known of a feature that is not there.
    #[must_use]
    pub fn empty(name: FeatureName, config: &Config, root: &Path) -> Self {
        let artifact = |document| Artifact {
            document,
            worth: Worth::Missing,
            text: String::new(),
        };
        Self {
            plan: Plan::parse(""),
            path: format!("{FOLDER}/{FEATURES}/{name}"),
            name,
            artifacts: Document::ALL.into_iter().map(artifact).collect(),
            language: config.language.clone(),
            context: ContextScan::of(root),
            budget: config.budget,
        }
    }

    /// How much of a document somebody has written.
    #[must_use]
    pub fn worth(&self, document: Document) -> Worth {
        let found = self.artifacts.iter().find(|it| it.document == document);
        found.map_or(Worth::Missing, |it| it.worth)
    }

    /// The path of a document, from the root of the repository.
    #[must_use]
    pub fn path_of(&self, document: Document) -> String {
        format!("{}/{}", self.path, document.file_name())
    }

    /// Refuses a prompt that would have an assistant work without a goal, or on a plan that cannot be worked on.
    pub fn guard(&self, purpose: super::Purpose) -> Result<(), Refusal> {
        match self.worth(Document::Feature) {
            Worth::Missing | Worth::Empty => return Err(Refusal::NoGoal),
            Worth::Untouched => return Err(Refusal::UntouchedGoal),
            Worth::Written => {}
        }
        if purpose != super::Purpose::Start {
            return Ok(());
        }
        match self.plan.verdict() {
            Verdict::NotInitialised | Verdict::Ready { .. } => Ok(()),
            Verdict::Invalid => Err(Refusal::Invalid),
            Verdict::NothingRemaining => Err(Refusal::NothingRemaining),
            Verdict::Blocked => Err(Refusal::Blocked),
        }
    }

    pub(super) fn read_files(&self) -> String {
        let written = self.artifacts.iter().filter(|it| it.content().is_some());
        let lines = written.map(|it| format!("- `{}`", self.path_of(it.document)));
        let lines: Vec<_> = lines.collect();
        if lines.is_empty() {
            return "- none yet".to_owned();
        }
        lines.join("\n")
    }

    pub(super) fn artifact_status(&self) -> String {
        let line = |it: &Artifact| {
            let file = it.document.file_name();
            format!("- `{file}`: {}", it.in_words(&self.plan))
        };
        self.artifacts
            .iter()
            .map(line)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl Artifact {
    fn into_essence(self) -> Self {
        Self {
            text: essence(self.document, &self.text),
            ..self
        }
    }

    /// What somebody wrote in it.
    pub(super) fn content(&self) -> Option<&str> {
        let is_there = self.worth.is_written() && !self.text.trim().is_empty();
        is_there.then_some(self.text.as_str())
    }

    pub(super) const fn heading(&self) -> &'static str {
        match self.document {
            Document::Feature => "The goal, in the user's words",
            Document::Spec => "The specification",
            Document::Design => "The design",
            Document::State => "The plan, and how far it is",
            Document::Session => "What the last session knew",
        }
    }

    /// How far it is.
    #[must_use]
    pub fn in_words(&self, plan: &Plan) -> String {
        match (self.worth, self.document) {
            (Worth::Missing, _) => "missing".to_owned(),
            (Worth::Empty, _) => "empty".to_owned(),
            (Worth::Untouched, _) => "not written yet".to_owned(),
            (Worth::Written, Document::State) => match plan.steps.len() {
                0 => "no steps yet".to_owned(),
                steps => format!("{} of {steps} steps done", plan.done()),
            },
            (
                Worth::Written,
                Document::Feature | Document::Spec | Document::Design | Document::Session,
            ) => "written".to_owned(),
        }
    }
}
