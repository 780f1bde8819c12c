//! How the agent passes the time.

use std::hint;
use std::time::Duration;

use handoff_agents::scripted::{Spin, Wait};

use crate::clock::{self, Deadline};

pub(super) fn wait(wait: &Wait) {
    clock::sleep(wait.period.as_duration());
}

pub(super) fn spin(spin: &Spin) {
    let end = Deadline::after(Some(spin.period));
    while !end.has_passed() {
        hint::spin_loop();
    }
}

pub(super) fn hang() -> ! {
    loop {
        clock::sleep(Duration::from_hours(1));
    }
}
