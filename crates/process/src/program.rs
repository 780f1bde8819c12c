//! A program to run, described completely.
//!
//! Describing starts nothing. What is not said here the program does not get: no variable and no
//! input of ours is inherited.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::capture::Bound;

/// How much of what a program prints is kept when nobody says otherwise.
pub const DEFAULT_BOUND: Bound = Bound::Last(64 * 1024);

/// A program, its arguments and everything it finds when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// A path, or a name to be looked for in the PATH of `environment`.
    pub name: OsString,
    /// What follows the name.
    pub arguments: Vec<OsString>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// All its variables.
    pub environment: BTreeMap<OsString, OsString>,
    /// What it reads.
    pub stdin: Stdin,
    /// How much of its standard output is kept.
    pub stdout: Bound,
    /// How much of its standard error is kept.
    pub stderr: Bound,
    /// What becomes of it when we are killed.
    pub fate: Fate,
}

/// What becomes of a program when the one who started it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The kernel kills it too.
    Shared,
    /// It goes on to its own end. Only for what reads and soon ends: it is quicker to start, because nothing has to be
    /// done between fork and exec.
    Own,
}

/// What a program reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// The end, at once.
    Empty,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
}

impl Program {
    /// A program without arguments, variables and input.
    pub fn new(name: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            arguments: Vec::new(),
            cwd: cwd.into(),
            environment: BTreeMap::new(),
            stdin: Stdin::Empty,
            stdout: DEFAULT_BOUND,
            stderr: DEFAULT_BOUND,
            fate: Fate::Shared,
        }
    }

    /// The same program with more arguments.
    #[must_use]
    pub fn with_arguments<A: AsRef<OsStr>>(
        mut self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        self.arguments.extend(
            arguments
                .into_iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
        self
    }
}
