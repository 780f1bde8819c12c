//! Which feature is meant.

use handoff_api::ExitCode;
use handoff_core::FeatureName;
use handoff_workspace::Feature;

use super::site::FeatureSite;
use crate::failure::Failure;

/// Which feature: the current one, unless another is named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeatureRef {
    /// Another feature than the current one.
    pub feature: Option<FeatureName>,
}

impl FeatureRef {
    /// The feature, which must be there.
    pub fn find(&self, site: &FeatureSite) -> Result<Feature, Failure> {
        let Some(name) = &self.feature else {
            return site.feature();
        };
        site.workspace()?.feature(name)?.ok_or_else(|| {
            Failure::new(ExitCode::NotFound, format!("there is no feature `{name}`"))
                .hint("see which there are: `handoff list`")
        })
    }
}
