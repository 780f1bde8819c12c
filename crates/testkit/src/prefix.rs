//! Words in front of a program: `setpriv …`, `strace …`, `unshare …`, `env …`.
//!
//! Every helper that changes the conditions of a program does it by words in front of it, so that
//! they combine with each other and with the variables of a [`TestEnv`](crate::TestEnv).

use std::ffi::{OsStr, OsString};
use std::process::Command;

use crate::ambient;

/// A command line that ends where the program's own begins.
#[derive(Clone, Debug, Default)]
pub struct Prefix(Vec<OsString>);

impl Prefix {
    /// No words: the program runs as it is.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn of<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Self {
        Self(words.into_iter().map(Into::into).collect())
    }

    /// Puts `inner` between these words and the program.
    #[must_use]
    pub fn around(mut self, inner: Self) -> Self {
        self.0.extend(inner.0);
        self
    }

    /// All words but the first.
    #[must_use]
    pub(crate) fn without_first(mut self) -> Self {
        self.0.drain(..1.min(self.0.len()));
        self
    }

    /// The program behind these words, in the environment of the test itself.
    /// [`TestEnv::command_under`](crate::TestEnv::command_under) gives it a hermetic one.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let Some((first, rest)) = self.0.split_first() else {
            return ambient::program(program);
        };
        let mut command = ambient::program(first);
        command.args(rest).arg(program);
        command
    }
}
