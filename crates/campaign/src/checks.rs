//! Whether what clients were told and what the ledger holds can be true together.
//!
//! Pure functions over histories and facts: each complaint is a sentence, and no complaint is a pass.
//! Calls that nobody answered may or may not have happened, but never twice.

use std::collections::{BTreeMap, BTreeSet};

use handoff_core::lease::Tenure;
use handoff_core::{Envelope, Event, Lease, TaskEvent};

use super::history::{Act, Call, Reply};

/// One event of the ledger, reduced to what the checks look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) stream: String,
    pub(super) seq: u64,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Added { name: String },
    Claimed { fence: u64, term: Option<Span> },
    Renewed { fence: u64, until: i64 },
    Released,
    Expired,
    Completed { fence: Option<u64> },
    Other,
}

/// When a lease was granted and until when, on which clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) timeline: String,
    pub(super) from: i64,
    pub(super) until: i64,
}

impl Fact {
    pub(super) fn of(envelope: &Envelope) -> Self {
        let what = match &envelope.event {
            Event::Task(event) => of_task(event),
            Event::Hold(_)
            | Event::Feature(_)
            | Event::Package(_)
            | Event::Context(_)
            | Event::Batch(_)
            | Event::Run(_)
            | Event::Repository(_) => What::Other,
        };
        Self {
            stream: envelope.stream.to_string(),
            seq: envelope.seq,
            what,
        }
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the checks are about leases and outcomes; further events are for their own tests"
)]
fn of_task(event: &TaskEvent) -> What {
    match event {
        TaskEvent::Added { spec } => What::Added {
            name: spec.name.to_string(),
        },
        TaskEvent::Claimed { lease } => What::Claimed {
            fence: lease.fence.number(),
            term: span(lease),
        },
        TaskEvent::Renewed { fence, term } => What::Renewed {
            fence: fence.number(),
            until: term.expires.0,
        },
        TaskEvent::Released { .. } | TaskEvent::PutOff { .. } => What::Released,
        TaskEvent::LeaseExpired { .. } => What::Expired,
        TaskEvent::Completed { fence, .. } => What::Completed {
            fence: fence.map(handoff_core::Fence::number),
        },
        _ => What::Other,
    }
}

fn span(lease: &Lease) -> Option<Span> {
    let Tenure::Timed(term) = &lease.tenure else {
        return None;
    };
    let ttl = i64::try_from(term.ttl.as_nanos()).ok()?;
    Some(Span {
        timeline: term.timeline.to_string(),
        from: term.expires.0 - ttl,
        until: term.expires.0,
    })
}

/// Whether every task must have come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    AllDone,
    WhateverIsLeft,
}

/// Every complaint about a ledger and the calls that made it.
pub(super) fn total_queue(calls: &[Call], facts: &[Fact], expected: Expected) -> Vec<String> {
    let streams = by_stream(facts);
    let mut complaints = Vec::new();
    for (stream, facts) in &streams {
        let in_stream = gaps(facts)
            .into_iter()
            .chain(leases(facts))
            .chain(outcomes(facts, expected));
        complaints.extend(in_stream.map(|complaint| format!("{stream}: {complaint}")));
    }
    complaints.extend(additions(calls, facts));
    complaints.extend(answers(calls, &streams));
    complaints.extend(unasked(calls, facts));
    complaints
}

/// Numbers and leases alone, where not every client wrote a history.
pub(super) fn lease_faults(facts: &[Fact]) -> Vec<String> {
    let streams = by_stream(facts);
    let of_stream = |facts: &Vec<&Fact>| gaps(facts).into_iter().chain(leases(facts)).collect();
    let complaints: Vec<Vec<String>> = streams.values().map(of_stream).collect();
    complaints.concat()
}

fn by_stream(facts: &[Fact]) -> BTreeMap<&str, Vec<&Fact>> {
    let mut streams: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        streams.entry(&fact.stream).or_default().push(fact);
    }
    for facts in streams.values_mut() {
        facts.sort_by_key(|fact| fact.seq);
    }
    streams
}

/// Numbers run from 1 without gap or repeat.
fn gaps(facts: &[&Fact]) -> Vec<String> {
    let wrong = (1..).zip(facts).find(|(seq, fact)| fact.seq != *seq);
    wrong
        .map(|(seq, fact)| format!("event {} stands where {seq} should", fact.seq))
        .into_iter()
        .collect()
}

/// Fences rise, and no lease is granted before the one before it is over. That an event says "expired" proves
/// nothing: the next grant must really come after the end of the term.
fn leases(facts: &[&Fact]) -> Vec<String> {
    let mut complaints = Vec::new();
    let (mut newest, mut valid): (u64, Option<Span>) = (0, None);
    for fact in facts {
        match &fact.what {
            What::Claimed { fence, term } => {
                if *fence <= newest {
                    complaints.push(format!("fence {fence} was granted after {newest}"));
                }
                if let (Some(old), Some(new)) = (&valid, term)
                    && old.timeline == new.timeline
                    && new.from < old.until
                {
                    let early = old.until - new.from;
                    complaints.push(format!("two valid leases: {fence} came {early} ns early"));
                }
                (newest, valid) = (*fence, term.clone());
            }
            What::Renewed { fence, until } => {
                if *fence != newest {
                    complaints.push(format!("fence {fence} was renewed under {newest}"));
                }
                if let Some(term) = &mut valid {
                    term.until = *until;
                }
            }
            What::Released | What::Completed { .. } => valid = None,
            What::Added { .. } | What::Expired | What::Other => {}
        }
    }
    complaints
}

