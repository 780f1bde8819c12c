//! The package: a sealed snapshot of what one session hands to the next.
//!
//! | module | noun |
//! |---|---|
//! | [`package`] | what is in a package |
//! | [`mod@seal`] | a package as bytes, and bytes as a package |
//! | [`mod@store`] | a sealed package on disk |
//!
//! A package is data. Opening one runs nothing, reads no other file and believes nothing before the
//! bytes are verified. The digest shows damage, not who wrote it: signatures and expiry come later,
//! with a new version of the header.

#![warn(missing_docs)]

mod header;
pub mod package;
pub mod seal;
pub mod store;

pub use package::Package;
pub use seal::{OpenError, SealError, Sealed, open, seal};
pub use store::{LoadError, StoreError, load, store};
