//! The file of an index, read without running git: what it has at some paths, and all of it for a [`graft`](super::graft).
//!
//! An index of a form that is not known here says nothing, and then git is asked.

use std::collections::BTreeMap;
use std::path::Path;

use crate::loose_object::hex;
use crate::tree_path::TreePath;

/// What an index has at some paths: for each, its entries without what the file system says of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entries(BTreeMap<Vec<u8>, Vec<Vec<u8>>>);

/// An index of version 2 or 3 with ids of SHA-1, taken apart.
#[derive(Debug)]
pub(super) struct IndexFile<'a> {
    pub(super) version: u32,
    pub(super) entries: Vec<IndexEntry<'a>>,
    pub(super) extensions: Vec<Extension<'a>>,
    /// The digest of all of it, or zeros if whoever wrote it was told to leave that out.
    pub(super) digest: &'a [u8],
}

/// One entry; an unmerged path has several.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexEntry<'a> {
    pub(super) name: &'a [u8],
    /// All of it, with the zeros behind the name.
    pub(super) bytes: &'a [u8],
    /// Where the name begins.
    start: usize,
}

/// What stands behind the entries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extension<'a> {
    pub(super) name: [u8; 4],
    pub(super) content: &'a [u8],
}

/// Signature, version and count.
const HEADER: usize = 12;
/// Before the mode: times, device and inode, which change without a change of the entry.
const STAT: usize = 24;
/// The length of the mode, which the object id follows in what is kept of an entry.
const MODE: usize = 4;
/// Before the object id: owner and size besides.
const OBJECT: usize = 40;
/// Behind it.
const FLAGS: usize = 60;
/// Up to the name.
const FIXED: usize = 62;
const EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;
/// "Assume unchanged", and, among the further flags, "skip".
const ASSUME: u16 = 0x8000;
const SKIP: u16 = 0x4000;
/// The length of a digest.
pub(super) const DIGEST: usize = 20;

impl Entries {
    /// What the index at `file` has at these paths; none if that cannot be told.
    pub(super) fn read(file: &Path, paths: &[TreePath]) -> Option<Self> {
        Self::parse(&std::fs::read(file).ok()?, paths)
    }

    fn parse(bytes: &[u8], paths: &[TreePath]) -> Option<Self> {
        let index = IndexFile::parse(bytes).filter(IndexFile::is_whole)?;
        let mut found: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = paths
            .iter()
            .map(|it| (it.as_bytes().to_owned(), vec![]))
            .collect();
        for entry in index.entries {
            if let Some(kept) = found.get_mut(entry.name) {
                kept.push(entry.content());
            }
        }
        Some(Self(found))
    }
}

impl Entries {
    /// The ids of what is at these paths.
    pub(super) fn objects(&self) -> Vec<String> {
        let ids = self.0.values().flatten();
        ids.filter_map(|content| content.get(MODE..MODE + DIGEST).map(hex))
            .collect()
    }
}

/// Whether an index lets git look at every file that it has: none is assumed to be unchanged, none is to be skipped. An index
/// that cannot be read here is not known to.
pub(crate) fn hides_nothing(file: &Path) -> bool {
    let is_open = |bytes: Vec<u8>| {
        let index = IndexFile::parse(&bytes).filter(IndexFile::is_whole)?;
        Some(!index.entries.iter().any(IndexEntry::is_hidden))
    };
    std::fs::read(file).ok().and_then(is_open).unwrap_or(false)
}

impl<'a> IndexFile<'a> {
    /// None if it is of a form that is not known here.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (version, count) = (number(bytes, 4)?, number(bytes, 8)?);
        if !bytes.starts_with(b"DIRC") || !matches!(version, 2 | 3) {
            return None;
        }
        let end = bytes.len().checked_sub(DIGEST)?;
        let (body, digest) = bytes.split_at(end);
        let mut entries = vec![];
        let mut place = HEADER;
        for _ in 0..count {
            let entry = IndexEntry::parse(body.get(place..)?)?;
            place += entry.bytes.len();
            entries.push(entry);
        }
        Some(Self {
            version,
            entries,
            extensions: extensions(body.get(place..)?)?,
            digest,
        })
    }

    /// Whether all entries are in it: one that is split or sparse has some elsewhere.
    pub(super) fn is_whole(&self) -> bool {
        let mut extensions = self.extensions.iter();
        extensions.all(|it| !matches!(&it.name, b"link" | b"sdir"))
    }
}

impl<'a> IndexEntry<'a> {
    /// The one at the beginning of `bytes`.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let flags = u16::from_be_bytes(bytes.get(FLAGS..FIXED)?.try_into().ok()?);
        let start = if flags & EXTENDED == 0 {
            FIXED
        } else {
            FIXED + 2
        };
        let length = bytes.get(start..)?.iter().position(|&byte| byte == 0)?;
        // Names end in one to eight zeros, so that entries begin at multiples of eight.
        let end = (start + length + 8) & !7;
        Some(Self {
            name: &bytes[start..start + length],
            bytes: bytes.get(..end)?,
            start,
        })
    }

    /// Mode, object and flags: all but what the file system says of the file.
    pub(super) fn content(&self) -> Vec<u8> {
        let (mode, rest) = (
            &self.bytes[STAT..STAT + MODE],
            &self.bytes[OBJECT..self.start],
        );
        [mode, rest].concat()
    }

    fn is_hidden(&self) -> bool {
        let flags = |place| u16::from_be_bytes([self.bytes[place], self.bytes[place + 1]]);
        let is_skipped = self.start > FIXED && flags(FIXED) & SKIP != 0;
        flags(FLAGS) & ASSUME != 0 || is_skipped
    }

    /// What it says of the file, if it is one that git looks at as a matter of course: it has its bits, and its object.
    pub(super) fn plain(&self) -> Option<(u32, &'a [u8])> {
        let is_plain = self.stage() == 0 && self.start == FIXED && !self.is_hidden();
        let content = (number(self.bytes, STAT)?, &self.bytes[OBJECT..FLAGS]);
        is_plain.then_some(content)
    }

    /// Zero, unless its path is unmerged.
    pub(super) fn stage(&self) -> u16 {
        u16::from_be_bytes([self.bytes[FLAGS], self.bytes[FLAGS + 1]]) & STAGE
    }
}

/// Name, length and content, to the end.
fn extensions(mut bytes: &[u8]) -> Option<Vec<Extension<'_>>> {
    let mut found = vec![];
    while !bytes.is_empty() {
        let name = bytes.get(..4)?.try_into().ok()?;
        let length = usize::try_from(number(bytes, 4)?).ok()?;
        let (content, rest) = bytes.get(8..)?.split_at_checked(length)?;
        found.push(Extension { name, content });
        bytes = rest;
    }
    Some(found)
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
