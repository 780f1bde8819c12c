//! What is known of each agent CLI: data and pure functions.
//!
//! An [`Agent`] is a kind of agent CLI; its [`Adapter`] says how it is launched, read and left,
//! its [`Recipe`] how it is typed to. [`scripted`] holds the script format of the
//! built-in agent; its player is the crate `handoff-scripted`.
//!
//! Nothing here starts a process, opens a file, reads the environment or asks for the time.

pub mod adapter;
pub mod agent;
pub mod conversation;
pub mod hook;
pub mod recipe;
pub mod scripted;
pub mod trouble;

pub use adapter::{Adapter, Block, Hint, InputBox, Sight};
pub use agent::{Agent, AgentName};
pub use conversation::{ApiError, ApiErrorKind, ClaudeSession, Conversation, Usage};
pub use recipe::{Pointer, Recipe, Tabs, TextBox};
pub use trouble::Complaint;
