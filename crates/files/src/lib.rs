//! What every other crate builds its files on: content that is whole or absent, locks that
//! the kernel releases, paths that cannot leave their directory.
//!
//! | module | noun |
//! |---|---|
//! | [`atomic`] | a file written whole or not at all |
//! | [`dir`] | an opened directory and what lies beneath it |
//! | [`entry`] | what stands at a name: directories made, entries moved, links pointed |
//! | [`freshness`] | how lately anything in a tree was changed |
//! | [`lock`] | a kernel lock that dies with its holder, and the bell it rings |
//! | [`filesystem`] | whether a path lies on a disk of this machine |
//! | [`watch`] | waiting for that bell |
//!
//! When a function here that changes a file returns `Ok`, the change is on stable storage.
//! Writing the file comes before writing the row that names it, never the other way round.
//!
//! This crate knows no task, session or package, reads no environment and no clock, and never
//! repairs or re-creates what it finds damaged.

pub mod atomic;
pub mod dir;
pub mod entry;
mod failure;
pub mod filesystem;
pub mod freshness;
pub mod lock;
mod temporary;
pub mod watch;

pub use atomic::{Mode, WriteError};
pub use dir::{Access, Dir, DirError};
pub use entry::{Entry, LinkError, MoveError};
pub use filesystem::{Filesystem, FilesystemError};
pub use lock::{Held, Holder, Lock, LockError};
pub use watch::{Wake, Watch, WatchError};
