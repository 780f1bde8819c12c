//! The words of handoff and the decisions made with them.
//!
//! Everything here is pure: no file, no process, no clock, no environment, no randomness. What is ambient
//! comes in as a value ([`Now`], an id that someone else minted), what is decided goes out as
//! events. That is why each rule of the product can be tested in microseconds, and why SQLite,
//! PostgreSQL and a replay of the ledger can never disagree about what a command means.

#![warn(missing_docs)]

mod agent_name;
pub mod backoff;
pub mod baseline;
pub mod batch;
pub mod caller;
pub mod check_limits;
mod checked_text;
mod confinement;
pub mod context;
pub mod digest;
pub mod event;
pub mod feature;
pub mod hold;
pub mod id;
pub mod json_text;
pub mod key;
pub mod lease;
pub mod losses;
pub mod name;
pub mod ownership;
pub mod package;
pub mod project;
pub mod relation;
pub mod repository;
pub mod resource;
pub mod rest;
pub mod revision;
pub mod run;
pub mod task;
pub mod text;
pub mod time;
pub mod tree;
pub mod trial;
pub mod visible;
pub mod workflow;

pub use agent_name::{AgentName, AgentNameError};
pub use baseline::Baseline;
pub use batch::{Batch, BatchEvent};
pub use caller::{Action, Caller, Role};
pub use confinement::{Confinement, ConfinementError};
pub use context::{ContextEvent, ContextKey, ContextScope};
pub use digest::Digest;
pub use event::{Cursor, Envelope, Event, StreamId};
pub use feature::{FeatureEvent, FeatureRecord};
pub use hold::{Hold, HoldScope};
pub use id::{
    BatchId, FeatureId, MessageId, PackageId, ProjectId, RunId, SessionId, StoreId, TaskId,
};
pub use json_text::JsonText;
pub use key::IdempotencyKey;
pub use lease::{Fence, Lease};
pub use name::{
    BatchName, FeatureName, PartName, PhaseName, RunName, SessionName, TaskName, WorkflowName,
};
pub use ownership::Ownership;
pub use package::{PackageEvent, PackageRecord};
pub use project::ProjectMark;
pub use relation::Relation;
pub use repository::{RepositoryEvent, RepositoryRecord, UnseenMove};
pub use rest::Rest;
pub use revision::{BranchName, CommitId};
pub use run::{Run, RunEvent};
pub use task::{Task, TaskEvent, TaskState};
pub use time::{Moment, Now, Timeline, Timestamp};
pub use tree::{HeadName, TreeState};
pub use workflow::Workflow;
