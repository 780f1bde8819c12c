//! The objects of a commit that may be new, found without looking through all that the repository has.
//!
//! A commit of some paths has trees of its own only above these paths: all else is as its parent has it. The index that git wrote
//! with it remembers trees too, also those that others' stagings make; the next commit names them unseen, so they must be
//! as sure as the commit's own. Whoever made an object, and however long ago, it is among those that are found.
//!
//! Only for a commit of exactly these paths, which no hook has touched. Each object has to lie in a file of its own, as git makes
//! them; wherever something is not as plain as that, nothing is found, and the repository has to be looked through.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use handoff_core::CommitId;

use super::cache_tree;
use super::index_file::{DIGEST, IndexFile};
use crate::loose_object::{self, hex};
use crate::tree_object::{self, TREE, TreeEntry};
use crate::tree_path::TreePath;

/// With more, the trees above them may be as many as all that there are.
const FEW: usize = 32;

/// Where to look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Making<'a> {
    /// The repository's directory of objects.
    pub(super) objects: &'a Path,
    /// The commit that was made, and the paths that it changes.
    pub(super) commit: &'a CommitId,
    pub(super) changed: &'a [TreePath],
    /// The index before and after it.
    pub(super) before: &'a Path,
    pub(super) after: &'a Path,
}

impl Making<'_> {
    /// The files of the objects; none if they are not known.
    pub(super) fn objects(&self) -> Option<BTreeSet<PathBuf>> {
        let commit = self.commit.as_str();
        if self.changed.len() > FEW || commit.len() != 2 * DIGEST {
            return None;
        }
        let mut ids = BTreeSet::from([commit.to_owned()]);
        let tree = tree_object::of_commit(self.objects, commit)?;
        let paths: Vec<_> = self.changed.iter().map(TreePath::as_bytes).collect();
        self.add_tree(tree, &paths, &mut ids)?;
        let before = remembered(self.before)?;
        ids.extend(remembered(self.after)?.difference(&before).cloned());
        let place = |id: &String| loose_object::place(self.objects, id).filter(|it| it.is_file());
        ids.iter().map(place).collect()
    }

    /// Adds a tree, the trees below it that are above these paths, and what is at them.
    fn add_tree(&self, id: String, paths: &[&[u8]], ids: &mut BTreeSet<String>) -> Option<()> {
        let tree = loose_object::read(self.objects, &id, "tree")?;
        let entries = tree_object::entries(&tree)?;
        ids.insert(id);
        let mut below: BTreeMap<&[u8], Vec<&[u8]>> = BTreeMap::new();
        for path in paths {
            match path.iter().position(|&byte| byte == b'/') {
                Some(place) => below
                    .entry(&path[..place])
                    .or_default()
                    .push(&path[place + 1..]),
                None => ids.extend(entries.get(path).and_then(TreeEntry::content)),
            }
        }
        for (name, paths) in below {
            if let Some(TreeEntry { mode: TREE, id }) = entries.get(name) {
                self.add_tree(hex(id), &paths, ids)?;
            }
        }
        Some(())
    }
}

