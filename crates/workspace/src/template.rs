//! The texts that documents and prompts are made from.
//!
//! Each has a default in the program and may be overridden by a file of the same name in `.handoff/templates/`. The
//! names and variables are those that existing workspaces use. An override that cannot be used is an error and
//! never replaced by the default in silence: whoever wrote it believes that it is in force.

mod engine;
mod export;
mod grammar;
mod provenance;
mod values;

use std::path::PathBuf;

use handoff_core::Digest;
use handoff_files::{Dir, DirError};

use crate::feature::Document;
use crate::workspace::Workspace;
use engine::{Checked, Fault, FaultKind};
pub use export::{ExportError, Exported, Overwrite};
pub use provenance::{Origin, Placing, Provenance};
pub use values::{Values, Variable};

/// Where overrides lie, in the workspace.
pub const FOLDER: &str = "templates";
/// The longest override.
const LIMIT: u64 = 256 * 1024;

macro_rules! templates {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $variables:ident;)*) => {
        /// One of the texts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Template {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Template {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// What its file is called.
            #[must_use]
            pub const fn file_name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The text that comes with the program.
            #[must_use]
            pub const fn default_text(self) -> &'static str {
                match self { $(Self::$variant => include_str!(concat!("../templates/", $name)),)* }
            }

            /// What it may say between `{{` and `}}`.
            #[must_use]
            pub const fn variables(self) -> &'static [Variable] {
                match self { $(Self::$variant => $variables,)* }
            }
        }
    };
}

const FEATURE: &[Variable] = &[
    Variable::FeatureName,
    Variable::Language,
    Variable::ContextSources,
    Variable::ContextGaps,
];
const DOCUMENT: &[Variable] = &[Variable::FeatureName, Variable::Language];
const CONTINUE: &[Variable] = &[
    Variable::FeatureName,
    Variable::FeaturePath,
    Variable::Language,
    Variable::LanguageInstruction,
    Variable::Briefing,
];
const PLANNING: &[Variable] = &[
    Variable::FeatureName,
    Variable::FeaturePath,
    Variable::Language,
    Variable::LanguageInstruction,
    Variable::Briefing,
    Variable::ContextSources,
    Variable::ContextGaps,
    Variable::ReadFiles,
    Variable::ArtifactStatus,
    Variable::PlanningMode,
    Variable::PlanFormat,
    Variable::WorkflowInstructions,
];
const CONTEXT: &[Variable] = &[
    Variable::Language,
    Variable::LanguageInstruction,
    Variable::ExistingContextSources,
    Variable::MissingContextSources,
];

templates! {
    /// A new `FEATURE.md`.
    Feature = "default_feature.md", FEATURE;
    /// A new `SPEC.md`.
    Spec = "default_spec.md", DOCUMENT;
    /// A new `DESIGN.md`.
    Design = "default_design.md", DOCUMENT;
    /// A new `STATE.md`.
    State = "default_state.md", DOCUMENT;
    /// A new `SESSION.md`.
    Session = "default_session.md", DOCUMENT;
    /// All planning documents at once.
    GeneratePrompt = "default_generate_prompt.md", PLANNING;
    /// `handoff spec`.
    SpecPrompt = "default_spec_prompt.md", PLANNING;
    /// `handoff design`.
    DesignPrompt = "default_design_prompt.md", PLANNING;
    /// `handoff tasks`.
    TasksPrompt = "default_tasks_prompt.md", PLANNING;
    /// `handoff start`.
    StartPrompt = "default_start_prompt.md", PLANNING;
    /// `handoff continue`.
    ContinuePrompt = "default_continue_prompt.md", CONTINUE;
    /// Better README and AGENTS files.
    ContextPrompt = "default_context_prompt.md", CONTEXT;
}

impl Template {
    /// The template whose file is called so, with or without `default_` and `.md`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let is_it = |it: &&Self| {
            let full = it.file_name();
            let stem = full.trim_start_matches("default_").trim_end_matches(".md");
            name == full || name == stem
        };
        Self::ALL.iter().find(is_it).copied()
    }

    /// What a document is made from.
    #[must_use]
    pub const fn of(document: Document) -> Self {
        match document {
            Document::Feature => Self::Feature,
            Document::Spec => Self::Spec,
            Document::Design => Self::Design,
            Document::State => Self::State,
            Document::Session => Self::Session,
        }
    }
}

impl Template {
    /// The briefing, if this is a prompt and does not have it.
    fn missing_briefing(self, values: &Values, text: &str) -> Option<String> {
        let briefing = values.get(Variable::Briefing)?.trim_end();
        let is_prompt = self.variables().contains(&Variable::Briefing);
        (is_prompt && !text.contains(briefing)).then(|| briefing.to_owned())
    }
}

