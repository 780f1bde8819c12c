//! Everything that `status` shows, looked at once.

use handoff_api::{
    ExitCode, FeatureStatusDocument, ProjectDocument, RestDocument, StatusDocument, TreeDocument,
};
use handoff_core::Rest;
use handoff_process::Kernel;
use handoff_workspace::briefing::freshness_verdict;
use handoff_workspace::plan::{Marker, Verdict};

use super::around;
use crate::failure::Failure;
use crate::feature::advice::advice;
use crate::feature::plan_view::{plan_document, step_document};
use crate::feature::standing::standing;
use crate::feature::survey::Survey;
use crate::feature::{FeatureRef, FeatureSite};
use crate::project::Project;
use crate::workplace::Workplace;

/// What is seen of a feature and of the project around it.
pub struct Sight {
    pub document: StatusDocument,
    pub rests: Vec<Rest>,
}

impl Sight {
    /// Looks at everything. Where there is no feature, that is shown of a project which is known; of any other place, a feature is
    /// what is missing.
    pub fn take(
        site: &FeatureSite,
        choice: &FeatureRef,
        here: &Workplace,
    ) -> Result<Self, Failure> {
        let mut survey = match Survey::take(site, choice, here) {
            Err(failure) if failure.code == ExitCode::NotFound && choice.feature.is_none() => {
                return Self::without_feature(site, here)?.ok_or(failure);
            }
            survey => survey?,
        };
        let mut warnings = std::mem::take(&mut survey.warnings);
        let mut project = survey.project.take();
        let project = look_around(project.as_mut(), &mut warnings, here);
        let feature = of_feature(site, &survey)?;
        Ok(Self::new(Some(feature), project, survey.rests, warnings))
    }

    fn without_feature(site: &FeatureSite, here: &Workplace) -> Result<Option<Self>, Failure> {
        if site.repository.is_none() {
            return Ok(None);
        }
        let Some(mut project) = Project::peek(here)? else {
            return Ok(None);
        };
        let rests = project.rests(here.config()?.worker.agent.as_ref())?;
        let mut warnings = vec![];
        let project = look_around(Some(&mut project), &mut warnings, here);
        Ok(Some(Self::new(None, project, rests, warnings)))
    }

    fn new(
        feature: Option<FeatureStatusDocument>,
        project: ProjectDocument,
        rests: Vec<Rest>,
        mut warnings: Vec<String>,
    ) -> Self {
        warnings.extend(without_walls(Kernel::read()));
        let document = StatusDocument {
            feature,
            project,
            rests: rests.iter().map(RestDocument::of).collect(),
            warnings,
        };
        Self { document, rests }
    }
}

/// What else goes on. That it cannot be seen keeps nobody from the feature.
fn look_around(
    project: Option<&mut Project>,
    warnings: &mut Vec<String>,
    here: &Workplace,
) -> ProjectDocument {
    let seen = project
        .map(|project| around::look(project, here))
        .transpose();
    seen.map(Option::unwrap_or_default)
        .unwrap_or_else(|failure| {
            warnings.push(format!(
                "what else goes on cannot be seen: {}",
                failure.message
            ));
            ProjectDocument::default()
        })
}

fn of_feature(site: &FeatureSite, survey: &Survey) -> Result<FeatureStatusDocument, Failure> {
    let tree = survey.code.as_ref().map(|code| &code.tree);
    let marked = survey
        .record
        .as_ref()
        .and_then(|record| record.mark.as_ref());
    let blocked = survey.plan.steps.iter();
    let blocked = blocked.filter(|step| matches!(step.marker, Marker::Blocked { .. }));
    let checks = survey.config.checks.iter();
    let is_plan_edited = survey.facts().knowledge.is_plan_edited();
    Ok(FeatureStatusDocument {
        feature: survey.feature.name.to_string(),
        plan: plan_document(&survey.plan),
        blocked: blocked.map(step_document).collect(),
        blockers: survey.blockers(),
        freshness: freshness_verdict(&survey.freshness, tree),
        is_current: survey.freshness.is_current() && !is_plan_edited,
        is_plan_edited,
        recorded_at: marked.map(|marked| marked.at),
        recorded: marked.map(|marked| TreeDocument::from(&marked.mark.tree)),
        tree: tree.map(TreeDocument::from),
        edited: survey
            .code
            .as_ref()
            .map_or_else(Vec::new, |code| code.edited.clone()),
        checks: checks.map(|check| standing(survey, check)).collect(),
        next: next(site, survey)?,
    })
}

/// What is missing where the kernel holds nobody to their worktree.
fn without_walls(kernel: Kernel) -> Option<String> {
    let is_held = matches!(kernel, Kernel::Holds(_));
    (!is_held).then(|| kernel.to_string())
}

/// What to do next. A person carries the work on by a prompt; what the session then does, `next` says.
fn next(site: &FeatureSite, survey: &Survey) -> Result<String, Failure> {
    if let Verdict::Ready { .. } = survey.plan.verdict() {
        return Ok("handoff continue --copy".to_owned());
    }
    let advice = advice(site, &survey.feature, &survey.plan)?;
    Ok(advice.command.unwrap_or(advice.sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_holds_nobody_is_a_warning() {
        for kernel in [Kernel::Without, Kernel::TooOld(2)] {
            assert_eq!(without_walls(kernel), Some(kernel.to_string()));
        }
        assert_eq!(without_walls(Kernel::Holds(3)), None);
    }
}
