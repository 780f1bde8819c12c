//! The machine we run on: its clocks, its randomness, and the programs we start on it.
//!
//! | module | noun |
//! |---|---|
//! | [`clock`] | the wall clock, and the clocks that leases run on |
//! | [`id`] | fresh ids |
//! | [`program`] | a program to run, described completely |
//! | [`launch`] | starting it, bound to the life of its starter |
//! | [`child`] | a running program, and how it ends |
//! | [`capture`] | what a program printed, within a bound |
//! | [`mod@output`] | running a program to its end |
//! | [`mod@replace`] | becoming another program |
//! | [`sandbox`] | what a program may change, held by the kernel |
//! | [`terminal`] | a program on a pseudo-terminal of its own |
//! | [`mod@detach`] | starting a program that outlives us |
//! | [`mod@ancestry`] | who stands behind a process |
//! | [`listening`] | where processes wait for connections |
//! | [`peer`] | who is at the other end of a local socket |
//! | [`tree`] | everything that a program has started, and ending all of it |
//! | [`summons`] | being told to end by a signal |
//! | [`mod@ward`] | standing behind a program that may be killed |
//!
//! Nothing here knows a task, a session or git, and nothing is inherited by what is started here:
//! whoever describes a program says its whole environment. Only what this crate started is ever
//! signalled. This is the only crate with unsafe code: what happens before exec, and calls of the
//! kernel that nobody has wrapped.

#![warn(missing_docs)]

pub mod ancestry;
mod birth;
pub mod capture;
pub mod child;
pub mod clock;
mod connecting;
pub mod courtesy;
pub mod detach;
mod exit;
mod file_size;
pub mod id;
mod identity;
mod image;
pub mod launch;
pub mod listening;
pub mod open_files;
pub mod output;
pub mod peer;
mod pipe;
mod process;
pub mod program;
pub mod replace;
pub mod sandbox;
mod signal_name;
mod stat;
pub mod summons;
pub mod supervise;
pub mod terminal;
pub mod tree;
pub mod ward;
mod writeback;

pub use ancestry::{Ancestor, ancestors, ancestry, whole_ancestry};
pub use capture::{Bound, Captured, Stream};
pub use child::{Child, WaitError};
pub use clock::{ClockError, SystemClock};
pub use connecting::{Connector, connector};
pub use courtesy::step_back;
pub use detach::{Detached, Report, detach};
pub use exit::Exit;
pub use file_size::survive_size_limit;
pub use id::{mint, random};
pub use identity::Identity;
pub use launch::{StartError, start};
pub use listening::listening_ports;
pub use open_files::open_files;
pub use output::{Output, RunError, output};
pub use peer::Peer;
pub use program::{Program, Stdin};
pub use replace::{Input, replace};
pub use sandbox::{Kernel, Sandbox, SandboxError};
pub use signal_name::{SignalName, SignalNameError};
pub use summons::{Summoned, Summons};
pub use supervise::{SuperviseError, Supervision, supervise};
pub use terminal::{Size, Terminal, TerminalError};
pub use ward::{WardError, ward};
pub use writeback::begin_writeback;
