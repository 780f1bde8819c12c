//! A clock that only the test moves.

use std::cell::RefCell;
use std::time::Duration;

use handoff_core::time::{Clock, Moment, Nanos};
use handoff_core::{Now, Timeline, Timestamp};

/// Time stands still until the test says otherwise.
#[derive(Debug)]
pub struct ManualClock(RefCell<Now>);

impl Default for ManualClock {
    fn default() -> Self {
        let start = Nanos(0).after(Duration::from_secs(1_000));
        Self(RefCell::new(Now {
            wall: Timestamp::from_second(1_800_000_000).expect("a time in range"),
            moment: Moment {
                timeline: Timeline::of_boot("first"),
                elapsed: start,
                awake: start,
            },
        }))
    }
}

impl ManualClock {
    /// Everything goes on by `span`.
    pub fn pass(&self, span: Duration) {
        let mut now = self.0.borrow_mut();
        now.wall += span;
        now.moment.elapsed = now.moment.elapsed.after(span);
        now.moment.awake = now.moment.awake.after(span);
    }

    /// Someone sets the wall clock; nothing else moves.
    pub fn jump(&self, seconds: i64) {
        let mut now = self.0.borrow_mut();
        now.wall = Timestamp::from_second(now.wall.as_second() + seconds).expect("a time in range");
    }

    /// The machine sleeps for `span`.
    pub fn suspend(&self, span: Duration) {
        let mut now = self.0.borrow_mut();
        now.wall += span;
        now.moment.elapsed = now.moment.elapsed.after(span);
    }

    /// The machine starts anew.
    pub fn reboot(&self) {
        let mut now = self.0.borrow_mut();
        now.moment.timeline = Timeline::of_boot("second");
        now.moment.elapsed = Nanos(1);
        now.moment.awake = Nanos(1);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Now {
        self.0.borrow().clone()
    }
}
