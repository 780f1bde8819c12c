//! Runs of the workflow `tdd` on small real projects: sessions cheat, and everything is killed.

mod cheating;
mod killing;
mod run;
mod world;

pub(super) use cheating::cheat;
pub(super) use killing::{at_random, everywhere};
