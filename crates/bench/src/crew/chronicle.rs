//! What happened to tasks and when, from the ledger and from the journals of sessions.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use handoff_core::Timestamp;
use serde_json::Value;

use crate::samples::Samples;
use crate::stage::Stage;

/// The tasks that were done, in the order in which they were claimed.
pub(super) struct Chronicle(Vec<Story>);

/// One task.
#[derive(Debug, Clone, Copy)]
struct Story {
    claimed: Timestamp,
    /// When its agent was started; none if it needed no agent.
    agent: Option<Timestamp>,
    /// When that had ended.
    ended: Option<Timestamp>,
    done: Timestamp,
}

impl Chronicle {
    pub(super) fn read(stage: &Stage) -> Result<Self> {
        let told = stage.handoff(["events", "--json"]).output()?;
        if !told.status.success() {
            bail!("`events` fails: {}", String::from_utf8_lossy(&told.stderr));
        }
        let mut streams: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for line in String::from_utf8(told.stdout)?.lines() {
            let event: Value = serde_json::from_str(line)?;
            let stream = event["stream"].as_str().context("an event has a stream")?;
            streams.entry(stream.to_owned()).or_default().push(event);
        }
        let stories = streams.values().map(|events| story(events, stage));
        let mut stories: Vec<Story> = stories
            .filter_map(Result::transpose)
            .collect::<Result<_>>()?;
        stories.sort_by_key(|story| story.claimed);
        Ok(Self(stories))
    }

    /// From the outcome of each to the agent of the one after it, where there is one slot.
    pub(super) fn outcome_to_start(&self) -> Samples {
        let pairs = self.0.windows(2);
        Samples::of(pairs.filter_map(|pair| span(Some(pair[0].done), pair[1].agent)))
    }

    /// The same as spans on the wall clock.
    pub(super) fn gaps(&self) -> Vec<(Timestamp, Timestamp)> {
        let pairs = self.0.windows(2);
        { pairs }
            .filter_map(|pair| Some((pair[0].done, pair[1].agent?)))
            .collect()
    }

    pub(super) fn end_to_outcome(&self) -> Samples {
        Samples::of(self.0.iter().filter_map(|it| span(it.ended, Some(it.done))))
    }

    pub(super) fn claim_to_start(&self) -> Samples {
        let stories = self.0.iter();
        Samples::of(stories.filter_map(|it| span(Some(it.claimed), it.agent)))
    }

    /// When the last one was done that needed an agent.
    pub(super) fn parts_done_at(&self) -> Option<Timestamp> {
        let parts = self.0.iter().filter(|it| it.agent.is_some());
        parts.map(|it| it.done).max()
    }

    pub(super) fn last_outcome(&self) -> Option<Timestamp> {
        self.0.iter().map(|it| it.done).max()
    }
}

fn span(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<Duration> {
    Some(Duration::try_from(to?.duration_since(from?)).unwrap_or_default())
}

/// What the events of one stream tell of a task that was done; none of anything else.
fn story(events: &[Value], stage: &Stage) -> Result<Option<Story>> {
    let of = |kind: &str| events.iter().find(|it| it["event"]["type"] == kind);
    let (Some(claimed), Some(done)) = (of("claimed"), of("completed")) else {
        return Ok(None);
    };
    let session = of("started").and_then(|it| it["event"]["session"].as_str());
    let (agent, ended) = match session {
        Some(session) => journal(session, stage)?,
        None => (None, None),
    };
    Ok(Some(Story {
        claimed: time(&claimed["at"])?,
        agent,
        ended,
        done: time(&done["at"])?,
    }))
}

/// When an agent was started, and when its end was on record.
fn journal(session: &str, stage: &Stage) -> Result<(Option<Timestamp>, Option<Timestamp>)> {
    let path = stage.state().join("sessions").join(session);
    let text = fs::read_to_string(path.join("events.jsonl"))?;
    let entries = text.lines().map(serde_json::from_str);
    let entries: Vec<Value> = entries.collect::<Result<_, _>>()?;
    let at = |kind: &str| {
        let found = entries.iter().find(|it| it["type"] == kind);
        found.map(|it| time(&it["ts"])).transpose()
    };
    Ok((at("started")?, at("exited")?))
}

fn time(value: &Value) -> Result<Timestamp> {
    Ok(value.as_str().context("a time")?.parse()?)
}
