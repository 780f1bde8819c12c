//! Letting others go first.

use rustix::process::nice;

/// How far back: work of the usual priority gets about ten times as much of a processor.
const STEPS: i32 = 10;

/// The calling thread, and what it starts from now on, gives way to everything else. There is no way back for it.
pub fn step_back() {
    // Who may not be polite is not.
    nice(STEPS).ok();
}
