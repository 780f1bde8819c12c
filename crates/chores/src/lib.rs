//! What the chores of this repository share. No product code is in here, so that a chore which needs none builds without it.

pub mod output;
pub mod processor_time;
pub mod product;
pub mod program;
pub mod tally;

use std::process::ExitCode;

use anyhow::Result;

pub use self::tally::Tally;

/// How a chore that came to its end went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Good,
    Bad,
}

impl Verdict {
    /// Good if this is so.
    #[must_use]
    pub fn of(is_good: bool) -> Self {
        if is_good { Self::Good } else { Self::Bad }
    }
}

/// The exit code of a chore; one that could not be done says why.
pub fn exit_code(verdict: Result<Verdict>) -> ExitCode {
    match verdict {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::FAILURE,
        Err(error) => {
            output::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
