//! Which feature a command is about.

use handoff_core::FeatureName;
use handoff_operations::feature::FeatureRef;

/// Which feature: the current one, unless another is named.
#[derive(Debug, clap::Args)]
pub(crate) struct FeatureArg {
    /// Another feature than the current one.
    #[arg(long, value_name = "NAME")]
    pub(super) feature: Option<FeatureName>,
}

impl FeatureArg {
    /// As operations take it.
    pub(super) fn choice(&self) -> FeatureRef {
        FeatureRef {
            feature: self.feature.clone(),
        }
    }
}
