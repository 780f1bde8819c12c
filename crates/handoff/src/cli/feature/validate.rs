//! `handoff validate`: all problems of the workspace, with file and line.

use handoff_api::{ExitCode, ProblemDocument, ProblemSeverity, ValidateDocument};
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_workspace::inspection::{self, Finding};
use handoff_workspace::plan::Severity;
use handoff_workspace::{Feature, Workspace};

use super::choice::FeatureArg;
use crate::context::Context;
use crate::output::{Tone, one_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    choice: FeatureArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find(ctx)?;
    let workspace = site.workspace()?;
    let features = features(&site, &workspace, &args.choice)?;
    let mut findings = inspection::of_workspace(&workspace)?;
    let documents = features.iter();
    findings.extend(documents.flat_map(|it| inspection::of_feature(&workspace, it)));
    let problems: Vec<_> = findings.into_iter().map(document).collect();
    let is_error = |problem: &ProblemDocument| problem.severity == ProblemSeverity::Error;
    let document = ValidateDocument {
        features: features.iter().map(|it| it.name.to_string()).collect(),
        is_valid: !problems.iter().any(is_error),
        problems,
    };
    let code = if document.is_valid {
        ExitCode::Done
    } else {
        ExitCode::Failed
    };
    if ctx.out.is_json() {
        ctx.out.document(ValidateDocument::SCHEMA, document)?;
    } else {
        show(&document, ctx)?;
    }
    Ok(code)
}

/// A feature that is named must be there. Otherwise all are looked at but those that were put away, whichever is current: a
/// feature that cannot be worked on is best known before somebody switches to it.
fn features(
    site: &FeatureSite,
    workspace: &Workspace,
    choice: &FeatureArg,
) -> Result<Vec<Feature>, Failure> {
    if choice.choice().feature.is_some() {
        return Ok(vec![choice.choice().find(site)?]);
    }
    let mut features = vec![];
    for name in workspace.list()?.features {
        features.extend(workspace.feature(&name)?);
    }
    Ok(features)
}

fn document(finding: Finding) -> ProblemDocument {
    ProblemDocument {
        file: finding.file,
        line: finding.line,
        severity: match finding.severity {
            Severity::Warning => ProblemSeverity::Warning,
            Severity::Error => ProblemSeverity::Error,
        },
        problem: finding.what,
    }
}

fn show(document: &ValidateDocument, ctx: &mut Context) -> Result<(), Failure> {
    for problem in &document.problems {
        let (tone, word) = match problem.severity {
            ProblemSeverity::Warning => (Tone::Attention, "warning"),
            ProblemSeverity::Error => (Tone::Bad, "error"),
        };
        let word = ctx.out.styled(tone, word);
        let line = problem
            .line
            .map_or_else(String::new, |line| format!(":{line}"));
        let file = one_line(&problem.file);
        let text = one_line(&problem.problem);
        ctx.out.line(format!("{file}{line}: {word}: {text}"))?;
    }
    ctx.out.note(summary(&document.problems))?;
    Ok(())
}

fn summary(problems: &[ProblemDocument]) -> String {
    let is_error = |problem: &&ProblemDocument| problem.severity == ProblemSeverity::Error;
    let errors = problems.iter().filter(is_error).count();
    match (errors, problems.len() - errors) {
        (0, 0) => "Nothing is wrong.".to_owned(),
        (0, warnings) => format!("{}, and no error.", counted(warnings, "warning")),
        (errors, 0) => format!("{}.", counted(errors, "error")),
        (errors, warnings) => format!(
            "{} and {}.",
            counted(errors, "error"),
            counted(warnings, "warning")
        ),
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
