//! Tasks: adding one, looking at one, and what a change of one answers.

mod add;
mod see;

pub use add::{AddTask, demands};
pub use see::{SeeTask, TaskView};

use handoff_api::{ExitCode, Receipt};
use handoff_core::IdempotencyKey;
use handoff_store::queue::{Answer, Change};

use crate::failure::Failure;
use crate::project::{Project, Recorded};

/// Records a change of one task, and answers with the task as it is then.
pub(crate) fn change_task(
    project: &mut Project,
    change: Change,
    key: Option<IdempotencyKey>,
) -> Result<Receipt, Failure> {
    let recorded = project.submit(change, key)?;
    let receipt = receipt(project, &recorded);
    receipt.map_err(|failure| recorded.untold(failure))
}

/// What is told of a change of one task.
pub fn receipt(project: &mut Project, recorded: &Recorded) -> Result<Receipt, Failure> {
    let Answer::Task(task) = &recorded.receipt.answer else {
        return Err(Failure::new(ExitCode::Internal, "the answer is not a task"));
    };
    Ok(Receipt {
        task: project.document(task, &recorded.receipt.now.moment),
        key: recorded.key.to_string(),
        is_repeat: recorded.receipt.is_repeat,
    })
}
