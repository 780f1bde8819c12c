//! A manifest in a file or on stdin.

use std::io::Read as _;
use std::path::Path;

use handoff_api::ExitCode;
use handoff_core::batch::{Manifest, ManifestError};
use handoff_operations::Failure;
use handoff_operations::project::batch_rules;

use crate::context::Context;

/// No manifest that anybody can mean is longer.
const LIMIT: u64 = 16 * 1024 * 1024;

/// Reads a manifest, `-` from stdin; all that is wrong with it becomes one failure.
pub(in crate::cli) fn read(path: &Path, ctx: &Context) -> Result<Manifest, Failure> {
    let text = text(path)?;
    let rules = batch_rules(ctx)?;
    Manifest::read(&text, rules).map_err(|error| refused(path, &error))
}

fn text(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().take(LIMIT).read_to_string(&mut text)
    } else {
        let file = std::fs::File::open(path);
        file.and_then(|file| file.take(LIMIT).read_to_string(&mut text))
    };
    let code = |error: &std::io::Error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            ExitCode::NotFound
        } else {
            ExitCode::Failed
        }
    };
    read.map_err(|error| {
        let what = format!("cannot read the manifest `{}`", path.display());
        Failure::new(code(&error), what).because(&error)
    })?;
    Ok(text)
}

fn refused(path: &Path, error: &ManifestError) -> Failure {
    let failure = Failure::failed(error.to_string());
    let causes = match error {
        ManifestError::Unreadable { .. } => vec![],
        ManifestError::Mistaken(mistakes) => mistakes.iter().map(ToString::to_string).collect(),
    };
    let again = format!(
        "nothing was opened; when it is corrected, look again: `handoff batch plan {}`",
        path.display()
    );
    Failure { causes, ..failure }.hint(again)
}
