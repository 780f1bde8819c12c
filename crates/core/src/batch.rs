//! The batch: a fan-out of parts that are worked on side by side, and the fan-in that brings their results together.
//!
//! ```text
//!  open ─► Open ──── last part ended ────► FanIn ──── fan-in ended ───► Ended
//!            ▲                               │                            │
//!            └──────── a part is retried ────┴────────────────────────────┘      (Cancelled from anywhere)
//! ```
//!
//! A [`Manifest`] says what is wanted. It is checked as a whole before anything is published: [`Manifest::read`] gives all
//! mistakes at once, and whatever it accepts can be opened. A [`Plan`] says how it would run.
//!
//! A batch decides nothing about when its fan-in starts: the fan-in is a task that waits for the end of every part, and a task
//! becomes ready once. The batch only follows it ([`Batch::follow`]), so the two cannot disagree.

mod adoption;
mod calibration;
mod draft;
mod event;
mod forecast;
mod manifest;
mod measure;
mod mistake;
mod opening;
mod outcome;
mod plan;
mod reading;
mod record;
mod relations;
#[cfg(test)]
mod simulation;
mod succession;

pub use crate::text::ManifestText;
pub use adoption::{AdoptedBatch, AdoptedMember};
pub use calibration::{Calibration, Factor, Kind, Sample};
pub use event::{BatchCommand, BatchEvent, BatchRefusal};
pub use forecast::{Expected, Forecast};
pub use manifest::{Estimate, FanInSpec, Manifest, OverlapRule, PartSpec, Successor};
pub use measure::{Measured, Report, Stint, StintEnd, stints};
pub use mistake::{Collision, ManifestError, Mistake, Wrong};
pub use opening::{Opening, Publication};
pub use outcome::Outcome;
pub use plan::{Basis, Placed, Plan, Room, amdahl};
pub use reading::Rules;
pub use record::{Batch, BatchPart, BatchSpec, BatchState, HistoryError};
pub use succession::{is_built_on, merging_order};
