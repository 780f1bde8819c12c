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

use super::site::Site;
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

/// Writes down what a command does.
pub(super) struct Clerk<'a> {
    site: &'a Site,
    /// None without git: then there is no project, and nothing to record it in.
    desk: Option<Desk>,
}

impl<'a> Clerk<'a> {
    /// Refuses a caller that may not change a feature.
    pub(super) fn open(site: &'a Site, ctx: &Context) -> Result<Self, Failure> {
        let desk = match &site.repository {
            Some(_) => Some(Desk::open(ctx)?),
            None => None,
        };
        if let Some(desk) = &desk {
            desk.caller.may(Action::Document)?;
        }
        Ok(Self { site, desk })
    }

    /// The same for a command that leaves no trace in a ledger that never heard of this project.
    pub(super) fn of_known_project(site: &'a Site, ctx: &Context) -> Result<Self, Failure> {
        let desk = match &site.repository {
            Some(_) => Desk::peek(ctx)?,
            None => None,
        };
        Ok(Self { site, desk })
    }

    /// Records that a feature is not there any more under its name: what was proved of it says nothing about another one that
    /// is called so. One that the ledger never heard of stays unheard of.
    pub(super) fn put_away(&mut self, name: &FeatureName) -> Result<(), Failure> {
        let Some(desk) = &mut self.desk else {
            return Ok(());
        };
        let project = desk.project;
        if read(&mut *desk.store, |tx| features::named(tx, project, name))?.is_none() {
            return Ok(());
        }
        let change = Change::Record {
            id: FeatureId::from_uuid(handoff_process::mint()),
            project,
            name: name.clone(),
            event: FeatureEvent::Archived,
        };
        desk.submit(change, None).map(drop)
    }

    /// Records what was done, with where things stand now.
    pub(super) fn record(
        &mut self,
        ctx: &Context,
        feature: &Feature,
        event: impl FnOnce(Mark) -> FeatureEvent,
    ) -> Result<Option<FeatureRecord>, Failure> {
        let Some(mark) = mark(self.site, ctx, feature)? else {
            return Ok(None);
        };
        let Some(desk) = &mut self.desk else {
            return Ok(None);
        };
        let change = Change::Record {
            id: FeatureId::from_uuid(handoff_process::mint()),
            project: desk.project,
            name: feature.name.clone(),
            event: event(mark),
        };
        match desk.submit(change, None)?.receipt.answer {
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
pub(super) fn begin(site: &Site, ctx: &Context, feature: &Feature) -> Result<(), Failure> {
    if known(ctx, feature)?.is_some_and(|record| record.mark.is_some()) {
        return Ok(());
    }
    let reason = "the work begins".parse().ok();
    let event = |mark| FeatureEvent::Checkpointed {
        step: None,
        changes: String::new(),
        reason,
        mark,
    };
    Clerk::open(site, ctx)?
        .record(ctx, feature, event)
        .map(drop)
}

/// Where code and plan stand now; none without git.
pub(super) fn mark(site: &Site, ctx: &Context, feature: &Feature) -> Result<Option<Mark>, Failure> {
    let Some(status) = site.look(ctx)? else {
        return Ok(None);
    };
    Ok(Some(Mark {
        tree: status.tree,
        plan: plan_digest(feature)?,
    }))
}

/// The digest of the plan's document as it is now.
pub(super) fn plan_digest(feature: &Feature) -> Result<Option<Digest>, Failure> {
    let text = feature
        .read(Document::State)
        .map_err(|error| Failure::failed("cannot read the plan").because(&error))?;
    Ok(text.map(|text| Digest::of(text.as_bytes())))
}

/// What the ledger knows of a feature; none if it never heard of it.
pub(super) fn known(ctx: &Context, feature: &Feature) -> Result<Option<FeatureRecord>, Failure> {
    match Desk::peek(ctx)? {
        Some(mut desk) => known_at(&mut desk, feature),
        None => Ok(None),
    }
}

/// The same, at a desk that is open already.
pub(super) fn known_at(
    desk: &mut Desk,
    feature: &Feature,
) -> Result<Option<FeatureRecord>, Failure> {
    let project = desk.project;
    Ok(read(&mut *desk.store, |tx| {
        features::named(tx, project, &feature.name)
    })?)
}
