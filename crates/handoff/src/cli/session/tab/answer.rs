//! The other side of a stand-in: what is said from the tab, outside of any session.

use handoff_agents::Agent;
use handoff_api::{ExitCode, LastWordDocument};
use handoff_core::task::Command;
use handoff_core::{Fence, Task, TaskState};
use handoff_operations::project::fence;
use handoff_operations::session::{places, unreadable};
use handoff_operations::{Failure, Project};
use handoff_session::last_word::LastWord;
use handoff_session::{Known, Standing, catalogue};
use handoff_store::queue::Change;

use super::mark::Marks;
use crate::context::Context;

/// The tab in which somebody works on a task, by what they say of it.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Tab {
    /// From a tab that a worker opened: the task, by name or id.
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// With `--task`: the fence that the tab was told.
    #[arg(long, value_name = "NUMBER", requires = "task")]
    fence: Option<u64>,
}

impl Tab {
    /// A live session of this machine that stands for a tab, if that is where the task is worked on.
    pub(crate) fn of(task: &Task, ctx: &Context) -> Result<Option<Known>, Failure> {
        let TaskState::Running { session, .. } = &task.state else {
            return Ok(None);
        };
        let known = catalogue::by_id(&places(ctx)?, *session).map_err(|it| unreadable(&it))?;
        let is_tab =
            |known: &Known| known.record.agent == Agent::TAB && known.standing == Standing::Live;
        Ok(known.filter(is_tab))
    }

    /// Tells the stand-in that somebody is there.
    pub(crate) fn give_sign(task: &Task, ctx: &Context) -> Result<(), Failure> {
        match Self::of(task, ctx)? {
            Some(known) => Marks::in_directory(known.directory).give_sign(),
            None => Ok(()),
        }
    }

    /// Says the last word of a tab, if it is one that speaks.
    pub(in crate::cli::session) fn say(
        &self,
        word: &LastWord,
        ctx: &mut Context,
    ) -> Result<Option<ExitCode>, Failure> {
        let Some(name) = &self.task else {
            return Ok(None);
        };
        let fence = fence(ctx, self.fence).ok_or_else(|| {
            Failure::usage("`--fence` is needed: the number that the tab was told")
        })?;
        let known = holding(name, fence, ctx)?;
        let session = known.record.id.to_string();
        Marks::in_directory(known.directory).say(word)?;
        if ctx.out.is_json() {
            let document = LastWordDocument {
                session,
                task: Some(name.clone()),
                seq: 0,
            };
            ctx.out.document(LastWordDocument::SCHEMA, document)?;
        } else {
            ctx.out
                .line("Noted. It is passed on; there is nothing more to do.")?;
        }
        Ok(Some(ExitCode::Done))
    }
}

/// The stand-in of whoever has this task by this fence.
fn holding(name: &str, fence: Fence, ctx: &Context) -> Result<Known, Failure> {
    let mut desk = Project::open(ctx)?;
    let task = desk.task_ref(name)?;
    let change = Change::Tell {
        task: task.clone(),
        command: Command::Renew { fence },
    };
    desk.submit(change, None)?;
    let task = desk.find(&task)?;
    Tab::of(&task, ctx)?.ok_or_else(|| {
        let text = format!("`{name}` is not worked on in a tab of this machine");
        Failure::new(ExitCode::Conflict, text).hint(format!(
            "end a task as a person: `handoff queue complete {name} --fence {fence}` or `handoff queue block {name}`"
        ))
    })
}
