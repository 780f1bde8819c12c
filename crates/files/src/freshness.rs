//! How lately anything in a tree of files was changed, found by looking and within a bound.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Where a program keeps what nobody edits, and where much lies.
const PASSED_OVER: [&str; 4] = [".git", "node_modules", "target", ".venv"];

/// The newest time of change below `root`, looking at no more than `most` entries, directories near the root first. A deletion
/// shows in its directory. What cannot be read says nothing.
pub fn newest_change(root: &Path, most: usize) -> Option<SystemTime> {
    let mut newest = None;
    let mut left = VecDeque::from([root.to_path_buf()]);
    let mut looked_at = 0;
    while let Some(directory) = left.pop_front() {
        newest = newest.max(changed(&directory));
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > most {
                return newest;
            }
            let kind = entry.file_type().ok();
            if !kind.is_some_and(|kind| kind.is_dir()) {
                newest = newest.max(changed(&entry.path()));
            } else if !PASSED_OVER.iter().any(|name| entry.file_name() == *name) {
                left.push_back(entry.path());
            }
        }
    }
    newest
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_change_deep_below_is_found_and_one_in_git_is_not() {
        let root = tempfile::TempDir::new().unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let age = |path: &Path| {
            fs::File::open(path)
                .unwrap()
                .set_modified(long_ago)
                .unwrap();
        };
        for name in ["a/b/c", ".git/x"] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            age(&path);
        }
        for name in ["a/b", "a", ""] {
            age(&root.path().join(name));
        }
        assert_eq!(newest_change(root.path(), 100), Some(long_ago));
        let later = long_ago + Duration::from_secs(5);
        let touch = |name: &str| {
            fs::File::open(root.path().join(name))
                .unwrap()
                .set_modified(later)
        };
        touch(".git/x").unwrap();
        assert_eq!(newest_change(root.path(), 100), Some(long_ago));
        touch("a/b/c").unwrap();
        assert_eq!(newest_change(root.path(), 100), Some(later));
        assert_eq!(newest_change(&root.path().join("nowhere"), 100), None);
    }
}
