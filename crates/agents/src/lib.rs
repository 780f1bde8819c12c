//! What is known of each agent CLI: data and pure functions.
//!
//! An [`Agent`] says how a kind of agent CLI is launched, its [`Adapter`] how it is read and left. [`scripted`] holds the script format of the
//! built-in agent; its player is the crate `handoff-scripted`.
//!
//! Nothing here starts a process, opens a file, reads the environment or asks for the time.

pub mod adapter;
pub mod agent;
pub mod scripted;

pub use adapter::{Adapter, Block, Hint};
pub use agent::{Agent, UnknownAgent};
