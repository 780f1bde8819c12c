//! How an upgrade that did not happen is told: exit code and what to do next.

use handoff_api::ExitCode;
use handoff_operations::Failure;

use crate::upgrade::UpgradeError;
use crate::upgrade::client::FetchError;
use crate::upgrade::place::PlaceError;
use crate::upgrade::release::ReleaseError;
use crate::upgrade::swap::SwapError;

const MAY_PASS: &str = "nothing was changed; trying again later may help";
const REPORT: &str = "nothing was changed; please report this release";

impl From<UpgradeError> for Failure {
    fn from(error: UpgradeError) -> Self {
        let failure = Self::of(code_of(&error), &error);
        match hint_for(&error) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

fn code_of(error: &UpgradeError) -> ExitCode {
    match error {
        UpgradeError::NoRelease(_) => ExitCode::NotFound,
        UpgradeError::Fetch(error) => code_of_fetch(error),
        UpgradeError::Release(ReleaseError::NoProgram { .. }) => ExitCode::NotFound,
        UpgradeError::Place(PlaceError::Busy(_) | PlaceError::Replaced(_)) => ExitCode::Conflict,
        UpgradeError::Checksum(_)
        | UpgradeError::Mismatch { .. }
        | UpgradeError::OtherMachine(_) => ExitCode::CheckFailed,
        UpgradeError::Swap(error) => code_of_swap(error),
        UpgradeError::Release(_) | UpgradeError::Kept { .. } | UpgradeError::Place(_) => {
            ExitCode::Failed
        }
    }
}

fn code_of_fetch(error: &FetchError) -> ExitCode {
    match error {
        FetchError::NotThere(_) => ExitCode::NotFound,
        FetchError::Unreachable(..)
        | FetchError::TimedOut(_)
        | FetchError::Status { .. }
        | FetchError::Broken(..) => ExitCode::Unavailable,
        FetchError::NoRoots(_)
        | FetchError::Redirects(_)
        | FetchError::Elsewhere(..)
        | FetchError::Nowhere(_)
        | FetchError::TooLarge { .. } => ExitCode::Failed,
    }
}

fn code_of_swap(error: &SwapError) -> ExitCode {
    match error {
        SwapError::Write(error) if error.is_out_of_space() => ExitCode::NoSpace,
        SwapError::Unfit(_) | SwapError::Returned(_) | SwapError::Stuck { .. } => {
            ExitCode::CheckFailed
        }
        SwapError::Sweep(_)
        | SwapError::Write(_)
        | SwapError::Permit(..)
        | SwapError::Keep(..)
        | SwapError::Rename(_)
        | SwapError::Sync(_) => ExitCode::Failed,
    }
}

fn hint_for(error: &UpgradeError) -> Option<String> {
    Some(match error {
        UpgradeError::NoRelease(_) => {
            "there may be none yet; the address is set by `--release-url`, HANDOFF_RELEASE_URL or `[upgrade] url`".to_owned()
        }
        UpgradeError::Fetch(error) => hint_for_fetch(error).to_owned(),
        UpgradeError::Mismatch { .. } | UpgradeError::Checksum(_) => MAY_PASS.to_owned(),
        UpgradeError::Release(ReleaseError::NoProgram { .. }) => {
            "build it from source, or use what your package manager has".to_owned()
        }
        UpgradeError::Kept { keeper, .. } => format!("get the new version from it: {}", keeper.advice()),
        UpgradeError::Place(error) => return hint_for_place(error),
        UpgradeError::Swap(error) => return hint_for_swap(error),
        UpgradeError::OtherMachine(_) | UpgradeError::Release(_) => REPORT.to_owned(),
    })
}

fn hint_for_fetch(error: &FetchError) -> &'static str {
    match error {
        FetchError::NoRoots(_) => {
            "install the system's certificates, or name a file of them in SSL_CERT_FILE"
        }
        FetchError::Unreachable(..)
        | FetchError::TimedOut(_)
        | FetchError::NotThere(_)
        | FetchError::Status { .. }
        | FetchError::Broken(..) => MAY_PASS,
        FetchError::Redirects(_)
        | FetchError::Elsewhere(..)
        | FetchError::Nowhere(_)
        | FetchError::TooLarge { .. } => REPORT,
    }
}

fn hint_for_place(error: &PlaceError) -> Option<String> {
    Some(match error {
        PlaceError::NotWritable(..) => {
            "run `handoff upgrade` as the user who installed it there, or install handoff where you may write"
        }
        PlaceError::Busy(_) => "wait for it, then look: `handoff version`",
        PlaceError::Replaced(_) => "look what is there now: `handoff version`",
        // A directory on a network file system cannot be locked.
        PlaceError::Lock(..) => "install handoff on a local disk",
        PlaceError::Name(_) | PlaceError::Open(..) | PlaceError::Look(..) => return None,
    }
    .to_owned())
}

fn hint_for_swap(error: &SwapError) -> Option<String> {
    Some(match error {
        SwapError::Unfit(_) | SwapError::Returned(_) => {
            "the version you have goes on working; please report this release".to_owned()
        }
        SwapError::Stuck { kept, .. } => format!(
            "put it back by hand: `{}` is the version that worked",
            kept.display()
        ),
        SwapError::Sweep(_)
        | SwapError::Write(_)
        | SwapError::Permit(..)
        | SwapError::Keep(..)
        | SwapError::Rename(_) => "nothing was changed".to_owned(),
        SwapError::Sync(_) => "look what is there: `handoff version`".to_owned(),
    })
}
