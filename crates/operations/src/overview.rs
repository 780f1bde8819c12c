//! What a person wants to see first: the feature, what waits, what runs, what is queued.

mod around;
mod sight;

use handoff_api::StatusDocument;
use handoff_core::{Action, FeatureName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use sight::Sight;

use crate::failure::Failure;
use crate::feature::{FeatureRef, FeatureSite};
use crate::operation::{Effect, Needs, Operation, Takes};
use crate::workplace::Workplace;

/// Show what waits for a person, what runs, what is queued, and where the current feature stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Overview {
    /// Another feature than the current one.
    #[serde(default)]
    pub feature: Option<FeatureName>,
}

impl Operation for Overview {
    type Response = StatusDocument;

    const NAME: &'static str = "overview";
    const EFFECT: Effect = Effect::Reads;
    const NEEDS: Needs = Needs::Action(Action::Read);
    const TAKES: Takes = Takes::Moment;

    fn perform(self, here: &Workplace) -> Result<StatusDocument, Failure> {
        let choice = FeatureRef {
            feature: self.feature,
        };
        Ok(Sight::take(&FeatureSite::find(here)?, &choice, here)?.document)
    }
}
