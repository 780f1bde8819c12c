//! Objects that no ref names yet, while somebody prunes.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use handoff_core::{Baseline, Timestamp};
use handoff_git::{CommitLock, CommitRequest, Git, Merge, Merged, TreePath, Version};

use crate::stage::{Stage, paths, write_script};

const PRUNE: &str = "prune --expire=now";
const GC: &str = "gc --quiet --prune=now";

/// Git by a program that prunes the repository after each of its calls: whatever no ref names, and nobody keeps, is gone then.
fn pruning(stage: &Stage) -> Git {
    let place = stage.env.root().join("pruning");
    fs::create_dir_all(&place).unwrap();
    let repo = stage.repo.path().display();
    let command = stage.env.command("git");
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    let mut variables: BTreeMap<_, _> = variables
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let path = variables[OsStr::new("PATH")].clone();
    let mut found = std::env::split_paths(&path).map(|it| it.join("git"));
    let real = found.find(|it| it.is_file()).unwrap();
    let real = real.display();
    let clear = "for name in $(env | sed -n 's/^\\(GIT_[A-Z_]*\\)=.*/\\1/p'); do case $name in GIT_CONFIG_GLOBAL|GIT_CONFIG_NOSYSTEM) ;; *) unset $name;; esac; done";
    write_script(
        &place.join("git"),
        &format!(
            "'{real}' \"$@\"\nstatus=$?\n({clear}\nexec '{real}' -C '{repo}' {PRUNE} </dev/null >/dev/null 2>&1)\nexit $status\n"
        ),
    );
    let path = std::env::split_paths(&path);
    let path = std::env::join_paths([place].into_iter().chain(path)).unwrap();
    variables.insert("PATH".into(), path);
    Git::new(variables)
}

fn check(stage: &Stage, what: &str) {
    let fsck = ["fsck", "--connectivity-only", "--no-dangling"];
    let said = stage.env.run(stage.repo.command(fsck));
    assert!(said.status.success(), "{what}: {}", said.snapshot());
}

fn begun() -> Stage {
    let stage = Stage::new();
    stage
        .repo
        .write("mine", "1\n")
        .write("deep/er/file", "1\n")
        .commit("base");
    stage
}

#[test]
fn every_way_to_commit_survives_a_prune_after_each_call_of_git() {
    let stage = begun();
    let git = pruning(&stage);
    let at = stage.here();
    stage.repo.write("mine", "2\n").write("deep/er/new", "2\n");
    git.commit_paths(&at, &paths(["mine", "deep/er/new"]), "m\n")
        .unwrap();
    check(&stage, "commit_paths");

    stage.repo.write("mine", "3\n").write("deep/er/new", "3\n");
    let snapshot = git.snapshot(&at).unwrap();
    stage.repo.git(GC.split(' '));
    git.commit_snapshot(&at, &snapshot, "m\n").unwrap();
    drop(snapshot);
    check(&stage, "commit_snapshot");

    stage.repo.write("mine", "4\n").write("untracked", "4\n");
    let branch = "handoff/work".parse().unwrap();
    git.quarantine(&at, &branch).unwrap().unwrap();
    check(&stage, "quarantine");
    stage.repo.git(["checkout", "--quiet", "mine"]);

    let base = stage.head();
    stage.repo.git(["checkout", "--quiet", "-b", "one"]);
    stage.repo.write("one", "1").commit("one");
    let one = stage.head();
    stage
        .repo
        .git(["checkout", "--quiet", "-b", "two", base.as_str()]);
    stage.repo.write("two", "2").commit("two");
    let two = stage.head();
    let merge = Merge {
        ours: &one,
        theirs: &two,
        message: "m\n",
        at: Timestamp::UNIX_EPOCH,
    };
    let Merged::Clean(commit, kept) = git.merge(&at, &merge).unwrap() else {
        panic!("they do not touch");
    };
    stage.repo.git(GC.split(' '));
    git.point_branch(&at, &branch, &commit).unwrap();
    drop(kept);
    check(&stage, "merge");
    stage.repo.git(GC.split(' '));
    check(&stage, "later");
}

#[test]
fn a_prune_that_listed_the_refs_before_the_commit_landed_takes_nothing_of_it() {
    let stage = begun();
    let old = stage.head();
    for (file, text) in [
        ("mine", "2\n"),
        ("deep/er/file", "3\n"),
        ("new/deep/file", "4\n"),
    ] {
        stage.repo.write(file, text);
        stage.safe_commit(&[file]).unwrap();
    }
    // What such a prune unlinks: every loose object that the refs of then do not reach.
    let listing = stage
        .repo
        .git(["rev-list", "--objects", "HEAD", &format!("^{old}")]);
    let mut removed = 0;
    for id in listing.lines().filter_map(|line| line.split(' ').next()) {
        let file = stage
            .repo
            .path()
            .join(".git/objects")
            .join(&id[..2])
            .join(&id[2..]);
        removed += usize::from(fs::remove_file(file).is_ok());
    }
    assert!(removed > 0);
    check(&stage, "safe-commit");
    stage.repo.git(GC.split(' '));
    check(&stage, "safe-commit, later");
}

