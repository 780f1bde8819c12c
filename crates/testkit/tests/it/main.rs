//! The fixtures, tried on this machine.

mod environment;
mod fake_time;
mod injection;
mod loop_image;
mod namespace;
mod other_uid;
mod postgres;
mod repo;
mod skip;
mod tmpfs;
