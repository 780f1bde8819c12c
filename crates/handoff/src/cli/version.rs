//! `handoff version`.

use std::io;

use handoff_api::{ExitCode, VersionDocument};
use handoff_operations::Failure;

use crate::context::Context;
use crate::output::Output;

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn run(ctx: &mut Context) -> Result<ExitCode, Failure> {
    show(&mut ctx.out)?;
    Ok(ExitCode::Done)
}

/// Shows the version, however it was asked for.
pub(super) fn show(out: &mut Output) -> io::Result<()> {
    if out.is_json() {
        let document = VersionDocument { version: VERSION };
        return out.document(VersionDocument::SCHEMA, document);
    }
    out.line(format!("handoff {VERSION}"))
}
