//! Repositories whose configuration names programs.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use crate::stage::{Stage, paths, write_script};

const HOOKS: [&str; 7] = [
    "post-checkout",
    "post-commit",
    "post-index-change",
    "pre-commit",
    "prepare-commit-msg",
    "reference-transaction",
    "fsmonitor-watchman",
];

/// Each of them leaves a file of its name when it runs.
const SETTINGS: [&str; 10] = [
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshCommand",
    "core.askPass",
    "core.gitProxy",
    "credential.helper",
    "diff.external",
    "diff.trap.textconv",
    "gpg.program",
];

fn traps(stage: &Stage) -> PathBuf {
    let traps = stage.env.root().join("traps");
    fs::create_dir(&traps).unwrap();
    fs::create_dir(traps.join("sprung")).unwrap();
    traps
}

fn trap(stage: &Stage, name: &str) -> String {
    let traps = stage.env.root().join("traps");
    let path = traps.join(name);
    write_script(
        &path,
        &format!("touch '{}/sprung/{name}'\nexit 0", traps.display()),
    );
    path.to_str().unwrap().to_owned()
}

fn sprung(stage: &Stage) -> BTreeSet<String> {
    let entries = fs::read_dir(stage.env.root().join("traps/sprung")).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn set_traps(stage: &Stage) {
    stage
        .repo
        .write(".gitattributes", "* diff=trap\n")
        .commit("attributes");
    let hooks = traps(stage).join("hooks");
    fs::create_dir(&hooks).unwrap();
    for hook in HOOKS {
        fs::rename(trap(stage, hook), hooks.join(hook)).unwrap();
        fs::copy(
            hooks.join(hook),
            stage.repo.path().join(".git/hooks").join(hook),
        )
        .unwrap();
    }
    let program = SETTINGS.map(|key| (key, trap(stage, key)));
    for (key, value) in program {
        stage.repo.git(["config", key, &value]);
    }
    stage.repo.git(["config", "commit.gpgSign", "true"]);
    // Last, as it springs traps itself from here on.
    stage
        .repo
        .git(["config", "core.hooksPath", hooks.to_str().unwrap()]);
    for name in sprung(stage) {
        fs::remove_file(stage.env.root().join("traps/sprung").join(name)).unwrap();
    }
}

#[test]
fn no_call_runs_a_program_that_the_repository_names() {
    let stage = Stage::new();
    set_traps(&stage);
    let here = stage.here();
    let base = stage.git.head(&here).unwrap();
    let branch = "handoff/work".parse().unwrap();
    let path = stage.env.root().join("linked");
    let linked = stage
        .git
        .add_worktree(&here, &path, &branch, &base)
        .unwrap();
    for (place, tree) in [(&here, stage.repo.path()), (&linked, &*path)] {
        fs::write(tree.join("mine"), "new").unwrap();
        fs::write(tree.join("README.md"), "edited").unwrap();
        stage.git.changed_paths(place, &base).unwrap();
        stage
            .git
            .commit_paths(place, &paths(["mine"]), "m")
            .unwrap();
        stage.git.quarantine(place, &branch).unwrap().unwrap();
        stage.git.resolve_branch(place, &branch).unwrap();
        stage.git.list_worktrees(place).unwrap();
    }
    stage.git.remove_worktree(&here, &path).unwrap();
    assert_eq!(sprung(&stage), BTreeSet::new());
}

/// Without this the test above could pass because its traps do not work.
#[test]
fn the_traps_do_work() {
    let stage = Stage::new();
    set_traps(&stage);
    stage.repo.write("README.md", "edited");
    for words in [
        &["status"][..],
        &["diff"],
        &["diff", "--no-ext-diff"],
        &["commit", "-qam", "m"],
    ] {
        // The traps answer nothing that git could use, so some of these fail.
        stage.env.run(stage.repo.command(words));
    }
    let must = [
        "core.fsmonitor",
        "diff.external",
        "diff.trap.textconv",
        "gpg.program",
        "pre-commit",
    ];
    assert_eq!(
        must.iter()
            .filter(|name| !sprung(&stage).contains(**name))
            .count(),
        0,
        "{:?}",
        sprung(&stage)
    );
}

#[test]
fn what_a_partial_clone_lacks_is_not_fetched() {
    let stage = Stage::new();
    traps(&stage);
    let blob = stage.repo.git(["rev-parse", "HEAD:README.md"]);
    let (directory, file) = blob.split_at(2);
    fs::remove_file(
        stage
            .repo
            .path()
            .join(".git/objects")
            .join(directory)
            .join(file),
    )
    .unwrap();
    let settings = [
        ("core.repositoryFormatVersion", "1".to_owned()),
        ("extensions.partialClone", "origin".to_owned()),
        ("remote.origin.url", stage.repo.path().display().to_string()),
        ("remote.origin.promisor", "true".to_owned()),
        ("remote.origin.uploadPack", trap(&stage, "uploadPack")),
    ];
    for (key, value) in settings {
        stage.repo.git(["config", key, &value]);
    }
    let branch = "handoff/work".parse().unwrap();
    let path = stage.env.root().join("linked");
    stage
        .git
        .add_worktree(&stage.here(), &path, &branch, &stage.head())
        .unwrap_err();
    assert_eq!(sprung(&stage), BTreeSet::new());
    stage.env.run(stage.repo.command(["cat-file", "-p", &blob]));
    assert_eq!(
        sprung(&stage),
        BTreeSet::from(["uploadPack".to_owned()]),
        "the trap works"
    );
}

/// The one exception; see the crate's documentation.
#[test]
fn filters_run_because_content_would_be_wrong_without_them() {
    let stage = Stage::new();
    let filter = stage.script("upper", "tr a-z A-Z");
    stage.repo.write(".gitattributes", "mine filter=upper\n");
    stage
        .repo
        .git(["config", "filter.upper.clean", filter.to_str().unwrap()]);
    stage.repo.write("mine", "content");
    let commit = stage
        .git
        .commit_paths(&stage.here(), &paths(["mine"]), "m")
        .unwrap();
    assert_eq!(stage.repo.file_of(commit.as_str(), "mine"), "CONTENT");
}

#[test]
fn a_filter_out_of_a_tree_that_is_not_trusted_does_not_run() {
    let stage = Stage::new();
    let outside = stage.script("upper", "tr a-z A-Z");
    stage
        .repo
        .write(".gitattributes", "inner filter=inner\nouter filter=outer\n");
    let config = |name: &str, command: &str| {
        let clean = format!("filter.{name}.clean");
        stage.repo.git(["config", &clean, command]);
        let required = format!("filter.{name}.required");
        stage.repo.git(["config", &required, "true"]);
    };
    config("inner", "./tool");
    config("outer", outside.to_str().unwrap());
    stage.repo.write("inner", "text").write("outer", "text");
    let tool = stage.repo.path().join("tool");
    fs::write(&tool, "#!/bin/sh\ntouch sprung; cat\n").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();

    let at = stage.here();
    let name = "handoff/work".parse().unwrap();
    let saved = stage.git.bound_to(&at).quarantine(&at, &name);
    let saved = saved.unwrap().unwrap();
    assert!(!stage.repo.path().join("sprung").exists());
    assert_eq!(stage.repo.file_of(saved.as_str(), "inner"), "text");
    assert_eq!(stage.repo.file_of(saved.as_str(), "outer"), "TEXT");
}

/// Where the configuration of a repository may name a filter, and with which setting.
#[test]
fn a_look_runs_no_filter_of_the_repository() {
    let table: [(&str, &[&str]); 6] = [
        ("clean", &["config", "filter.trap.clean"]),
        ("process", &["config", "filter.trap.process"]),
        ("dotted", &["config", "filter.a.b.clean"]),
        ("upper", &["config", "Filter.trap.Clean"]),
        ("worktree", &["config", "--worktree", "filter.trap.clean"]),
        (
            "included",
            &["config", "--file", "more", "filter.trap.clean"],
        ),
    ];
    for (name, setting) in table {
        let stage = Stage::new();
        traps(&stage);
        stage.repo.write("file", "text\n").commit("file");
        stage
            .repo
            .git(["config", "extensions.worktreeConfig", "true"]);
        stage.repo.git(["config", "include.path", "../more"]);
        let filter = if name == "dotted" { "a.b" } else { "trap" };
        stage
            .repo
            .git(setting.iter().copied().chain([trap(&stage, name).as_str()]));
        stage
            .repo
            .git(["config", &format!("filter.{filter}.required"), "true"]);
        let info = stage.repo.path().join(".git/info/attributes");
        fs::create_dir_all(info.parent().unwrap()).unwrap();
        fs::write(info, format!("file filter={filter}\n")).unwrap();
        // Of the same length, so that git has to look into it.
        stage.repo.write("file", "next\n");
        let status = stage.git.status(&stage.here()).unwrap();
        assert!(status.edited.contains(&"file".to_owned()), "{name}");
        stage.git.shortstat(&stage.here()).unwrap();
        assert_eq!(sprung(&stage), BTreeSet::new(), "{name}");
    }
}

#[test]
fn a_look_runs_the_filters_of_the_user() {
    let stage = Stage::new();
    stage.repo.write("file", "text\n").commit("file");
    // What the repository says of the same filter counts for nothing.
    stage.repo.git([
        "config",
        "--global",
        "filter.usual.clean",
        "sed s/next/text/",
    ]);
    stage.repo.git(["config", "filter.usual.clean", "false"]);
    stage.repo.git(["config", "filter.usual.required", "true"]);
    fs::create_dir_all(stage.repo.path().join(".git/info")).unwrap();
    fs::write(
        stage.repo.path().join(".git/info/attributes"),
        "file filter=usual\n",
    )
    .unwrap();
    stage.repo.write("file", "next\n");
    let status = stage.git.status(&stage.here()).unwrap();
    assert_eq!(status.edited, Vec::<String>::new());
}
