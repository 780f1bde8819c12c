//! What a `git` of a session may do: a pure decision on a command line, and the way past ourselves to the real git.
//!
//! | module | noun |
//! |---|---|
//! | [`command_line`] | a command line of git, taken apart |
//! | [`verdict`] | what a sub-task may run |
//! | [`shim`] | telling a guard from git |
//!
//! The program of this crate is what sessions have first in PATH. It is started for every `git`, so it depends on nothing and
//! decides only what is the same for every role; the rest is asked of `handoff`, whose start costs several times as much.

#![warn(missing_docs)]

mod allow_list;
pub mod command_line;
pub mod shim;
pub mod verdict;

pub use command_line::CommandLine;
pub use verdict::{Ground, Verdict, is_for_everybody, judge};
