//! Hermetic tests: an environment of their own, a real git, a private PostgreSQL, and faults.
//!
//! For tests, benchmarks and campaigns only; nothing that is shipped depends on it, and it depends
//! on neither `engine` nor the binary, so that every crate of the workspace may use it. A fixture
//! that cannot be built panics: a test has no better answer. A fixture the machine cannot offer is
//! a skip, which is counted ([`skip_without`]). The kit signals only processes that it started.

mod ambient;
mod environment;
mod fake_time;
mod injection;
pub mod kata;
mod loop_image;
mod manual_clock;
mod model_server;
mod mount_point;
pub mod namespace;
mod need;
mod normalizer;
pub mod other_uid;
mod output;
pub mod postgres;
mod prefix;
mod repo;
mod skip;
mod tmpfs;

pub use environment::TestEnv;
pub use fake_time::FakeTime;
pub use injection::{Errno, Fault, Injection, SYSCALLS_THAT_CHANGE_FILES, When};
pub use loop_image::{Filesystem, LoopImage};
pub use manual_clock::ManualClock;
pub use model_server::{Call, ModelServer, Step};
pub use need::Need;
pub use normalizer::Normalizer;
pub use output::Output;
pub use prefix::Prefix;
pub use repo::GitRepo;
pub use skip::{SKIP_LOG, skip, skip_without};
pub use tmpfs::Tmpfs;
