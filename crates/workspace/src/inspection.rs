//! Everything that is wrong with a workspace and one feature in it, with file and line.
//!
//! It goes on where others stop: a file that cannot be read is a finding, not an error.

use handoff_files::DirError;

use crate::config::{self, Config, ConfigError, Notice};
use crate::feature::{Document, Feature};
use crate::language::Language;
use crate::plan::{Plan, Problem, Severity, damage};
use crate::scaffold::{Worth, WorthError};
use crate::template::{Template, TemplateError, Templates};
use crate::workspace::{Current, FEATURES, FOLDER, Workspace, WorkspaceError};

/// Something wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file or folder, from the root of the repository.
    pub file: String,
    /// The line, where there is one.
    pub line: Option<usize>,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, without a period.
    pub what: String,
}

impl Finding {
    fn error(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            severity: Severity::Error,
            what: what.into(),
        }
    }

    fn warning(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(file, what)
        }
    }

    fn at(self, line: usize) -> Self {
        Self {
            line: Some(line),
            ..self
        }
    }
}

/// What is wrong with the workspace itself: settings, templates, folders, and which feature is current.
pub fn of_workspace(workspace: &Workspace) -> Result<Vec<Finding>, WorkspaceError> {
    let listing = workspace.list()?;
    let mut findings = of_current(&listing.current, &listing.features);
    findings.extend(listing.strays.iter().map(|stray| {
        let file = format!("{FOLDER}/{FEATURES}/{}", stray.to_string_lossy());
        Finding::warning(file, "no feature can be called so; it is left alone")
    }));
    findings.extend(of_config(workspace));
    findings.extend(of_templates(workspace));
    Ok(findings)
}

fn of_current(current: &Current, features: &[handoff_core::FeatureName]) -> Vec<Finding> {
    let file = format!("{FOLDER}/current");
    match current {
        Current::Feature(name) if features.contains(name) => vec![],
        Current::Feature(name) => {
            let what = format!("the current feature `{name}` has no folder");
            vec![Finding::error(file, what)]
        }
        Current::None if features.is_empty() => vec![],
        Current::None => vec![Finding::warning(file, "no feature is current")],
        Current::Unknown(target) => {
            vec![Finding::error(
                file,
                format!("it names no feature: {target:?}"),
            )]
        }
    }
}

fn of_config(workspace: &Workspace) -> Vec<Finding> {
    let file = format!("{FOLDER}/{}", config::FILE);
    match Config::load(workspace) {
        Ok(config) => {
            let notices = config.notices.iter();
            notices
                .filter_map(|notice| of_notice(&file, notice))
                .collect()
        }
        Err(ConfigError::Mistake { line, what, .. }) => vec![Finding::error(file, what).at(line)],
        Err(ConfigError::Read(error)) => vec![Finding::error(file, unreadable(&error))],
    }
}

/// Another tool's file is no mistake of anybody.
fn of_notice(file: &str, notice: &Notice) -> Option<Finding> {
    match notice {
        Notice::Unknown { line, key } => {
            let what = format!("the setting `{key}` means nothing");
            Some(Finding::warning(file, what).at(*line))
        }
        Notice::Unquoted { line } => {
            Some(Finding::warning(file, "the language should stand in quotes").at(*line))
        }
        Notice::Foreign => None,
    }
}

fn of_templates(workspace: &Workspace) -> Vec<Finding> {
    let templates = match Templates::open(workspace) {
        Ok(templates) => templates,
        Err(error) => return vec![of_template(&format!("{FOLDER}/templates"), error)],
    };
    let broken = Template::ALL.iter().filter_map(|template| {
        let file = format!("{FOLDER}/templates/{}", template.file_name());
        Some(of_template(&file, templates.check(*template).err()?))
    });
    broken.collect()
}

fn of_template(file: &str, error: TemplateError) -> Finding {
    match error {
        TemplateError::Read(error) => Finding::error(file, unreadable(&error)),
        TemplateError::Empty { .. } => Finding::error(file, "it is empty"),
        TemplateError::Unknown {
            line, name, known, ..
        } => {
            let what = format!("`{name}` is not known here; known are {known}");
            Finding::error(file, what).at(line)
        }
        TemplateError::Syntax { line, what, .. } => Finding::error(file, what).at(line),
    }
}

/// What is wrong with the documents of a feature.
#[must_use]
pub fn of_feature(workspace: &Workspace, feature: &Feature) -> Vec<Finding> {
    let language = Config::load(workspace).map_or_else(|_| Language::default(), |it| it.language);
    Document::ALL
        .into_iter()
        .flat_map(|document| of_document(workspace, feature, document, &language))
        .collect()
}

fn of_document(
    workspace: &Workspace,
    feature: &Feature,
    document: Document,
    language: &Language,
) -> Vec<Finding> {
    let name = document.file_name();
    let file = format!("{FOLDER}/{FEATURES}/{}/{name}", feature.name);
    let text = match feature.read(document) {
        Ok(Some(text)) => text,
        Ok(None) => return missing(file, document).into_iter().collect(),
        Err(error) => return vec![Finding::error(file, unreadable(&error))],
    };
    let templates = Templates::open(workspace).unwrap_or_else(|_| Templates::embedded());
    let worth = feature.worth(document, &templates, language);
    let findings = of_worth(&file, document, &worth).into_iter();
    findings.chain(of_text(&file, document, &text)).collect()
}

/// The specification and the design are optional.
fn missing(file: String, document: Document) -> Option<Finding> {
    match document {
        Document::Feature => Some(Finding::error(
            file,
            "there is no such file; it says the goal",
        )),
        Document::State => Some(Finding::error(
            file,
            "there is no such file; it has the plan",
        )),
        Document::Session => Some(Finding::warning(file, "there is no such file")),
        Document::Spec | Document::Design => None,
    }
}

fn of_worth(file: &str, document: Document, worth: &Result<Worth, WorthError>) -> Option<Finding> {
    let is_unwritten = matches!(worth, Ok(Worth::Empty | Worth::Untouched));
    match document {
        Document::Feature if is_unwritten => Some(Finding::warning(
            file,
            "nobody has written the goal into it yet",
        )),
        Document::Feature
        | Document::Spec
        | Document::Design
        | Document::State
        | Document::Session => None,
    }
}

fn of_text(file: &str, document: Document, text: &str) -> Vec<Finding> {
    if document != Document::State {
        return damage(text).iter().map(|it| of_problem(file, it)).collect();
    }
    let plan = Plan::parse(text);
    let is_unplanned = plan.steps.is_empty() && plan.errors().next().is_none();
    let no_plan = is_unplanned.then(|| Finding::warning(file, "there is no step in the plan"));
    let problems = plan.problems.iter().map(|it| of_problem(file, it));
    problems.chain(no_plan).collect()
}

fn of_problem(file: &str, problem: &Problem) -> Finding {
    Finding {
        file: file.to_owned(),
        line: Some(problem.line.get()),
        severity: problem.severity(),
        what: problem.fault.to_string(),
    }
}

/// An error with what it came from, in one sentence.
fn unreadable(error: &DirError) -> String {
    let mut text = error.to_string();
    if let DirError::NotText(..) = error {
        // The file is named already.
        "it is not UTF-8 text".clone_into(&mut text);
    }
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
