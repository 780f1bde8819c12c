//! What can be done, at any door: use cases as a request in and a document or a typed [`Failure`] out.
//!
//! The command line, and every door that follows, translates and shows; it decides nothing. Nothing here prints, reads a terminal
//! or knows how a request was worded. Who asks is established once, by [`caller`], from the processes above; what that caller may
//! do is one table in `core`.

pub mod agent_catalogue;
mod ambient;
pub mod attempt;
pub mod audit;
pub mod backup;
pub mod batch;
pub mod caller;
pub mod changes;
pub mod config;
pub mod failure;
pub mod feature;
pub mod guard_place;
mod landing;
pub mod opener;
pub mod operation;
pub mod overview;
pub mod program;
pub mod project;
pub mod ref_monitor;
pub mod registry;
pub mod run;
pub mod sandbox_policy;
pub mod session;
mod span;
pub mod task;
pub mod tmux;
pub mod worker;
mod workplace;

pub use ambient::Ambient;
pub use config::Config;
pub use failure::Failure;
pub use landing::Land;
pub use operation::{Operation, call};
pub use overview::Overview;
pub use project::Project;
pub use span::{Span, SpanError};
pub use workplace::{Tree, Workplace, fresh_key};
