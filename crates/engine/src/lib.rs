//! The road of a task: claim, prepare, prompt, session, referee, commit, seal, next; and what repairs it after a crash.
//!
//! ```text
//!  claim ─► prepare ─► prompt ─► session ─► referee ─► commit ─► seal ─► complete
//! ```
//!
//! The engine does, core decides: each step records what it proved through [`handoff_store::queue::submit`], with the fence of
//! the lease. A process that dies between two steps leaves a lease without a holder and a worktree
//! without a lease; the [`reconcile`]rs put both right and lose nothing.

#![warn(missing_docs)]

mod adoption;
mod attendance;
pub mod backup;
pub mod baton;
pub mod check;
mod check_bench;
mod collect;
mod continuation;
mod crew;
pub mod depot;
mod earlier;
mod echo;
mod enclosure;
mod error;
pub mod fan_in;
pub mod gc;
mod ground;
mod judgement;
mod ledger_blobs;
pub mod needs;
mod package_rules;
mod pausing;
pub mod phase;
mod places;
mod prompt;
pub mod reconcile;
mod referee;
pub mod results;
mod road;
mod rota;
mod seal;
mod session;
mod shared_commit;
mod spawn;
mod stock;
mod storm;
mod suite;
mod ticket;
mod trouble;
mod workshop;

pub use adoption::{adoptable, is_bereft};
pub use crew::{Crew, News, Shift, Site};
pub use depot::Depot;
pub use enclosure::{CheckPolicy, Enclosure};
pub use error::EngineError;
pub use ground::{Ground, checked_out, publish_baseline};
pub use package_rules::PackageRules;
pub use pausing::{PartPause, PauseNote, Pausing};
pub use places::{Attempt, Places};
pub use road::{Ending, Milestone, Walk, Walked, walk_next};
pub use rota::Capacity;
pub use shared_commit::{Counter, Right, SharedCommitError};
pub use spawn::{Order, Question, Spawn, SpawnError};
pub use stock::Stock;
pub use workshop::{Workshop, ledger_apart, without_secrets};