#[test]
fn a_prune_in_any_hook_does_not_spoil_the_commit() {
    let before = ["pre-commit", "prepare-commit-msg", "commit-msg"].map(|hook| (PRUNE, hook));
    let others = [(GC, "commit-msg"), (PRUNE, "reference-transaction")];
    for (how, hook) in before.into_iter().chain(others) {
        let stage = begun();
        stage.hook(
            hook,
            &format!("[ -z \"$INSIDE\" ] || exit 0\nexport INSIDE=1\necho ran >>ran\ngit {how}"),
        );
        stage.repo.write("mine", "2\n");
        let made = stage.safe_commit(&["mine"]).unwrap();
        check(&stage, hook);
        assert_eq!(made.commit, stage.head());
        assert_eq!(stage.repo.git(["show", "HEAD:mine"]), "2");
        let ran = fs::read_to_string(stage.repo.path().join("ran")).unwrap();
        let is_again = ran.lines().count() > 1 && hook != "reference-transaction";
        assert_eq!(
            is_again,
            made.said.contains("the hooks ran again"),
            "{hook}: {}",
            made.said
        );
        assert_eq!(keeps(stage.repo.path()), 0, "{hook}");
    }
}

#[test]
fn a_hooks_own_objects_stay_in_the_repository() {
    let stage = begun();
    stage.hook(
        "pre-commit",
        "git update-ref refs/stash \"$(git stash create)\"\ngit prune --expire=now",
    );
    stage.repo.write("mine", "2\n");
    stage.safe_commit(&["mine"]).unwrap();
    check(&stage, "stash");
    assert_eq!(stage.repo.git(["show", "refs/stash:mine"]), "2");
}

#[test]
fn objects_are_kept_between_the_commit_and_its_landing() {
    for how in [PRUNE, GC] {
        let stage = begun();
        let at = stage.here();
        let lock = CommitLock::take(&at, "test", Timestamp::UNIX_EPOCH).unwrap();
        stage.repo.write("mine", "2\n");
        let request = CommitRequest {
            paths: &[
                TreePath::locate(stage.repo.path(), stage.repo.path(), OsStr::new("mine")).unwrap(),
            ],
            message: "message",
            version: Version::Only,
            peers: Some(&[]),
            at: Timestamp::UNIX_EPOCH,
        };
        let prepared = stage.git.prepare(&lock, &at, &request, None).unwrap();
        stage.repo.git(how.split(' '));
        prepared.land().unwrap().settle().1.unwrap();
        check(&stage, how);
    }
}

#[test]
fn a_baseline_survives_a_prune_after_each_call() {
    let stage = begun();
    let git = pruning(&stage);
    let baseline = Baseline {
        branch: "main".parse().unwrap(),
        commit: stage.head(),
        command: None,
        at: Timestamp::UNIX_EPOCH,
        by: handoff_core::Caller::Person,
    };
    git.point_baseline(&stage.here(), &baseline).unwrap();
    check(&stage, "baseline");
}

#[test]
fn many_commits_leave_few_packs_and_no_keep() {
    let stage = begun();
    for number in 0..20 {
        stage.repo.write("mine", format!("{number} of many\n"));
        stage.safe_commit(&["mine"]).unwrap();
        stage.git.fold_packs(&stage.here());
    }
    let packs = stage.repo.path().join(".git/objects/pack");
    let names = fs::read_dir(&packs)
        .unwrap()
        .map(|it| it.unwrap().file_name());
    let packs = names
        .filter(|it| it.to_string_lossy().ends_with(".pack"))
        .count();
    assert!(packs < 9, "{packs}");
    assert_eq!(keeps(stage.repo.path()), 0);
    stage.repo.fsck();
}

#[test]
fn what_a_killed_process_kept_is_let_go() {
    let stage = begun();
    let at = stage.here();
    for number in 0..9 {
        stage.repo.write("mine", format!("{number} of some\n"));
        stage.safe_commit(&["mine"]).unwrap();
    }
    let packs = stage.repo.path().join(".git/objects/pack");
    let marks = stage.repo.path().join(".git/handoff/packs");
    let mark = fs::read_dir(&marks)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .file_name();
    let keep = packs.join(mark).with_extension("keep");
    fs::write(&keep, "left").unwrap();
    let foreign = packs.join("pack-of-a-person.keep");
    fs::write(&foreign, "stays").unwrap();
    stage.git.fold_packs(&at);
    assert!(!keep.exists());
    assert!(foreign.exists());
}

fn keeps(root: &Path) -> usize {
    let packs = fs::read_dir(root.join(".git/objects/pack")).unwrap();
    let is_keep = |name: &str| name.ends_with(".keep");
    { packs }
        .filter(|it| is_keep(&it.as_ref().unwrap().file_name().to_string_lossy()))
        .count()
}
