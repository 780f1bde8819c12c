//! Looking at a batch: how it stands, and what it took.

use handoff_api::{BatchDocument, BatchReportDocument};
use handoff_core::Action;
use handoff_core::batch::Report;
use handoff_store::StoreError;
use handoff_store::queue::BatchRef;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::view::{self, calibration};
use crate::failure::Failure;
use crate::operation::{Effect, Needs, Operation, Takes};
use crate::project::Project;
use crate::workplace::Workplace;

/// Show a batch: each part, the fan-in, and the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeeBatch {
    /// Its name or id.
    pub batch: String,
}

/// Show what a batch took: who worked when, the speed-up, and how good the guesses were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportBatch {
    /// Its name or id.
    pub batch: String,
}

impl Operation for SeeBatch {
    type Response = BatchDocument;

    const NAME: &'static str = "see_batch";
    const EFFECT: Effect = Effect::Reads;
    const NEEDS: Needs = Needs::Action(Action::Read);
    const TAKES: Takes = Takes::Moment;

    fn perform(self, here: &Workplace) -> Result<BatchDocument, Failure> {
        let (mut project, batch) = find(&self.batch, here)?;
        let known = calibration(&mut project)?;
        Ok(view::take(&mut project, &batch, &known)?.document)
    }
}

impl Operation for ReportBatch {
    type Response = BatchReportDocument;

    const NAME: &'static str = "report_batch";
    const EFFECT: Effect = Effect::Reads;
    const NEEDS: Needs = Needs::Action(Action::Read);
    const TAKES: Takes = Takes::Moment;

    fn perform(self, here: &Workplace) -> Result<BatchReportDocument, Failure> {
        let (mut project, batch) = find(&self.batch, here)?;
        let known = calibration(&mut project)?;
        let seen = view::take(&mut project, &batch, &known)?;
        let report = Report::of(&seen.measured);
        Ok(BatchReportDocument::of(seen.document, &report, &known))
    }
}

/// The project, and the batch that is meant. A repository that is no project yet stays as it is, and has no batch.
pub fn find(batch: &str, here: &Workplace) -> Result<(Project, BatchRef), Failure> {
    let project = Project::peek(here)?.ok_or_else(|| StoreError::NotFound {
        what: format!("batch {batch:?} in this project"),
    })?;
    let batch = project.batch_ref(batch)?;
    Ok((project, batch))
}
