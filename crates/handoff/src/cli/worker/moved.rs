//! A repository that was moved under a worker: the directory that the worker stands in went along, so it knows where to go on.

use handoff_api::ExitCode;
use handoff_core::ProjectId;
use handoff_engine::EngineError;
use handoff_operations::Failure;
use handoff_operations::project::project_at;
use handoff_process::{Input, Program, replace};

use crate::ambient::Invocation;
use crate::context::Context;
use crate::output::plain;

/// Becomes a worker where the repository is now. Everything that this one held is free then, and taken over there. If nobody knows
/// where that is, the sessions go on and whoever finds it judges what they did.
pub(super) fn follow(gone: &EngineError, project: ProjectId, ctx: &mut Context) -> Failure {
    let place = Invocation::working_directory();
    let is_ours = |it: &std::path::PathBuf| matches!(project_at(it), Ok(Some(it)) if it == project);
    let (Some(place), Some(own)) = (place.filter(is_ours), ctx.ambient.program.clone()) else {
        return Failure::of(ExitCode::NotFound, gone)
            .hint("go where it is now and start a worker there: it goes on with what was begun")
            .hint("sessions that were begun go on meanwhile, and nothing of them is lost");
    };
    let text = format!(
        "The repository was moved to `{}`; the worker goes on there.",
        plain(&place.display().to_string())
    );
    ctx.out.note(text).ok();
    let words = ctx.arguments[1..].to_vec();
    let mut program = Program::new(own, place).with_arguments(words);
    program.environment = ctx.ambient.environment.clone();
    let error = replace(&program, Input::Ours);
    Failure::failed("cannot go on where the repository is now").because(&error)
}
