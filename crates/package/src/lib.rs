//! The package: a sealed snapshot of what one session hands to the next.
//!
//! | module | noun |
//! |---|---|
//! | [`payload`] | what is in a package |
//! | [`mod@seal`] | a package as bytes, and bytes as a package |
//! | [`key`], [`keyring`] | who sealed it, and whom a person trusts |
//! | [`secret`] | what must not go into one |
//! | [`shelf`] | sealed packages and attachments on disk |
//! | [`attachment`], [`blobs`] | a file that goes with a package, and where its content is kept |
//! | [`hashing`] | content that is compared with its digest while it is read |
//! | [`bundle`] | a package on its way to another place |
//! | [`protocol`] | packages of the Handoff Protocol, which have no seal |
//! | [`resumption`] | whether the place to go on exists where a package is received |
//! | [`schema`] | the format for other programs |
//!
//! A package is data. Opening one runs nothing, reads no other file and believes nothing before the bytes are verified. Who
//! may receive it, and whether it is too late, is decided by `handoff-core` and kept in the ledger.

#![warn(missing_docs)]

pub mod attachment;
pub mod blobs;
pub mod bundle;
mod frame;
pub mod hashing;
pub mod key;
pub mod keyring;
pub mod payload;
pub mod protocol;
pub mod resumption;
pub mod schema;
pub mod seal;
pub mod secret;
pub mod shelf;

pub use blobs::{BlobError, Blobs};
pub use hashing::digest_of;
pub use key::{KeyPair, PublicKey};
pub use keyring::{KeyStanding, Keyring, KeyringError};
pub use payload::{Package, Payload};
pub use seal::{OpenError, Opened, SealError, Sealed, open, seal};
pub use secret::{Clean, SecretsError};
pub use shelf::{LoadError, Shelf, ShelfError};
