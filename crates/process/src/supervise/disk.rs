//! How much was written to disk since a command began.
//!
//! Going through a tree takes long, so it is done only when a file system has lost as much room as may be written at all.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use rustix::fs::statvfs;
use rustix::time::{ClockId, clock_gettime};

use crate::clock;

/// Between two times of going through everything.
const WALK: Duration = Duration::from_secs(1);
/// What `blocks` counts.
const BLOCK: u64 = 512;

pub(super) struct Disk {
    places: Vec<PathBuf>,
    /// The room on the file system of each place then.
    room: Vec<Option<u64>>,
    /// By the clock that files have, in seconds.
    since: i64,
    walked_at: Option<Duration>,
}

impl Disk {
    /// How things are now.
    pub(super) fn before(places: &[PathBuf]) -> Self {
        let room = places.iter().map(room).collect();
        Self {
            places: places.to_vec(),
            room,
            // What was written before in the same second is counted too.
            since: clock_gettime(ClockId::Realtime).tv_sec,
            walked_at: None,
        }
    }

    /// How many bytes were written, also to files that have no name any more; 0 where it cannot be over `bound`.
    pub(super) fn written(&mut self, pids: &[u32], bound: u64) -> u64 {
        let lost = |(place, before): (&PathBuf, &Option<u64>)| {
            Some(before.as_ref()?.saturating_sub(room(place)?))
        };
        let most = self.places.iter().zip(&self.room).filter_map(lost).max();
        let now = clock::awake();
        let is_recent = |at: Duration| now.saturating_sub(at) < WALK;
        if most.is_none_or(|it| it <= bound) || self.walked_at.is_some_and(is_recent) {
            return 0;
        }
        self.walked_at = Some(now);
        self.in_places() + nameless(pids)
    }

    fn in_places(&self) -> u64 {
        let mut left = self.places.clone();
        let mut bytes = 0;
        while let Some(place) = left.pop() {
            let Ok(entry) = fs::symlink_metadata(&place) else {
                continue;
            };
            if entry.ctime() >= self.since {
                bytes += entry.blocks() * BLOCK;
            }
            if entry.is_dir() {
                let entries = fs::read_dir(&place).into_iter().flatten().flatten();
                left.extend(entries.map(|it| it.path()));
            }
        }
        bytes
    }
}

fn room(place: &PathBuf) -> Option<u64> {
    let found = statvfs(place).ok()?;
    Some(found.f_bfree * found.f_frsize)
}

/// Files that were removed while somebody has them open.
fn nameless(pids: &[u32]) -> u64 {
    let mut seen = std::collections::HashSet::new();
    let mut bytes = 0;
    for pid in pids {
        let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
            continue;
        };
        for entry in entries.flatten() {
            let Ok(file) = fs::metadata(entry.path()) else {
                continue;
            };
            if file.is_file() && file.nlink() == 0 && seen.insert((file.dev(), file.ino())) {
                bytes += file.blocks() * BLOCK;
            }
        }
    }
    bytes
}
