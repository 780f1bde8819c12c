//! What a session says of its own task: the same as with `done` and `block`. It goes to the holder, and the one who attends to the
//! session records it; so it needs no ledger, and can be said in a sandbox too.

use handoff_api::ExitCode;
use handoff_core::task::{Reason, Report, Summary};
use handoff_core::{Caller, TaskName};
use handoff_engine::Places;
use handoff_operations::Failure;
use handoff_operations::project::{caller, fence};
use handoff_session::environment;
use handoff_session::last_word::LastWord;

use super::{Args, Status, parsed, spellings};
use crate::cli::batch::opening::Earnest;
use crate::cli::session;
use crate::context::Context;

/// Whoever is refused inside a session is told what it can say instead.
pub(super) fn with_hint(failure: Failure, ctx: &Context) -> Failure {
    let is_in_session = matches!(caller(&ctx.ambient), Ok(Caller::Session { .. }));
    if is_in_session && failure.code == ExitCode::Forbidden {
        failure.hint(
            "a session speaks for its own task only: `handoff done --summary TEXT`, `handoff block --reason TEXT`",
        )
    } else {
        failure
    }
}

impl Args {
    /// Whether it is for the holder of the session that one is in.
    pub(in crate::cli) fn is_last_word(&self, ctx: &Context) -> bool {
        self.is_report() && matches!(attended_task(ctx), Ok(Some(own)) if self.is_about(&own, ctx))
    }

    /// What is said of the own task; none if it is no report, or nobody waits for what this session says.
    pub(super) fn last_word(&self, ctx: &Context) -> Result<Option<LastWord>, Failure> {
        let Some(own) = attended_task(ctx)?.filter(|_| self.is_report()) else {
            return Ok(None);
        };
        if !self.is_about(&own, ctx) {
            let text = format!("this session works on `{own}`, and speaks of no other task");
            let refused = Failure::new(ExitCode::Forbidden, text);
            return Err(refused.hint(
                "say what you know of it with your last word: `handoff done --summary TEXT`, `handoff block --reason TEXT`",
            ));
        }
        if self.fence.is_some() && fence(ctx, self.fence) != fence(ctx, None) {
            let text = "that is not the fence of this session";
            return Err(
                Failure::new(ExitCode::LeaseLost, text).hint("inside a session none is needed")
            );
        }
        let said = self.said()?;
        Ok(match self.status() {
            Status::Done => Some(LastWord::Done {
                report: Report {
                    summary: Some(parsed::<Summary>(&said)?),
                    result: None,
                },
            }),
            Status::Blocked => Some(LastWord::Blocked {
                reason: parsed::<Reason>(&said)?,
            }),
            Status::Active => None,
        })
    }

    fn is_about(&self, own: &TaskName, ctx: &Context) -> bool {
        let Some(name) = &self.task else {
            return false;
        };
        // In another repository another task may have the same name.
        if self.workspace.is_some() {
            return false;
        }
        let Some(batch) = &self.part.batch_id else {
            return name == own;
        };
        let is_own_batch = ctx.ambient.text(environment::BATCH) == Some(batch.as_str());
        let is_part = |part: &str| {
            let of_batch = own.as_str().strip_suffix(part);
            let of_batch = of_batch.and_then(|it| it.strip_suffix('.'));
            of_batch.is_some_and(|it| it == batch || is_own_batch)
        };
        spellings(name).into_iter().flatten().any(is_part)
    }
}

/// The task of the session that one is in, if somebody attends to it: whoever was started by a person alone is judged by nobody, and
/// what it says would be heard by nobody.
fn attended_task(ctx: &Context) -> Result<Option<TaskName>, Failure> {
    let Caller::Session { session, .. } = caller(&ctx.ambient)? else {
        return Ok(None);
    };
    let is_attended = Places::new(ctx.home()?).ticket(session).exists();
    let task = ctx.ambient.text(environment::TASK);
    Ok(task.and_then(|it| it.parse().ok()).filter(|_| is_attended))
}

/// Says it to the holder, or that it would be said.
pub(super) fn say(
    word: &LastWord,
    earnest: Earnest,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    if earnest == Earnest::Really {
        return session::say_last(word, ctx);
    }
    let what = match word {
        LastWord::Done { .. } => "done",
        LastWord::Blocked { .. } => "blocked",
    };
    ctx.out.note(format!(
        "Your task would be said to be {what}. Nothing was said."
    ))?;
    Ok(ExitCode::Done)
}
