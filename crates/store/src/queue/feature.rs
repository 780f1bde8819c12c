//! Writing down what happened to a feature. Its documents are changed already; nothing is decided here.

use handoff_core::caller::Action;
use handoff_core::{
    Caller, Event, FeatureEvent, FeatureId, FeatureName, FeatureRecord, ProjectId, StreamId,
};

use super::{Answer, Performed};
use crate::error::StoreError;
use crate::events::{self, Entry, Keyed};
use crate::features;
use crate::store::Transaction;

/// A feature as a request names it.
pub(super) struct Named<'a> {
    /// Its id, if the ledger has not heard of it yet.
    pub(super) id: FeatureId,
    pub(super) project: ProjectId,
    pub(super) name: &'a FeatureName,
}

pub(super) fn record(
    tx: &mut Transaction<'_>,
    named: &Named<'_>,
    event: &FeatureEvent,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    by.may(Action::Document)?;
    let mut feature = match features::lock(tx, named.project, named.name)? {
        Some(feature) => feature,
        None => begin(tx, named, by)?,
    };
    let from = feature.version;
    feature.apply(event.clone(), tx.now.wall);
    append(tx, &feature, event.clone(), by, Some(keyed))?;
    features::update(tx, &feature, from)?;
    Ok(Performed {
        answer: Answer::Feature(Box::new(feature)),
        is_recorded: true,
    })
}

fn begin(
    tx: &mut Transaction<'_>,
    named: &Named<'_>,
    by: &Caller,
) -> Result<FeatureRecord, StoreError> {
    let feature = FeatureRecord::begin(named.id, named.project, named.name.clone());
    features::insert(tx, &feature)?;
    let name = named.name.clone();
    append(tx, &feature, FeatureEvent::Begun { name }, by, None)?;
    Ok(feature)
}

fn append(
    tx: &mut Transaction<'_>,
    feature: &FeatureRecord,
    event: FeatureEvent,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<(), StoreError> {
    let entry = Entry {
        stream: StreamId::Feature(feature.id),
        seq: feature.version,
        project: Some(feature.project),
        by,
        keyed,
        event: Event::Feature(event),
    };
    events::append(tx, &entry)
}
