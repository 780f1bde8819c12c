//! `handoff ignore`: what it writes, and what git makes of it.

use std::fs;

use insta::assert_snapshot;

use crate::stage::Stage;

#[test]
fn ignore_toggles_in_the_common_directory_and_keeps_other_lines() {
    let stage = Stage::new();
    let exclude = stage.repo.path().join(".git/info/exclude");
    fs::create_dir_all(exclude.parent().unwrap()).unwrap();
    fs::write(&exclude, "*.log\r\nlast").unwrap();
    let linked = stage.env.root().join("linked");
    stage
        .repo
        .git(["worktree", "add", "-q", linked.to_str().unwrap()]);
    assert_snapshot!(stage.env.handoff_in(&linked, ["ignore"]).snapshot(), @"
    exit status: 0
    --- stdout ---
    git ignores `.handoff/` now, by a line in `$TEMP/repo/.git/info/exclude`.
    ");
    assert_eq!(
        fs::read_to_string(&exclude).unwrap(),
        "*.log\r\nlast\r\n.handoff/\r\n"
    );
    stage.say("init login").success();
    assert_eq!(stage.repo.git(["status", "--short"]).trim(), "");
    assert_snapshot!(stage.say("ignore").snapshot(), @"
    exit status: 0
    --- stdout ---
    git does not ignore `.handoff/` any more: the line in `$TEMP/repo/.git/info/exclude` is gone.
    ");
    fs::write(&exclude, "a\n/.handoff\nb").unwrap();
    assert_eq!(stage.json("ignore")["is_excluded"], false);
    assert_eq!(fs::read_to_string(&exclude).unwrap(), "a\nb");
}

#[test]
fn ignore_says_what_git_really_does() {
    let stage = Stage::new();
    stage.repo.write(".handoff/x", "1").commit("first");
    stage.repo.write(".gitignore", "\n.handoff/\n");
    assert_snapshot!(stage.say("ignore").snapshot(), @"
    exit status: 0
    --- stdout ---
    git ignores `.handoff/` already, by `.handoff/` in line 2 of `.gitignore`; a line in `$TEMP/repo/.git/info/exclude` says so too now.
    --- stderr ---
    git goes on tracking what it tracks already: 1 of its files. `git rm -r --cached .handoff` ends that and keeps them.
    ");
    assert_snapshot!(stage.say("ignore").snapshot(), @"
    exit status: 0
    --- stdout ---
    The line in `$TEMP/repo/.git/info/exclude` is gone, but git ignores `.handoff/` still, by `.handoff/` in line 2 of `.gitignore`.
    ");
    stage.repo.write(".gitignore", "!.handoff/\n");
    let document = stage.json("ignore");
    assert_eq!(
        (&document["is_excluded"], &document["is_ignored"]),
        (&true.into(), &false.into())
    );
    assert_eq!(document["tracked"], 1);
}
