//! How far the ledger had come, in a file of its own: what the log has lost cannot be told from the log.
//!
//! A log that is damaged or gone looks like one that ends earlier, and the database without it like one of an hour ago. So each
//! transaction that wrote notes the newest event behind its commit. Nothing waits for this file: after a power cut it may say less
//! than the ledger has, never more, and only more is a finding.

use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use handoff_core::Digest;
use handoff_files::{Access, Dir};
use rusqlite::Connection;

use super::Place;

/// The file.
pub(super) const SEEN: &str = "handoff.seen";

/// A number and enough of its digest to tell that it was written whole.
const LENGTH: usize = 37;

/// The newest event after a commit. That it cannot be noted keeps nobody from working.
pub(super) fn note(connection: &Connection, place: &Place) {
    let open = || Dir::open(&place.home)?.open_beneath(SEEN, Access::Overwrite);
    let noted = newest(connection)
        .map_err(io::Error::other)
        .and_then(|newest| {
            let file = open().map_err(io::Error::other)?;
            file.write_all_at(text(newest).as_bytes(), 0)
        });
    // Whoever audits finds an older number, which says nothing.
    noted.ok();
}

pub(super) fn newest(connection: &Connection) -> rusqlite::Result<i64> {
    let mut look = connection.prepare_cached("SELECT COALESCE(MAX(position), 0) FROM events")?;
    look.query_row([], |row| row.get(0))
}

fn text(newest: i64) -> String {
    let number = format!("{newest:019}");
    let digest = Digest::of(number.as_bytes());
    format!("{number} {}\n", &digest.as_str()[..16])
}

/// How far it had come; none if nobody noted it, or not whole.
pub(super) fn read(home: &Path) -> Option<i64> {
    let mut written = String::new();
    let file = Dir::open(home).and_then(|dir| dir.open_beneath(SEEN, Access::Read));
    let limit = LENGTH as u64;
    file.ok()?.take(limit).read_to_string(&mut written).ok()?;
    let newest = written.get(..19)?.parse().ok()?;
    (text(newest) == written).then_some(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_reads_back_whole_or_not_at_all() {
        let home = tempfile::TempDir::new().unwrap();
        let path = home.path().join(SEEN);
        assert_eq!(read(home.path()), None);
        for number in [0, 7, i64::MAX] {
            std::fs::write(&path, text(number)).unwrap();
            assert_eq!(read(home.path()), Some(number));
        }
        let whole = text(42);
        assert_eq!(whole.len(), LENGTH);
        for cut in 0..LENGTH {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(read(home.path()), None, "{cut}");
        }
        std::fs::write(&path, whole.replace("42 ", "43 ")).unwrap();
        assert_eq!(read(home.path()), None);
    }
}
