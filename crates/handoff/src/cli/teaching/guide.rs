//! `handoff guide`: from nothing to an agent at work.

use handoff_api::{ExitCode, TextDocument};
use handoff_operations::Failure;

use crate::context::Context;

pub(super) const TEXT: &str = include_str!("../../../texts/guide.md");

pub(crate) fn run(ctx: &mut Context) -> Result<ExitCode, Failure> {
    show("guide", TEXT, ctx)
}

/// Shows a text of ours.
pub(super) fn show(
    name: &'static str,
    text: &'static str,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out
            .document(TextDocument::SCHEMA, TextDocument { name, text })?;
    } else {
        ctx.out.line(text.trim_end())?;
    }
    Ok(ExitCode::Done)
}
