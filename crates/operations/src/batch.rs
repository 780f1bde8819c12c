//! Batches: listing them, looking at one.

mod list;
mod see;
pub mod view;

pub use list::{ListBatches, row};
pub use see::{ReportBatch, SeeBatch, find};
