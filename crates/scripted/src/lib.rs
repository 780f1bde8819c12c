//! The built-in scripted agent: a program that behaves like an agent CLI, as a script says.
//!
//! People use it to try a workflow without paying for a model, and every test of a session drives
//! it. [`run`] is the whole program `handoff scripted-agent SCRIPT.toml`; [`play`] plays a script
//! that is already read. The format of scripts is [`handoff_agents::scripted`].
//!
//! It is a program *under* handoff, like any third party's: it starts processes and sleeps on its
//! own, and knows nothing of stores, sessions or holders. It takes its process for itself: it
//! installs signal handlers, changes the mode of the terminal and may end by a signal. Environment,
//! working directory and standard streams are handed in as a [`World`]; it reads no others.
//!
//! A script's `write`, `append` and `delete` cannot leave the working directory, not even through a
//! symbolic link. Its `git` and `run` can do what the user can.

mod beneath;
mod clock;
mod command;
mod editor;
mod grandchild;
mod input;
mod keys;
mod menu;
mod outcome;
mod output;
mod player;
mod program;
mod prompt;
mod raw_mode;
mod screen;
mod signals;
mod terminal;
mod variables;
mod world;

pub use outcome::{Failure, Outcome, StepFailure};
pub use player::play;
pub use program::{LoadError, load, run};
pub use world::{Environment, World};