/// The ids of the trees that an index remembers; none if it is of a form that is not known here.
fn remembered(index: &Path) -> Option<BTreeSet<String>> {
    let bytes = fs::read(index).ok()?;
    let index = IndexFile::parse(&bytes).filter(IndexFile::is_whole)?;
    let trees = index.extensions.iter().find(|it| it.name == *b"TREE");
    let ids = trees.map_or(Some(vec![]), |it| cache_tree::ids(it.content))?;
    Some(ids.into_iter().map(hex).collect())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use handoff_testkit::{GitRepo, TestEnv};

    use super::super::syncing::objects_since;
    use super::*;

    struct Play {
        env: TestEnv,
        repo: GitRepo,
        commit: CommitId,
        /// The objects that were there before.
        old: BTreeSet<PathBuf>,
    }

    /// A commit of `paths` alone, beside what others have staged.
    fn committed(paths: &[&str], first: impl FnOnce(&GitRepo)) -> Play {
        let env = TestEnv::without_binary();
        let repo = env.repo("repo");
        for path in ["top", "a/b/c", "a/b/d", "a/e/f", "g/h"] {
            repo.write(path, path);
        }
        repo.commit("base");
        first(&repo);
        repo.write("g/h", "staged by others").git(["add", "g/h"]);
        let git_dir = repo.path().join(".git");
        fs::copy(git_dir.join("index"), env.work().join("before")).unwrap();
        let old = all_objects(&env, &repo);
        for path in paths {
            repo.write(path, format!("new at {path}"));
        }
        repo.git(["add", "--"].iter().chain(paths));
        let only = ["commit", "--quiet", "--only", "-m", "new", "--"];
        repo.git(only.iter().chain(paths));
        let commit = repo.git(["rev-parse", "HEAD"]).parse().unwrap();
        Play {
            env,
            repo,
            commit,
            old,
        }
    }

    fn all_objects(env: &TestEnv, repo: &GitRepo) -> BTreeSet<PathBuf> {
        let begun = env.work().join("begun");
        let file = File::create(&begun).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let found = objects_since(&repo.path().join(".git/objects"), &begun);
        found.unwrap().into_iter().collect()
    }

    impl Play {
        fn found(&self, paths: &[&str]) -> Option<BTreeSet<PathBuf>> {
            let changed: Vec<_> = { paths.iter() }
                .map(|it| TreePath::from_git(it.as_bytes()))
                .collect();
            let making = Making {
                objects: &self.objects(),
                commit: &self.commit,
                changed: &changed,
                before: &self.env.work().join("before"),
                after: &self.repo.path().join(".git/index"),
            };
            making.objects()
        }

        fn objects(&self) -> PathBuf {
            self.repo.path().join(".git/objects")
        }

        fn needed(&self) -> BTreeSet<PathBuf> {
            let listing = ["rev-list", "--objects", "HEAD", "^HEAD~"];
            let listing = self.repo.git(listing);
            let ids = listing.lines().filter_map(|line| line.split(' ').next());
            let place = |id| loose_object::place(&self.objects(), id);
            ids.filter_map(place).collect()
        }
    }

    #[test]
    fn all_that_the_commit_needs_and_all_that_git_made_is_found() {
        for paths in [
            ["top"].as_slice(),
            &["a/b/c"],
            &["a/b/d", "a/e/f", "new/deep/file", "top"],
        ] {
            let play = committed(paths, |_| {});
            let found = play.found(paths).unwrap();
            assert!(found.is_superset(&play.needed()), "{paths:?}");
            let made = &all_objects(&play.env, &play.repo) - &play.old;
            assert!(found.is_superset(&made), "{paths:?}");
            assert!(made.len() >= 3);
        }
    }

    #[test]
    fn what_was_there_before_is_found_too() {
        let play = committed(&["top"], |repo| {
            repo.write("top", "new at top").git(["add", "top"]);
        });
        let blob = play.repo.git(["rev-parse", "HEAD:top"]);
        let blob = loose_object::place(&play.objects(), &blob).unwrap();
        assert!(play.found(&["top"]).unwrap().contains(&blob));
    }

    #[test]
    fn what_does_not_lie_in_files_of_its_own_is_not_known() {
        let play = committed(&["top"], |_| {});
        assert!(play.found(&["top"; FEW]).is_some());
        assert_eq!(play.found(&["top"; FEW + 1]), None);
        let blob = play.repo.git(["rev-parse", "HEAD:top"]);
        fs::remove_file(loose_object::place(&play.objects(), &blob).unwrap()).unwrap();
        assert_eq!(play.found(&["top"]), None);
        play.repo.write("top", "new at top").git(["add", "top"]);
        assert!(play.found(&["top"]).is_some());
        play.repo.git(["repack", "--quiet", "-a", "-d"]);
        assert_eq!(play.found(&["top"]), None);
    }

    #[test]
    fn a_file_that_is_gone_needs_the_trees_that_are_left() {
        let play = committed(&["a/e/f"], |repo| {
            repo.write("a/e/g", "stays").git(["add", "a/e/g"]);
            repo.git(["commit", "--quiet", "-m", "more"]);
        });
        let before = play.env.work().join("before");
        fs::copy(play.repo.path().join(".git/index"), before).unwrap();
        fs::remove_file(play.repo.path().join("a/e/f")).unwrap();
        fs::remove_file(play.repo.path().join("a/b/c")).unwrap();
        fs::remove_file(play.repo.path().join("a/b/d")).unwrap();
        let paths = ["a/b/c", "a/b/d", "a/e/f"];
        let only = ["commit", "--quiet", "--only", "-m", "gone", "--"];
        play.repo.git(only.iter().chain(&paths));
        let commit = play.repo.git(["rev-parse", "HEAD"]).parse().unwrap();
        let play = Play { commit, ..play };
        assert!(play.found(&paths).unwrap().is_superset(&play.needed()));
    }
}
