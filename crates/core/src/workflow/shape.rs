//! Whether the phases of a workflow hang together.

use std::collections::BTreeSet;
use std::slice;

use super::definition::{Phase, Proof};
use super::fault::Fault;
use super::next::{Goal, ManifestSource, Next};
use crate::PhaseName;

/// What is wrong with the ways of one phase; whether they can be walked is asked later.
pub(super) fn of_phase(phase: &Phase, all: &[Phase]) -> Vec<(&'static str, Fault)> {
    let mut faults = vec![];
    let outcomes = phase.proof.outcomes().unwrap_or_default();
    for outcome in outcomes {
        if !phase.next.keys().any(|it| it.as_str() == *outcome) {
            faults.push(("next", Fault::DeadEnd((*outcome).to_owned())));
        }
    }
    for outcome in phase.next.keys() {
        let more = phase.proof.more_outcomes();
        let is_known = [outcomes, more].concat().contains(&outcome.as_str());
        let is_legal = phase.proof == Proof::Checks || is_known;
        if !is_legal {
            faults.push(("next", Fault::NoSuchOutcome(outcome.clone())));
        }
    }
    let is_there = |name: &PhaseName| all.iter().any(|it| it.name == *name);
    for name in leads_to(phase) {
        if !is_there(name) {
            let (field, phase) = ("next", name.clone());
            faults.push(("next", Fault::NoSuchPhase { field, phase }));
        }
    }
    faults.extend(unmade_manifests(phase).into_iter().map(|it| ("next", it)));
    if phase.proof == Proof::Checks && phase.next.len() > 1 && !asks_for(phase, "outcome") {
        faults.push(("next", Fault::NoChooser));
    }
    let is_done_known = phase.next.keys().any(|it| it.as_str() == "done");
    let is_alone = phase.next.len() == 1;
    if phase.proof == Proof::Checks && is_alone && !is_done_known && !asks_for(phase, "outcome") {
        faults.push(("next", Fault::DeadEnd("done".to_owned())));
    }
    if phase.ask.is_some() && phase.gate.is_none() {
        faults.push(("ask", Fault::NobodyAsked));
    }
    if phase.proof == Proof::Until && phase.checks.is_empty() {
        faults.push(("proof", Fault::NothingToCheck));
    }
    faults
}

/// The phases that it leads to.
fn leads_to(phase: &Phase) -> impl Iterator<Item = &PhaseName> {
    let goals = phase.next.values().flat_map(Next::goals);
    goals.filter_map(Goal::phase)
}

/// Fan-outs whose batch its session cannot describe where it is looked for.
fn unmade_manifests(phase: &Phase) -> Vec<Fault> {
    let fan_outs = { phase.next.iter() }.filter_map(|(outcome, next)| {
        let manifest = &next.fan_out()?.manifest;
        Some((outcome.clone(), manifest))
    });
    let faults = fan_outs.filter_map(|(outcome, manifest)| match manifest {
        ManifestSource::Result if asks_for(phase, ManifestSource::FIELD) => None,
        ManifestSource::Result => Some(Fault::NoManifest(outcome)),
        // What a session declares is not known yet.
        ManifestSource::File { path } if phase.touch.allows(path, None, slice::from_ref(path)) => {
            None
        }
        ManifestSource::File { path } => Some(Fault::ManifestOutOfReach {
            outcome,
            path: path.clone(),
        }),
    });
    faults.collect()
}

fn asks_for(phase: &Phase, field: &str) -> bool {
    let schema = phase
        .gives
        .as_ref()
        .and_then(|it| serde_json::from_str(it.as_str()).ok());
    schema.is_some_and(|it: serde_json::Value| {
        it.get("properties")
            .is_some_and(|it| it.get(field).is_some())
    })
}

/// Phases that no run comes to, and phases from which none comes to the end.
pub(super) fn of_all(phases: &[Phase]) -> Vec<(PhaseName, Fault)> {
    let Some(first) = phases.first() else {
        return vec![];
    };
    let reached = grown(BTreeSet::from([&first.name]), phases, |phase, known| {
        known
            .contains(&phase.name)
            .then(|| leads_to(phase).collect())
    });
    let ending = grown(BTreeSet::new(), phases, |phase, known| {
        let mut goals = phase.next.values().flat_map(Next::goals);
        let leads_on = goals.any(|it| it.phase().is_none_or(|it| known.contains(it)));
        leads_on.then(|| vec![&phase.name])
    });
    let unreached = { phases.iter() }
        .filter(|it| !reached.contains(&it.name))
        .map(|it| (it.name.clone(), Fault::Unreachable(first.name.clone())));
    let endless = { phases.iter() }
        .filter(|it| !ending.contains(&it.name))
        .map(|it| (it.name.clone(), Fault::Endless));
    unreached.chain(endless).collect()
}

/// Adds what each phase brings, until none brings anything new.
fn grown<'a>(
    mut known: BTreeSet<&'a PhaseName>,
    phases: &'a [Phase],
    brings: impl Fn(&'a Phase, &BTreeSet<&'a PhaseName>) -> Option<Vec<&'a PhaseName>>,
) -> BTreeSet<&'a PhaseName> {
    loop {
        let more: Vec<_> = { phases.iter() }
            .filter_map(|it| brings(it, &known))
            .flatten()
            .collect();
        let before = known.len();
        known.extend(more);
        if known.len() == before {
            return known;
        }
    }
}
