//! What a holder says at its lock: what its agent does. Whoever lists a hundred sessions reads that with the lock, and wakes
//! nobody.
//!
//! It is written before the journal tells of the same change, so that nobody who heard of one finds an older notice. Where there is
//! none (a full disk, the first milliseconds), the holder is asked.

use handoff_agents::Block;
use handoff_core::time::Nanos;
use serde::{Deserialize, Serialize};

use crate::state::{Phase, Source, Verdict};

/// What an agent does, as its holder has published it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub state: Phase,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Block>,
    pub source: Source,
    /// Since when, on the clock that stands still while the machine sleeps: a notice does not outlive its boot.
    pub since: Nanos,
}

impl Notice {
    pub const fn of(verdict: Verdict, since: Nanos) -> Self {
        Self {
            state: verdict.state.phase(),
            kind: verdict.state.block(),
            source: verdict.source,
            since,
        }
    }

    pub(crate) fn to_text(self) -> String {
        serde_json::to_string(&self).expect("a notice has only text as keys")
    }

    /// What is no notice says nothing.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::State;

    #[test]
    fn the_longest_notice_has_room_at_a_lock_and_reads_back() {
        let verdict = Verdict {
            state: State::Blocked(Block::Permission),
            source: Source::Foreground,
        };
        let notice = Notice::of(verdict, Nanos(i64::MAX));
        let place = tempfile::TempDir::new().unwrap();
        let path = place.path().join("lock");
        let lock = handoff_files::Lock::acquire(&path, "").unwrap();
        lock.note(&notice.to_text()).unwrap();
        let held = handoff_files::Lock::look(&path).unwrap().unwrap();
        assert_eq!(Notice::parse(&held.note.unwrap()), Some(notice));
        assert_eq!(Notice::parse("busy"), None);
    }
}
