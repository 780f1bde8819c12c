//! What becomes of a task that is not done: it failed, needs a person, or goes back into the queue, at once or for later.

use handoff_core::TaskState;
use handoff_core::rest::{Setback, Trouble};
use handoff_core::task::Command;

use super::{Ending, Walk, reason};
use crate::error::EngineError;
use crate::workshop::Workshop;

/// A task that was tried so often and always lost its session rests before it is tried again.
const MOST_ATTEMPTS: u64 = 5;

impl Walk {
    pub(super) fn unstarted(&self, why: &str) -> Setback {
        Setback {
            trouble: Trouble::Start,
            agent: self.task.spec.agent.clone(),
            reason: reason(why),
            resets_at: None,
        }
    }

    pub(super) fn lost(&self, why: &str) -> Setback {
        Setback {
            trouble: Trouble::Lost,
            agent: self.task.spec.agent.clone(),
            reason: reason(why),
            resets_at: None,
        }
    }

    /// Gives the task back for later; or to a person, if that was so too often.
    pub(super) fn put_off(
        &self,
        workshop: &mut Workshop<'_>,
        setback: Setback,
    ) -> Result<Ending, EngineError> {
        let fence = self.task.fence;
        let why = setback.reason.clone();
        workshop.tell(&self.task, Command::PutOff { fence, setback }, "end")?;
        let task = workshop.reload(&self.task)?;
        Ok(match (task.state, task.rest) {
            (TaskState::Blocked { reason, .. }, _) => Ending::Blocked(reason),
            (_, Some(rest)) => Ending::Resting(Box::new(rest)),
            // A person has told it to go on in the same moment.
            (_, None) => Ending::GivenBack(why),
        })
    }

    pub(super) fn reject(
        &self,
        workshop: &mut Workshop<'_>,
        ending: Ending,
    ) -> Result<Ending, EngineError> {
        if let Ending::GivenBack(why) = &ending
            && self.task.attempts() >= MOST_ATTEMPTS
        {
            let text = format!(
                "given back {} times, the last time because {why}",
                self.task.attempts()
            );
            return self.put_off(workshop, self.lost(&text));
        }
        let fence = Some(self.task.fence);
        let command = match ending.clone() {
            Ending::Failed(reason) => Command::Fail { fence, reason },
            Ending::Blocked(reason) => Command::Block { fence, reason },
            Ending::GivenBack(reason) => Command::Release {
                fence: self.task.fence,
                reason: Some(reason),
            },
            Ending::Done => Command::Complete {
                fence,
                summary: None,
            },
            // It was told already.
            Ending::Resting(_) | Ending::CalledOff => return Ok(ending),
        };
        workshop.tell(&self.task, command, "end")?;
        Ok(ending)
    }
}
