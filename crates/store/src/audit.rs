//! The check that rows say nothing but what their events say.

use handoff_core::{StreamId, Task, TaskId};

use crate::column::field;
use crate::error::StoreError;
use crate::events;
use crate::queue::task_history;
use crate::sql::RowLock;
use crate::store::Transaction;
use crate::tasks;

/// How many tasks are looked up at a time.
const PAGE: u32 = 1_000;

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
    let mut audit = Audit::default();
    let mut after = String::new();
    loop {
        let page = tasks::ids_after(tx, &after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = last.to_string();
        for id in page {
            audit.check(tx, id)?;
        }
    }
    audit.faults.extend(rowless(tx)?);
    Ok(audit)
}

impl Audit {
    fn check(&mut self, tx: &mut Transaction<'_>, id: TaskId) -> Result<(), StoreError> {
        let row = tasks::get(tx, id)?;
        let mut history = events::history(tx, StreamId::Task(id), u64::MAX)?;
        let newest = history.last().map_or(0, |envelope| envelope.seq);
        // On a server others go on while we look: events newer than the row are a fault only if the row
        // does not follow.
        if newest > row.version && tasks::get(tx, id)?.version < newest {
            self.faults
                .push(format!("{id} has events that its row does not know"));
        }
        history.retain(|envelope| envelope.seq <= row.version);
        self.tasks += 1;
        self.events += history.len();
        self.faults.extend(
            match Task::replay(row.id, row.project, task_history(history)) {
                Err(error) => Some(error.to_string()),
                Ok(rebuilt) if rebuilt == row => None,
                Ok(_) => Some(format!("{id} differs from its history")),
            },
        );
        Ok(())
    }
}

/// Tasks that have a history but no row.
fn rowless(tx: &mut Transaction<'_>) -> Result<Vec<String>, StoreError> {
    let rows = tx.query(
        "SELECT stream FROM events WHERE seq = 1 AND stream NOT LIKE 'hold/%' \
         AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = events.stream) LIMIT 20",
        &[],
        RowLock::None,
    )?;
    let fault = |stream: &str| format!("{stream} has events but no row");
    rows.iter()
        .map(|row| field(row.text(0)).map(fault))
        .collect()
}
