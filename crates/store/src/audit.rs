//! The check that rows say nothing but what their events say.

use std::collections::HashMap;

use handoff_core::{Cursor, Envelope, StreamId, Task};

use crate::error::StoreError;
use crate::events::{self, Following};
use crate::queue::task_history;
use crate::store::Transaction;
use crate::tasks;

/// How many events are read at a time.
const PAGE: u32 = 10_000;

/// What an audit found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audit {
    /// How many tasks were compared.
    pub tasks: usize,
    /// How many events they were rebuilt from.
    pub events: usize,
    /// What does not agree, in words; empty when all is well.
    pub faults: Vec<String>,
}

/// Rebuilds each task from its events and compares it with its row.
pub fn audit(tx: &mut Transaction<'_>) -> Result<Audit, StoreError> {
    let mut streams: HashMap<StreamId, Vec<Envelope>> = HashMap::new();
    let mut audit = Audit::default();
    let mut since = Cursor::START;
    loop {
        let page = events::since(
            tx,
            Following {
                since,
                project: None,
                limit: PAGE,
            },
        )?;
        let Some(last) = page.last() else { break };
        since = last.cursor;
        audit.events += page.len();
        for envelope in page {
            streams.entry(envelope.stream).or_default().push(envelope);
        }
    }
    for row in tasks::every(tx)? {
        audit.tasks += 1;
        let history = streams.remove(&StreamId::Task(row.id)).unwrap_or_default();
        audit.faults.extend(fault(&row, history));
    }
    let orphans = streams
        .into_keys()
        .filter(|stream| matches!(stream, StreamId::Task(_)));
    audit
        .faults
        .extend(orphans.map(|stream| format!("{stream} has events but no row")));
    Ok(audit)
}

fn fault(row: &Task, mut history: Vec<Envelope>) -> Option<String> {
    history.sort_by_key(|envelope| envelope.seq);
    match Task::replay(row.id, row.project, task_history(history)) {
        Err(error) => Some(error.to_string()),
        Ok(rebuilt) if rebuilt == *row => None,
        Ok(rebuilt) => Some(format!(
            "{} differs from its history: {row:?} / {rebuilt:?}",
            row.id
        )),
    }
}
