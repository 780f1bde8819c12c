use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use handoff_testkit::{GitRepo, TestEnv};

use super::*;

/// A repository in which ours and theirs are staged in turns, each beginning with the same index.
struct Orchard {
    _env: TestEnv,
    repo: GitRepo,
    index: PathBuf,
    before: Vec<u8>,
}

impl Orchard {
    fn new() -> Self {
        let env = TestEnv::without_binary();
        let repo = env.repo("repo");
        for name in ["dir/kept", "dir/mine", "gone", "mine", "other/theirs"] {
            repo.write(name, "old");
        }
        repo.commit("base");
        // Now it knows the trees of all its directories.
        repo.git(["write-tree"]);
        let index = repo.path().join(".git/index");
        let before = fs::read(&index).unwrap();
        Self {
            _env: env,
            repo,
            index,
            before,
        }
    }

    /// What the index is after this; then it is as it was.
    fn after(&self, act: impl Fn(&GitRepo)) -> Vec<u8> {
        act(&self.repo);
        let after = fs::read(&self.index).unwrap();
        fs::write(&self.index, &self.before).unwrap();
        after
    }

    fn grown(&self, ours: impl Fn(&GitRepo), theirs: impl Fn(&GitRepo)) -> Option<Vec<u8>> {
        let graft = Graft {
            after: &self.after(ours),
            shared: &self.after(theirs),
            before: &self.before,
        };
        let paths = ["dir/mine", "gone", "mine", "new/one"];
        graft.grown(&paths.map(|it| TreePath::from_git(it.as_bytes())))
    }

    /// What git says of an index: its entries, the tree that it is, and whether it is sound.
    fn told(&self, index: &[u8]) -> [String; 3] {
        fs::write(&self.index, index).unwrap();
        let told = [
            self.repo.git(["ls-files", "--stage"]),
            self.repo.git(["write-tree"]),
            self.repo.git(["fsck", "--no-dangling"]),
        ];
        fs::write(&self.index, &self.before).unwrap();
        told
    }
}

fn stage(repo: &GitRepo, names: &[&str]) {
    let words = ["add", "--all", "--"]
        .into_iter()
        .chain(names.iter().copied());
    repo.git(words.map(OsString::from));
}

fn ours(repo: &GitRepo) {
    repo.write("dir/mine", "new").write("mine", "new");
    repo.write("new/one", "new");
    fs::remove_file(repo.path().join("gone")).ok();
    stage(repo, &["dir/mine", "mine", "new/one"]);
    repo.git(["rm", "--quiet", "--cached", "gone"]);
}

fn theirs(repo: &GitRepo) {
    repo.write("other/theirs", "staged")
        .write("other/more", "staged");
    stage(repo, &["other/theirs", "other/more"]);
}

#[test]
fn a_graft_is_what_git_would_have_made() {
    let orchard = Orchard::new();
    let grown = orchard.grown(ours, theirs).unwrap();
    let both = orchard.after(|repo| {
        theirs(repo);
        ours(repo);
    });
    assert_eq!(orchard.told(&grown), orchard.told(&both));
}

#[test]
fn what_they_staged_of_ours_stays_theirs() {
    let orchard = Orchard::new();
    let both = |repo: &GitRepo| {
        repo.write("mine", "theirs");
        stage(repo, &["mine"]);
    };
    let grown = orchard.grown(ours, both).unwrap();
    let [entries, ..] = orchard.told(&grown);
    let [expected, ..] = orchard.told(&orchard.after(|repo| {
        ours(repo);
        both(repo);
    }));
    assert_eq!(entries, expected);
}

#[test]
fn an_index_without_a_digest_stays_one() {
    let orchard = Orchard::new();
    let unsigned = |repo: &GitRepo| {
        repo.git(["config", "index.skipHash", "true"]);
        theirs(repo);
    };
    let grown = orchard.grown(ours, unsigned).unwrap();
    assert_eq!(grown[grown.len() - DIGEST..], [0; DIGEST]);
}

#[test]
fn what_is_unusual_is_left_to_git() {
    let orchard = Orchard::new();
    let in_the_way: [fn(&GitRepo); 3] = [
        // A file where ours needs a directory.
        |repo| {
            fs::remove_dir_all(repo.path().join("new")).ok();
            repo.write("new", "a file");
            stage(repo, &["new"]);
            fs::remove_file(repo.path().join("new")).unwrap();
        },
        // Another version of the form.
        |repo| {
            repo.git(["update-index", "--index-version", "4"]);
        },
        // What is known of untracked files, of which we know nothing.
        |repo| {
            repo.git(["update-index", "--force-untracked-cache"]);
        },
    ];
    for theirs in in_the_way {
        assert_eq!(orchard.grown(ours, theirs), None);
    }
    let damaged = Graft {
        shared: b"DIRC",
        before: &orchard.before,
        after: &orchard.before,
    };
    assert_eq!(damaged.grown(&[]), None);
}
