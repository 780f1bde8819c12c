//! A record that tells what the agent does while it does it.
//!
//! It is written for another purpose: what an agent does besides turns is not in it, and a line that is never written would be
//! waited for for ever. So what it says counts for a moment, in which the screen follows, and then the screen decides.

use std::path::Path;
use std::time::Duration;

use handoff_core::time::Nanos;
use handoff_files::{Wake, Watch};

use super::TRY_INTERVAL;

/// What a screen may take to show it.
const COUNTS_FOR: Duration = Duration::from_millis(1500);

#[derive(Default)]
pub(super) struct OwnRecord {
    watch: Option<Watch>,
    try_at: Option<Nanos>,
    /// When what it said last counts no more.
    fades_at: Option<Nanos>,
}

impl OwnRecord {
    pub(super) const fn watch(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    pub(super) const fn look_again(&self) -> Option<Nanos> {
        self.fades_at
    }

    /// Whether it is time to look for the record.
    pub(super) fn is_sought(&mut self, now: Nanos) -> bool {
        let is_due = self.watch.is_none() && self.try_at.is_none_or(|at| now >= at);
        if is_due {
            self.try_at = Some(now.after(TRY_INTERVAL));
        }
        is_due
    }

    /// The record is here. All of it is news.
    pub(super) fn find(&mut self, record: &Path) -> bool {
        self.watch = Watch::on_name(record).ok();
        self.watch.is_some()
    }

    /// Whether it has grown.
    pub(super) fn has_changed(&mut self) -> bool {
        let wake = self.watch.as_mut().map(|it| it.wait(Some(Duration::ZERO)));
        match wake {
            Some(Ok(Wake::Changed)) => true,
            Some(Ok(Wake::Gone) | Err(_)) => {
                self.watch = None;
                false
            }
            Some(Ok(Wake::TimedOut | Wake::Interrupted)) | None => false,
        }
    }

    /// It has said something now.
    pub(super) fn said(&mut self, now: Nanos) {
        self.fades_at = Some(now.after(COUNTS_FOR));
    }

    /// Whether what it said counts no more since now.
    pub(super) fn has_faded(&mut self, now: Nanos) -> bool {
        self.fades_at.take_if(|at| now >= *at).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_says_counts_for_a_moment() {
        let at = |millis| Nanos(0).after(Duration::from_millis(millis));
        let mut record = OwnRecord::default();
        assert!(!record.has_faded(at(9)));
        record.said(at(0));
        assert_eq!(record.look_again(), Some(at(1500)));
        assert!(!record.has_faded(at(1499)) && record.has_faded(at(1500)));
        assert!(!record.has_faded(at(1501)) && record.look_again().is_none());
    }
}
