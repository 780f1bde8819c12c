//! What a person set for packages, as far as it concerns those that are sealed on the road.

use std::collections::BTreeSet;
use std::time::Duration;

use handoff_core::package::PipelineVersion;
use handoff_core::{ContextKey, Timestamp};

/// What a person set for the packages of tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackageRules {
    /// How long they can be received. None is for ever: unlike one that a person makes, such a package is what the task
    /// proved, and whoever needs it may come late.
    pub ttl: Option<Duration>,
    /// The context without which nobody can go on.
    pub required: BTreeSet<ContextKey>,
    /// The version of the pipeline here.
    pub pipeline_version: Option<PipelineVersion>,
}

impl PackageRules {
    /// When the time of a package is over that is made now. A time that is too far away to be written down is never.
    pub(crate) fn expiry(&self, now: Timestamp) -> Option<Timestamp> {
        now.checked_add(self.ttl?).ok()
    }
}
