//! Entries of one index put into another, without running git.
//!
//! Somebody staged something while a commit was made. Their index gets the entries that git wrote into the booth's, if it
//! still has there what it had when the commit was begun; what else is there now is somebody's, and stays. Anything
//! unusual is left to git, which needs four processes for the same.

use std::collections::BTreeMap;

use super::cache_tree;
use super::index_file::{DIGEST, Extension, IndexEntry, IndexFile};
use crate::sha1::sha1;
use crate::tree_path::TreePath;

/// Three states of an index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Graft<'a> {
    /// The shared one, as it is now.
    pub(super) shared: &'a [u8],
    /// The same when the commit was begun.
    pub(super) before: &'a [u8],
    /// That with the entries of the commit.
    pub(super) after: &'a [u8],
}

/// Sorted as git sorts them. The number is the stage.
type Sorted<'a> = BTreeMap<(&'a [u8], u16), IndexEntry<'a>>;

impl Graft<'_> {
    /// The shared index with the entries of the commit at these paths; none if that is for git to do.
    pub(super) fn grown(&self, paths: &[TreePath]) -> Option<Vec<u8>> {
        let [shared, before, after] = [self.shared, self.before, self.after].map(IndexFile::parse);
        let (shared, before, after) = (shared?, before?, after?);
        let is_usual = [&shared, &before, &after].iter().all(|it| it.is_whole());
        if shared.version != after.version || !is_usual {
            return None;
        }
        let (before, after) = (sorted(&before), sorted(&after));
        let mut entries = sorted(&shared);
        for path in paths {
            let name = path.as_bytes();
            let is_unmerged = [&entries, &before, &after]
                .iter()
                .any(|it| it.range((name, 1)..=(name, u16::MAX)).next().is_some());
            if is_unmerged {
                return None;
            }
            let key = (name, 0);
            let content = |it: &Sorted<'_>| it.get(&key).map(IndexEntry::content);
            if content(&entries) == content(&before) {
                put(&mut entries, name, after.get(&key).copied())?;
            }
        }
        let extensions = extensions(&shared, paths)?;
        Some(written(&shared, &entries, &extensions))
    }
}

fn sorted<'a>(index: &IndexFile<'a>) -> Sorted<'a> {
    let entries = index.entries.iter();
    entries.map(|it| ((it.name, it.stage()), *it)).collect()
}

/// None if there is a file where a directory has to be, or a directory where a file.
fn put<'a>(entries: &mut Sorted<'a>, name: &'a [u8], entry: Option<IndexEntry<'a>>) -> Option<()> {
    let key = (name, 0);
    let Some(entry) = entry else {
        entries.remove(&key);
        return Some(());
    };
    if !entries.contains_key(&key) && is_taken(entries, name) {
        return None;
    }
    entries.insert(key, entry);
    Some(())
}

fn is_taken(entries: &Sorted<'_>, name: &[u8]) -> bool {
    let has = |from: &[u8], is_meant: &dyn Fn(&[u8]) -> bool| {
        let next = entries.range((from, 0)..).next();
        next.is_some_and(|((name, _), _)| is_meant(name))
    };
    let directory = [name, b"/"].concat();
    let slashes = (0..name.len()).filter(|&place| name[place] == b'/');
    let mut above = slashes.map(|place| &name[..place]);
    has(&directory, &|it| it.starts_with(&directory))
        || above.any(|file| has(file, &|it| it == file))
}

/// Those that stay true; none if there is one of which that is not known. Where entries begin is true of no other file.
fn extensions(index: &IndexFile<'_>, paths: &[TreePath]) -> Option<Vec<u8>> {
    let mut kept = vec![];
    for Extension { name, content } in &index.extensions {
        match name {
            b"TREE" => {
                let names = paths.iter().map(TreePath::as_bytes);
                write_extension(*name, &cache_tree::forgetting(content, names)?, &mut kept)?;
            }
            b"REUC" => write_extension(*name, content, &mut kept)?,
            b"EOIE" | b"IEOT" => {}
            _ => return None,
        }
    }
    Some(kept)
}

fn write_extension(name: [u8; 4], content: &[u8], to: &mut Vec<u8>) -> Option<()> {
    let length = u32::try_from(content.len()).ok()?;
    to.extend(name);
    to.extend(length.to_be_bytes());
    to.extend(content);
    Some(())
}

fn written(like: &IndexFile<'_>, entries: &Sorted<'_>, extensions: &[u8]) -> Vec<u8> {
    let count = u32::try_from(entries.len()).expect("as many as could be read");
    let mut bytes = b"DIRC".to_vec();
    bytes.extend(like.version.to_be_bytes());
    bytes.extend(count.to_be_bytes());
    for entry in entries.values() {
        bytes.extend_from_slice(entry.bytes);
    }
    bytes.extend(extensions);
    let digest = match like.digest {
        zeros if zeros == [0; DIGEST] => [0; DIGEST],
        _ => sha1(&bytes),
    };
    bytes.extend(digest);
    bytes
}

#[cfg(test)]
mod tests;