/// What became of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// What it was made from.
    pub provenance: Provenance,
}

/// A template cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// An override is there and cannot be read.
    #[error("cannot read the template")]
    Read(#[from] DirError),
    /// An override without anything in it.
    #[error("`{file}` is empty")]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// A variable that nobody sets.
    #[error("`{file}` line {line}: `{name}` is not known here; known are {known}")]
    Unknown {
        /// The file.
        file: PathBuf,
        /// Counted from one.
        line: usize,
        /// What it says.
        name: String,
        /// What it may say.
        known: String,
    },
    /// Not a template, or one that does too much.
    #[error("`{file}` line {line}: {what}")]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Counted from one.
        line: usize,
        /// What the engine says.
        what: String,
    },
}

/// The texts that are in force.
#[derive(Debug)]
pub struct Templates {
    overrides: Option<Dir>,
}

impl Templates {
    /// Those of the program.
    #[must_use]
    pub const fn embedded() -> Self {
        Self { overrides: None }
    }

    /// Those of a workspace.
    pub fn open(workspace: &Workspace) -> Result<Self, TemplateError> {
        match workspace.dir().dir(FOLDER) {
            Ok(dir) => Ok(Self {
                overrides: Some(dir),
            }),
            Err(error) if error.is_not_found() => Ok(Self::embedded()),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts the values in their places. A prompt that comes out without the briefing, because its override has no place for
    /// it or hides the place behind a condition, gets it in front: without it a session would know nothing.
    pub fn render(&self, template: Template, values: &Values) -> Result<Rendered, TemplateError> {
        let source = self.source(template)?;
        let place = source.place();
        let fault = |fault| error_at(template, place.clone(), fault);
        let checked = Checked::new(&source.text, template.variables()).map_err(fault)?;
        let mut text = checked.render(values).map_err(fault)?;
        let mut provenance = source.provenance(template);
        if let Some(briefing) = template.missing_briefing(values, &text) {
            text = format!("{briefing}\n\n{text}");
            provenance.briefing = Placing::InFront;
        }
        Ok(Rendered {
            text: provenance.signed(text),
            provenance,
        })
    }

    /// Looks at a template without using it.
    pub fn check(&self, template: Template) -> Result<Provenance, TemplateError> {
        let source = self.source(template)?;
        match Checked::new(&source.text, template.variables()) {
            Ok(_) => Ok(source.provenance(template)),
            Err(fault) => Err(error_at(template, source.place(), fault)),
        }
    }

    fn source(&self, template: Template) -> Result<Source, TemplateError> {
        let Some(dir) = &self.overrides else {
            return Ok(Source::embedded(template));
        };
        let path = dir.path().join(template.file_name());
        match dir.read_to_string(template.file_name(), LIMIT) {
            Ok(text) if text.trim().is_empty() => Err(TemplateError::Empty { file: path }),
            Ok(text) => Ok(Source {
                // As editors on Windows write it.
                text: text.trim_start_matches('\u{feff}').replace("\r\n", "\n"),
                origin: Origin::Customised(path),
            }),
            Err(error) if error.is_not_found() => Ok(Source::embedded(template)),
            Err(error) => Err(error.into()),
        }
    }
}

struct Source {
    text: String,
    origin: Origin,
}

impl Source {
    fn embedded(template: Template) -> Self {
        Self {
            text: template.default_text().to_owned(),
            origin: Origin::Embedded,
        }
    }

    /// The file to be named in an error; none for ours, which are tested.
    fn place(&self) -> Option<PathBuf> {
        match &self.origin {
            Origin::Embedded => None,
            Origin::Customised(path) => Some(path.clone()),
        }
    }

    /// An override with the very text of the default, as `export` writes it, changes nothing and is none.
    fn provenance(self, template: Template) -> Provenance {
        let is_default = self.text == template.default_text();
        Provenance {
            template,
            digest: Digest::of(self.text.as_bytes()).short().to_owned(),
            briefing: Placing::AsWritten,
            origin: if is_default {
                Origin::Embedded
            } else {
                self.origin
            },
        }
    }
}

fn error_at(template: Template, file: Option<PathBuf>, fault: Fault) -> TemplateError {
    let file = file.unwrap_or_else(|| template.file_name().into());
    let line = fault.line;
    match fault.what {
        FaultKind::Syntax(what) => TemplateError::Syntax { file, line, what },
        FaultKind::Unknown(name) => {
            let known = template.variables().iter().map(|it| it.name());
            let known = known.collect::<Vec<_>>().join(", ");
            TemplateError::Unknown {
                file,
                line,
                name,
                known,
            }
        }
    }
}

#[cfg(test)]
mod tests;
