//! Texts that people and agents write into a task or a feature: bounded, and without NUL, which neither an environment nor an
//! argument list can carry. They are data; whoever shows them escapes them.

use serde::{Deserialize, Serialize};

use crate::checked_text::checked_text;

/// A text that does not fit its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Nothing but white space.
    #[error("the {what} is empty")]
    Empty {
        /// Which text.
        what: &'static str,
    },
    /// Over the limit.
    #[error("the {what} has {len} bytes; the limit is {limit}")]
    TooLong {
        /// Which text.
        what: &'static str,
        /// Its length.
        len: usize,
        /// What is allowed.
        limit: usize,
    },
    /// A NUL character.
    #[error("the {what} contains a NUL character")]
    Nul {
        /// Which text.
        what: &'static str,
    },
}

fn check(text: &str, what: &'static str, limit: usize) -> Result<(), TextError> {
    if text.trim().is_empty() {
        return Err(TextError::Empty { what });
    }
    if text.len() > limit {
        return Err(TextError::TooLong {
            what,
            len: text.len(),
            limit,
        });
    }
    if text.contains('\0') {
        return Err(TextError::Nul { what });
    }
    Ok(())
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident, $what:literal, $limit:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The longest one, in bytes.
            pub const LIMIT: usize = $limit;
        }

        checked_text!($name, TextError, |text| check(text, $what, $limit));
    )*};
}

texts! {
    /// What the session is asked to do.
    Brief, "brief", 256 * 1024;
    /// What was done, by whoever did it: a claim, not a proof.
    Summary, "summary", 64 * 1024;
    /// Why something did not go on.
    Reason, "reason", 64 * 1024;
    /// A shell command whose success proves the work.
    VerifyCommand, "verify command", 16 * 1024;
    /// The text of a step of a plan.
    StepTitle, "step", 4 * 1024;
    /// The manifest of a batch, as somebody wrote it.
    ManifestText, "manifest", 1024 * 1024;
}
