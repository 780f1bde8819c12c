//! Features: which one is meant, what is known of it, the right to write into its documents.

pub mod advice;
pub mod clerk;
mod feature_ref;
pub mod pen;
pub mod plan_view;
mod site;
pub mod standing;
pub mod survey;

pub use feature_ref::FeatureRef;
pub use site::{FeatureSite, seen};
