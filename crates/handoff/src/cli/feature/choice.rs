//! Which feature a command is about.

use handoff_api::ExitCode;
use handoff_core::FeatureName;
use handoff_workspace::Feature;

use super::site::Site;
use crate::failure::Failure;

/// Which feature: the current one, unless another is named.
#[derive(Debug, clap::Args)]
pub(crate) struct FeatureArg {
    /// Another feature than the current one.
    #[arg(long, value_name = "NAME")]
    pub(super) feature: Option<FeatureName>,
}

impl FeatureArg {
    /// The feature, which must be there.
    pub(super) fn find(&self, site: &Site) -> Result<Feature, Failure> {
        let Some(name) = &self.feature else {
            return site.feature();
        };
        site.workspace()?.feature(name)?.ok_or_else(|| {
            Failure::new(ExitCode::NotFound, format!("there is no feature `{name}`"))
                .hint("see which there are: `handoff list`")
        })
    }
}
