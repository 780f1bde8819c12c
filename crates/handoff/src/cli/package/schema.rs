//! `handoff package schema`.

use handoff_api::ExitCode;
use handoff_operations::Failure;

use crate::context::Context;

/// JSON is what it is for: there is no other form.
const SCHEMA: &str = "handoff.package-schema/1";

pub(super) fn run(ctx: &mut Context) -> Result<ExitCode, Failure> {
    ctx.out
        .document(SCHEMA, handoff_package::schema::schema())?;
    Ok(ExitCode::Done)
}
