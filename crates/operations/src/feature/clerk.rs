//! Writes down in the ledger what a command did to the documents of a feature.
//!
//! The ledger is opened before a document is touched: what cannot be recorded is not begun. Between the two a crash looks
//! like an edit by hand, which is welcome too.

use handoff_core::caller::Action;
use handoff_core::feature::Mark;
use handoff_core::{Digest, FeatureEvent, FeatureId, FeatureName, FeatureRecord};
use handoff_store::queue::{Answer, Change};
use handoff_store::{features, read};
use handoff_workspace::{Document, Feature};

use super::site::FeatureSite;
use crate::failure::Failure;
use crate::project::Project;
use crate::workplace::Workplace;

/// Writes down what a command does.
pub struct Clerk<'a> {
    site: &'a FeatureSite,
    /// None without git: then there is no project, and nothing to record it in.
    project: Option<Project>,
}

impl<'a> Clerk<'a> {
    /// Refuses a caller that may not change a feature.
    pub fn open(site: &'a FeatureSite, here: &Workplace) -> Result<Self, Failure> {
        let project = match &site.repository {
            Some(_) => Some(Project::open(here)?),
            None => None,
        };
        if let Some(project) = &project {
            project.caller.may(Action::Document)?;
        }
        Ok(Self { site, project })
    }

    /// The same for a command that leaves no trace in a ledger that never heard of this project.
    pub fn of_known_project(site: &'a FeatureSite, here: &Workplace) -> Result<Self, Failure> {
        let project = match &site.repository {
            Some(_) => Project::peek(here)?,
            None => None,
        };
        Ok(Self { site, project })
    }

    /// Records that a feature is not there any more under its name: what was proved of it says nothing about another one that
    /// is called so. One that the ledger never heard of stays unheard of.
    pub fn put_away(&mut self, name: &FeatureName) -> Result<(), Failure> {
        let Some(project) = &mut self.project else {
            return Ok(());
        };
        let id = project.id;
        if read(&mut *project.store, |tx| features::named(tx, id, name))?.is_none() {
            return Ok(());
        }
        let change = Change::Record {
            id: FeatureId::from_uuid(handoff_process::mint()),
            project: id,
            name: name.clone(),
            event: FeatureEvent::Archived,
        };
        project.submit(change, None).map(drop)
    }

    /// Records what was done, with where things stand now.
    pub fn record(
        &mut self,
        here: &Workplace,
        feature: &Feature,
        event: impl FnOnce(Mark) -> FeatureEvent,
    ) -> Result<Option<FeatureRecord>, Failure> {
        let Some(mark) = mark(self.site, here, feature)? else {
            return Ok(None);
        };
        let Some(project) = &mut self.project else {
            return Ok(None);
        };
        let change = Change::Record {
            id: FeatureId::from_uuid(handoff_process::mint()),
            project: project.id,
            name: feature.name.clone(),
            event: event(mark),
        };
        match project.submit(change, None)?.receipt.answer {
            Answer::Feature(record) => Ok(Some(*record)),
            Answer::Task(_)
            | Answer::Hold { .. }
            | Answer::Package(_)
            | Answer::Batch(_)
            | Answer::Run(_)
            | Answer::Context { .. }
            | Answer::Repository { .. }
            | Answer::NothingReady => Ok(None),
        }
    }
}

/// Writes down where things stand when the work begins, so that whoever continues can tell how far the code has moved. Once
/// something is recorded, only commands that know more than this do it.
pub fn begin(site: &FeatureSite, here: &Workplace, feature: &Feature) -> Result<(), Failure> {
    if known(here, feature)?.is_some_and(|record| record.mark.is_some()) {
        return Ok(());
    }
    let reason = "the work begins".parse().ok();
    let event = |mark| FeatureEvent::Checkpointed {
        step: None,
        changes: String::new(),
        reason,
        mark,
    };
    Clerk::open(site, here)?
        .record(here, feature, event)
        .map(drop)
}

/// Where code and plan stand now; none without git.
pub fn mark(
    site: &FeatureSite,
    here: &Workplace,
    feature: &Feature,
) -> Result<Option<Mark>, Failure> {
    let Some(status) = site.look(here)? else {
        return Ok(None);
    };
    Ok(Some(Mark {
        tree: status.tree,
        plan: plan_digest(feature)?,
    }))
}

/// The digest of the plan's document as it is now.
pub fn plan_digest(feature: &Feature) -> Result<Option<Digest>, Failure> {
    let text = feature
        .read(Document::State)
        .map_err(|error| Failure::failed("cannot read the plan").because(&error))?;
    Ok(text.map(|text| Digest::of(text.as_bytes())))
}

/// What the ledger knows of a feature; none if it never heard of it.
pub fn known(here: &Workplace, feature: &Feature) -> Result<Option<FeatureRecord>, Failure> {
    match Project::peek(here)? {
        Some(mut project) => known_at(&mut project, feature),
        None => Ok(None),
    }
}

/// The same, in a project that is open already.
pub fn known_at(
    project: &mut Project,
    feature: &Feature,
) -> Result<Option<FeatureRecord>, Failure> {
    let id = project.id;
    Ok(read(&mut *project.store, |tx| {
        features::named(tx, id, &feature.name)
    })?)
}
