//! What a template may say, and what is put in its place.

use std::collections::BTreeMap;

use handoff_core::FeatureName;

use crate::language::Language;

macro_rules! variables {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal;)*) => {
        /// A name that stands between `{{` and `}}`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Variable {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Variable {
            /// How a template writes it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

variables! {
    /// What the feature is called.
    FeatureName = "feature_name";
    /// The folder of the feature, from the root of the repository.
    FeaturePath = "feature_path";
    /// The language of the prose.
    Language = "language";
    /// What follows from it, as a sentence.
    LanguageInstruction = "language_instruction";
    /// All that the tool knows, quoted and marked: the body of a prompt.
    Briefing = "briefing";
    /// What the repository has that explains it, one a line.
    ContextSources = "context_sources";
    /// What it lacks.
    ContextGaps = "context_gaps";
    /// The same sources, under the name that the context prompt of older workspaces uses.
    ExistingContextSources = "existing_context_sources";
    /// The same gaps, likewise.
    MissingContextSources = "missing_context_sources";
    /// The documents to be read first, one a line.
    ReadFiles = "read_files";
    /// Each document and what it is worth, one a line.
    ArtifactStatus = "artifact_status";
    /// Whether there is a plan already.
    PlanningMode = "planning_mode";
    /// How a plan is written so that the program can read it.
    PlanFormat = "plan_format";
    /// What to do now, numbered.
    WorkflowInstructions = "workflow_instructions";
}

/// What is put in the place of each variable. The language can never be missing.
#[derive(Debug, Clone)]
pub struct Values(BTreeMap<Variable, String>);

impl Values {
    /// What every template of a feature may ask for.
    #[must_use]
    pub fn new(feature: &FeatureName, language: &Language) -> Self {
        Self::without_feature(language).with(Variable::FeatureName, feature.as_str())
    }

    /// The same where there is no feature.
    #[must_use]
    pub fn without_feature(language: &Language) -> Self {
        Self(BTreeMap::new())
            .with(Variable::Language, language.as_str())
            .with(Variable::LanguageInstruction, language.instruction())
    }

    /// Sets one more.
    #[must_use]
    pub fn with(mut self, variable: Variable, text: impl Into<String>) -> Self {
        self.0.insert(variable, text.into());
        self
    }

    pub(super) fn get(&self, variable: Variable) -> Option<&str> {
        self.0.get(&variable).map(String::as_str)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Variable, &str)> {
        self.0
            .iter()
            .map(|(variable, text)| (*variable, text.as_str()))
    }
}
