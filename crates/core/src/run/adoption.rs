//! A run that was begun in another store. What was proved there counts here: whoever takes it over trusts who sealed it.

use serde::{Deserialize, Serialize};

use super::event::RunEvent;
use super::spec::{RunSpec, Step};
use crate::PhaseName;

/// A run as it is handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdoptedRun {
    /// What it is.
    pub spec: RunSpec,
    /// What was proved so far, in order.
    pub steps: Vec<Step>,
    /// The phase that it goes on with.
    pub next: PhaseName,
}

impl AdoptedRun {
    /// What happened to it behind its beginning, as far as it matters here. It waits to be told to go on.
    pub fn past(&self) -> Vec<RunEvent> {
        let proved = self.steps.iter().cloned().map(|step| RunEvent::Proved {
            phase: step.phase,
            task: step.task,
            verdict: step.verdict,
        });
        let steps = u64::try_from(self.steps.len()).unwrap_or(u64::MAX);
        let phase = self.next.clone();
        proved.chain([RunEvent::Rewound { phase, steps }]).collect()
    }
}
