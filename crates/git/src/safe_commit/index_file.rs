//! What an index has at some paths, read without running git: to see whether it still has the same.
//!
//! Nothing else is decided by it. An index of a form that is not known here says nothing, and then
//! git is asked.

use std::collections::BTreeMap;
use std::path::Path;

use crate::tree_path::TreePath;

/// What an index has at some paths: for each, its entries without what the file system says of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entries(BTreeMap<Vec<u8>, Vec<Vec<u8>>>);

/// Before the mode: times, device and inode, which change without a change of the entry.
const STAT: usize = 24;
/// Up to the name: stat, mode, owner, size, object id (SHA-1), flags.
const FIXED: usize = 62;
const EXTENDED: u16 = 0x4000;

impl Entries {
    /// What the index at `file` has at these paths; none if that cannot be told.
    pub(super) fn read(file: &Path, paths: &[TreePath]) -> Option<Self> {
        Self::parse(&std::fs::read(file).ok()?, paths)
    }

    fn parse(bytes: &[u8], paths: &[TreePath]) -> Option<Self> {
        let (version, count) = (number(bytes, 4)?, number(bytes, 8)?);
        if !bytes.starts_with(b"DIRC") || !matches!(version, 2 | 3) {
            return None;
        }
        let mut found: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = paths
            .iter()
            .map(|it| (it.as_bytes().to_owned(), vec![]))
            .collect();
        let mut place = 12;
        for _ in 0..count {
            let entry = bytes.get(place..)?;
            let flags = u16::from_be_bytes(entry.get(60..62)?.try_into().ok()?);
            let start = if flags & EXTENDED == 0 {
                FIXED
            } else {
                FIXED + 2
            };
            let length = entry.get(start..)?.iter().position(|&byte| byte == 0)?;
            let name = &entry[start..start + length];
            if let Some(kept) = found.get_mut(name) {
                kept.push([&entry[STAT..STAT + 4], &entry[40..start]].concat());
            }
            // Names end in one to eight zeros, so that entries begin at multiples of eight.
            place += (start + length + 8) & !7;
        }
        // An index that is only half of one says so behind its entries.
        let is_split = bytes.get(place..place + 4)? == b"link";
        (!is_split).then_some(Self(found))
    }
}

fn number(bytes: &[u8], place: usize) -> Option<u32> {
    let four = bytes.get(place..place + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use handoff_testkit::TestEnv;

    use super::*;

    #[test]
    fn entries_change_when_git_changes_them_and_not_otherwise() {
        let env = TestEnv::without_binary();
        let repo = env.repo("repo");
        repo.write("a", "1")
            .write("some/longer/name", "1")
            .commit("base");
        let file = repo.path().join(".git/index");
        let paths = ["a", "some/longer/name", "none"].map(|it| TreePath::from_git(it.as_bytes()));
        let read = || Entries::read(&file, &paths).unwrap();
        let before = read();
        assert_eq!(
            before.0.values().map(Vec::len).collect::<Vec<_>>(),
            [1, 0, 1]
        );
        repo.write("b", "staged").git(["add", "b"]);
        assert_eq!(read(), before);
        repo.write("a", "2").git(["add", "a"]);
        let staged = read();
        assert_ne!(staged, before);
        repo.git(["update-index", "--chmod=+x", "a"]);
        assert_ne!(read(), staged);
        repo.git(["rm", "--quiet", "--cached", "some/longer/name"]);
        assert_eq!(
            read().0.values().map(Vec::len).collect::<Vec<_>>(),
            [1, 0, 0]
        );
    }

    #[test]
    fn what_is_not_known_says_nothing() {
        assert_eq!(Entries::parse(b"", &[]), None);
        assert_eq!(Entries::parse(b"DIRC\0\0\0\x04\0\0\0\0", &[]), None);
        assert_eq!(Entries::parse(b"DIRC\0\0\0\x02\0\0\0\x01", &[]), None);
    }
}
