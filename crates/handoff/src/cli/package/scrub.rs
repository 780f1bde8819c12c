//! The look for secrets before anything is sealed.

use std::path::Path;

use handoff_api::ExitCode;
use handoff_operations::Failure;
use handoff_package::attachment::AttachError;
use handoff_package::payload::Attachment;
use handoff_package::{Clean, Package, SecretsError};

use crate::output::one_line;

/// What becomes of something that looks like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrets {
    Refuse,
    Redact,
}

impl Secrets {
    /// As the command line says.
    pub(crate) const fn of(is_redacting: bool) -> Self {
        if is_redacting {
            Self::Redact
        } else {
            Self::Refuse
        }
    }
}

/// Looks through all of a package. Says what was replaced.
pub(crate) fn clean(package: Package, secrets: Secrets) -> Result<(Clean, Vec<String>), Failure> {
    match secrets {
        Secrets::Refuse => {
            let clean = Clean::check(package).map_err(|error| {
                refused(&error)
                    .hint("take them out, or say `--redact` to have marks put in their places")
            })?;
            Ok((clean, vec![]))
        }
        Secrets::Redact => {
            let redacted = Clean::redact(package).map_err(|error| {
                refused(&error).hint("a mark cannot stand in these places: use other words there")
            });
            let (clean, found) = redacted?;
            let notes = found.iter().map(|it| format!("redacted: {it}"));
            Ok((clean, notes.collect()))
        }
    }
}

/// What a file is as an attachment. It is taken whole or not at all.
pub(super) fn attachment(file: &Path) -> Result<Attachment, Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Attachment::of(&name, file).map_err(|error| match &error {
        AttachError::Secrets(secrets) => {
            refused(secrets).hint("leave the file out, or attach a copy without them")
        }
        AttachError::Read(cause) => unattached(file, ExitCode::NotFound).because(cause),
        AttachError::NotRegular | AttachError::TooLong | AttachError::Name(_) => {
            unattached(file, ExitCode::Usage).because(&error)
        }
    })
}

fn unattached(file: &Path, code: ExitCode) -> Failure {
    let name = one_line(&file.to_string_lossy());
    Failure::new(code, format!("cannot attach `{name}`"))
}

fn refused(error: &SecretsError) -> Failure {
    let mut failure =
        Failure::failed("nothing was sealed: it looks as if there were secrets in it");
    let found = error.found.iter().take(50);
    failure.causes = found.map(ToString::to_string).collect();
    failure
}
