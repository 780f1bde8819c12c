//! What the errors of keys mean at a door.

use handoff_api::ExitCode;
use handoff_package::KeyringError;

use crate::failure::Failure;

impl From<KeyringError> for Failure {
    fn from(error: KeyringError) -> Self {
        let code = match error {
            KeyringError::Damaged(_) => ExitCode::Damaged,
            KeyringError::Place(_) | KeyringError::Write(_) => ExitCode::Unavailable,
        };
        Self::of(code, &error)
    }
}
