//! The right to write into the documents of a feature.

use handoff_api::ExitCode;
use handoff_core::FeatureEvent;
use handoff_core::feature::Mark;
use handoff_files::Lock;
use handoff_workspace::{Document, Feature};

use super::clerk::Clerk;
use super::feature_ref::FeatureRef;
use super::site::FeatureSite;
use crate::failure::Failure;
use crate::failure::unwritten;
use crate::workplace::Workplace;

/// The right to write into the documents of a feature: as long as one lives, no other command has one. What is read
/// with it is still there when it is replaced.
pub struct Pen<'a> {
    site: &'a FeatureSite,
    pub feature: Feature,
    _lock: Lock,
}

impl<'a> Pen<'a> {
    /// Waits for whoever has it.
    pub fn take(site: &'a FeatureSite, choice: &FeatureRef) -> Result<Self, Failure> {
        // A feature that is not there must not leave a lock behind.
        choice.find(site)?;
        let lock = site.lock()?;
        Ok(Self {
            site,
            feature: choice.find(site)?,
            _lock: lock,
        })
    }

    /// A document, which must be there.
    pub fn read(&self, document: Document) -> Result<String, Failure> {
        read(&self.feature, document)?.ok_or_else(|| {
            let name = &self.feature.name;
            let file = document.file_name();
            Failure::new(
                ExitCode::NotFound,
                format!("the feature `{name}` has no `{file}`"),
            )
            .hint(format!(
                "make what is missing, and nothing else: `handoff init {name}`"
            ))
        })
    }

    /// Replaces a document and records what happened.
    pub fn write(
        &self,
        here: &Workplace,
        document: Document,
        text: &str,
        event: impl FnOnce(Mark) -> FeatureEvent,
    ) -> Result<(), Failure> {
        let mut clerk = Clerk::open(self.site, here)?;
        self.feature
            .replace(document, text)
            .map_err(|error| unwritten(&error))?;
        let recorded = clerk.record(here, &self.feature, event);
        recorded.map(drop).map_err(|failure| {
            let file = document.file_name();
            failure.hint(format!(
                "`{file}` is written; only the record of it is missing, as after an edit by hand"
            ))
        })
    }
}

/// A document; none if there is no such file.
pub fn read(feature: &Feature, document: Document) -> Result<Option<String>, Failure> {
    let file = document.file_name();
    feature
        .read(document)
        .map_err(|error| Failure::failed(format!("cannot read `{file}`")).because(&error))
}
