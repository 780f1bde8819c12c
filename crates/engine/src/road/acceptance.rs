//! What becomes of work that passed its judgement: it is sealed, a batch's result is published, and the task is done.

use handoff_core::Task;
use handoff_core::task::{Command, Evidence, Part, Summary};

use super::{Ending, Walk, reason};
use crate::error::EngineError;
use crate::workshop::Workshop;
use crate::{fan_in, seal};

impl Walk {
    pub(super) fn accept(
        &self,
        workshop: &mut Workshop<'_>,
        evidence: &[Evidence],
    ) -> Result<Ending, EngineError> {
        let task = workshop.reload(&self.task)?;
        match seal::seal(workshop, &task, self.session, evidence) {
            Err(EngineError::Secrets(error)) => return self.unsealed(workshop, &error),
            // What is asked of packages here is not in it, or too much is.
            Err(EngineError::Seal(error)) => return self.unsealed(workshop, &error),
            sealed => sealed?,
        };
        self.publish(workshop, evidence)?;
        let said = { task.report.as_ref() }.and_then(|report| report.summary.clone());
        let complete = Command::Complete {
            fence: Some(task.fence),
            summary: said.or_else(|| gathered(&task)),
        };
        workshop.tell(&task, complete, "end")?;
        Ok(Ending::Done)
    }

    /// The work is done and stays on its branch; a person decides what is to become of it.
    fn unsealed(
        &self,
        workshop: &mut Workshop<'_>,
        error: &dyn std::error::Error,
    ) -> Result<Ending, EngineError> {
        let cause = error.source().map(|it| format!(": {it}"));
        let text = format!("not sealed: {error}{}", cause.unwrap_or_default());
        self.reject(workshop, Ending::Blocked(reason(&text)))
    }

    /// The result of a batch is on the batch's own branch before anybody is told that it is done.
    fn publish(
        &self,
        workshop: &mut Workshop<'_>,
        evidence: &[Evidence],
    ) -> Result<(), EngineError> {
        if let Some(Part::FanIn { .. }) = self.task.spec.part
            && let Some(commit) = seal::committed(evidence)
        {
            let branch = fan_in::publish(workshop, &self.task, &commit)?;
            if let Some(command) = &self.task.spec.verify {
                workshop.set_baseline(&self.task, &branch, &commit, command)?;
            }
        }
        Ok(())
    }
}

/// What the tool itself says of the results that it brought together, where no session said anything.
fn gathered(task: &Task) -> Option<Summary> {
    let gathered = { task.evidence.iter().rev() }.find_map(Evidence::gathered)?;
    let names: Vec<_> = gathered.parts.iter().map(ToString::to_string).collect();
    let left_out = gathered.omissions();
    let left_out = left_out.map_or_else(String::new, |told| format!(" Left out: {told}."));
    let text = match names.as_slice() {
        [] => format!("No part changed anything.{left_out}"),
        names => format!("Brought together: {}.{left_out}", names.join(", ")),
    };
    text.parse().ok()
}
