//! `handoff version`.

use handoff_api::{ExitCode, VersionDocument};

use crate::context::Context;
use crate::failure::Failure;

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn run(ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(
            VersionDocument::SCHEMA,
            VersionDocument { version: VERSION },
        )?;
    } else {
        ctx.out.line(format!("handoff {VERSION}"))?;
    }
    Ok(ExitCode::Done)
}