/// An outcome is recorded once, by the newest lease, and nothing follows it.
fn outcomes(facts: &[&Fact], expected: Expected) -> Vec<String> {
    let mut complaints = Vec::new();
    let (mut newest, mut is_done) = (0, false);
    for fact in facts {
        if is_done {
            complaints.push(format!("{:?} came after its outcome", fact.what));
        }
        match fact.what {
            What::Claimed { fence, .. } => newest = fence,
            What::Completed { fence } => {
                is_done = true;
                if let Some(shown) = fence.filter(|shown| *shown != newest) {
                    complaints.push(format!("fence {shown} completed it under {newest}"));
                }
            }
            What::Added { .. }
            | What::Renewed { .. }
            | What::Released
            | What::Expired
            | What::Other => {}
        }
    }
    let is_task = facts
        .iter()
        .any(|fact| matches!(fact.what, What::Added { .. }));
    if expected == Expected::AllDone && is_task && !is_done {
        complaints.push("was never completed".to_owned());
    }
    complaints
}

/// Nothing acknowledged is lost, nothing is there twice, and nothing that nobody asked for.
fn additions(calls: &[Call], facts: &[Fact]) -> Vec<String> {
    let mut there: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for fact in facts {
        if let What::Added { name } = &fact.what {
            there.entry(name).or_default().push(&fact.stream);
        }
    }
    let mut complaints = Vec::new();
    let mut asked = BTreeSet::new();
    for call in calls {
        let Act::Add { name } = &call.act else {
            continue;
        };
        asked.insert(name.as_str());
        let found = there.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        if let Some((task, ..)) = call.done()
            && !found.contains(&task)
        {
            complaints.push(format!("lost: {name}, acknowledged as {task}"));
        }
    }
    for (name, found) in &there {
        if found.len() > 1 {
            complaints.push(format!("{name} is there {} times", found.len()));
        }
        if !asked.contains(name) {
            complaints.push(format!("unexpected: {name}"));
        }
    }
    complaints
}

/// Whatever a client was told stands in the ledger, and one key has one answer.
fn answers(calls: &[Call], streams: &BTreeMap<&str, Vec<&Fact>>) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut holders: BTreeMap<(&str, u64), &str> = BTreeMap::new();
    for call in calls {
        let Call { key, act, .. } = call;
        complaints.extend(two_answers(call));
        let Some((task, fence, until)) = call.done() else {
            continue;
        };
        let facts = streams.get(task).map_or(&[][..], Vec::as_slice);
        let is_recorded = facts
            .iter()
            .any(|fact| matches(&fact.what, act, fence, until));
        if !is_recorded {
            complaints.push(format!(
                "lost: {act:?} of {task} with fence {fence} ({key})"
            ));
        }
        if *act == Act::Claim
            && let Some(other) = holders.insert((task, fence), key)
        {
            complaints.push(format!("{task}: fence {fence} went to {other} and {key}"));
        }
    }
    complaints
}

fn matches(what: &What, act: &Act, fence: u64, until: Option<i64>) -> bool {
    match (what, act) {
        (What::Added { name }, Act::Add { name: asked }) => name == asked,
        (
            What::Claimed {
                fence: granted,
                term,
            },
            Act::Claim,
        ) => *granted == fence && term.as_ref().map(|term| term.until) == until,
        (
            What::Renewed {
                fence: renewed,
                until: end,
            },
            Act::Renew { .. },
        ) => *renewed == fence && Some(*end) == until,
        (What::Completed { fence: shown }, Act::Complete { fence, .. }) => *shown == Some(*fence),
        _ => false,
    }
}

fn two_answers(call: &Call) -> Option<String> {
    let is_done = |reply: &&Reply| matches!(reply, Reply::Done { .. });
    let done = call.replies.iter().filter(is_done);
    let different: BTreeSet<String> = done.map(|reply| format!("{reply:?}")).collect();
    (different.len() > 1).then(|| format!("{} was answered differently: {different:?}", call.key))
}

/// Every lease and every outcome was asked for: by a call that was told so, or by one that never heard.
fn unasked(calls: &[Call], facts: &[Fact]) -> Vec<String> {
    let told: BTreeSet<(&str, u64)> = calls
        .iter()
        .filter(|call| call.act == Act::Claim)
        .filter_map(|call| call.done().map(|(task, fence, _)| (task, fence)))
        .collect();
    let may_hold = |call: &&Call| call.act == Act::Claim && call.is_open();
    let open = calls.iter().filter(may_hold).count();
    let completions: BTreeSet<(&str, u64)> = calls
        .iter()
        .filter_map(|call| match &call.act {
            Act::Complete { task, fence } => Some((task.as_str(), *fence)),
            Act::Add { .. } | Act::Claim | Act::Renew { .. } => None,
        })
        .collect();
    let (mut untold, mut complaints) = (Vec::new(), Vec::new());
    for Fact { stream, what, .. } in facts {
        match what {
            What::Claimed { fence, .. } if !told.contains(&(stream, *fence)) => {
                untold.push(format!("{stream} with fence {fence}"));
            }
            What::Completed { fence: Some(fence) } if !completions.contains(&(stream, *fence)) => {
                complaints.push(format!("{stream}: nobody asked for its outcome"));
            }
            What::Added { .. }
            | What::Claimed { .. }
            | What::Renewed { .. }
            | What::Released
            | What::Expired
            | What::Completed { .. }
            | What::Other => {}
        }
    }
    if untold.len() > open {
        let count = untold.len();
        complaints.push(format!(
            "{count} leases nobody was told of, {open} calls open: {untold:?}"
        ));
    }
    complaints
}

#[cfg(test)]
mod tests;
