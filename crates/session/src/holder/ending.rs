//! How a holder ends.

use std::io;
use std::time::Duration;

use handoff_core::time::Nanos;
use handoff_process::tree;

use super::{Draught, Holder, HolderError};
use crate::catalogue;
use crate::confinement;
use crate::control::Stopped;
use crate::journal::Event;
use crate::place;
use crate::record::{Ended, Ending};

/// What was killed is gone within this time, or the kernel cannot end it.
const DEATH_TAKES: Duration = Duration::from_secs(5);

impl Holder<'_> {
    /// The agent has ended: ends what it left behind, and puts its end on record before anybody is told.
    pub(super) fn finish(mut self) -> Result<(), HolderError> {
        let exit = self.terminal.exit().map_err(HolderError::Exit)?;
        let exit = exit.ok_or_else(|| HolderError::Exit(io::ErrorKind::NotFound.into()))?;
        let exit = Ending::try_from(exit).map_err(HolderError::Exit)?;
        self.errands.end();
        let spared = || catalogue::holders(&self.places);
        let left = tree::end(spared, DEATH_TAKES).map_err(HolderError::Tree)?;
        let left: Vec<u32> = left.into_iter().map(|process| process.pid).collect();
        confinement::remove_private(&self.places, self.record.id);
        let now = self.now();
        while self
            .read_mouthful(Draught::Whole, now)
            .map_err(HolderError::Read)?
            > 0
        {}
        // What it says of itself with its last words is told before its end, however soon that comes.
        self.publish(now)?;
        self.signs.ended();
        self.publish(now)?;
        self.hear_turns(now);
        self.end_choice();
        self.fail_waiting();
        self.record.ended = Some(Ended {
            at: self.clock.now().wall,
            exit,
            left: left.clone(),
        });
        self.record.write_end(&self.directory)?;
        // Where the journal has no room for it, the record and the lock tell of the end.
        let noted = self.note(Event::Exited { exit });
        self.feed();
        let by = self.stopping.by().map(str::to_owned);
        self.farewell(&Stopped { exit, by, left }, now);
        noted
    }

    /// The last answers and the last picture.
    fn farewell(&mut self, stopped: &Stopped, now: Nanos) {
        self.socket.close();
        if self.network.is_some() {
            // Left behind it opens nothing: its digest goes with us.
            self.directory.remove(place::NETWORK_TOKEN).ok();
        }
        for guest in &mut self.guests {
            guest.part(stopped, &self.screen, now);
        }
    }
}
