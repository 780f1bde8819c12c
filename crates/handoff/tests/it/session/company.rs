//! Sessions that share a tree, and hooks that take more than what is committed into their hands.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use super::hall::Hall;

/// What lint-staged 16 does: it keeps a copy of everything, lets a program change what is staged, stages that, and forgets the copy.
const LINT_STAGED: &str = "#!/bin/sh
# npx lint-staged
copy=$(git stash create) && git stash store --quiet --message backup \"$copy\" || exit 1
if grep --quiet wrong mine; then
    git reset --quiet --hard HEAD && git stash apply --quiet --index && git stash drop --quiet
    exit 1
fi
echo formatted >> mine && git add mine && git stash drop --quiet
";

fn hook(hall: &Hall, text: &str) -> PathBuf {
    let hook = hall.stage.repo.path().join(".git/hooks/pre-commit");
    fs::write(&hook, text).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    hook
}

#[test]
fn lint_staged_works_in_a_session_that_has_the_tree_to_itself() {
    let hall = Hall::new();
    let stage = &hall.stage;
    for name in ["mine", "theirs"] {
        stage.repo.write(name, "old\n");
    }
    stage.repo.commit("base");
    stage.say("hooks install").success();
    hook(&hall, LINT_STAGED);
    stage
        .repo
        .write("mine", "wrong\n")
        .write("theirs", "unsaved\n");
    let shell = hall.bash("alone");
    let program = stage.env.binary().display();
    shell.types(&format!("{program} safe-commit -m x mine; echo code=$?"));
    shell.shows("code=1");
    assert_eq!(stage.repo.status(), [" M mine", " M theirs"]);
    shell.types(&format!(
        "echo right > mine; {program} safe-commit -m x mine; echo code=$?"
    ));
    shell.shows("code=0");
    assert_eq!(stage.repo.file_of("HEAD", "mine"), "right\nformatted\n");
    assert_eq!(stage.repo.status(), [" M theirs"]);
    assert_eq!(stage.repo.resolve("refs/stash"), None);
    // By itself it is what it always was.
    shell.types("git stash || echo $((100 + 1))");
    shell.shows("101");
    assert_eq!(stage.repo.status(), [" M theirs"]);
}

#[test]
fn what_was_put_aside_before_a_commit_stays() {
    let hall = Hall::new();
    let stage = &hall.stage;
    for name in ["mine", "theirs"] {
        stage.repo.write(name, "old\n");
    }
    stage.repo.commit("base");
    stage.say("hooks install").success();
    stage.repo.write("theirs", "put aside\n").git(["stash"]);
    let aside = stage.repo.resolve("refs/stash");
    assert!(aside.is_some());
    let shell = hall.bash("alone");
    let program = stage.env.binary().display();
    let commit = format!("{program} safe-commit -m x mine; echo code=$((200 + $?))");
    hook(&hall, "#!/bin/sh\ngit stash clear\n");
    stage.repo.write("mine", "new\n");
    shell.types(&commit);
    shell.shows("code=201");
    assert_eq!(stage.repo.resolve("refs/stash"), aside);
    hook(&hall, LINT_STAGED);
    shell.types(&commit);
    shell.shows("code=200");
    assert_eq!(stage.repo.file_of("HEAD", "mine"), "new\nformatted\n");
    assert_eq!(stage.repo.resolve("refs/stash"), aside);
    assert_eq!(stage.repo.git(["stash", "list"]).lines().count(), 1);
}

#[test]
fn hooks_that_take_edits_away_do_not_run_beside_another_session() {
    let hall = Hall::new();
    let stage = &hall.stage;
    stage.repo.write("theirs", "old").commit("base");
    stage.repo.write("mine", "new").write("theirs", "unsaved");
    let head = stage.repo.head();
    let _peer = hall.bash("peer");
    hook(&hall, LINT_STAGED);
    assert_snapshot!(stage.say("safe-commit -m x mine").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: the hook `$TEMP/repo/.git/hooks/pre-commit` puts the whole tree back if a check fails, and others work in it: peer
    hint: `lint-staged --no-stash` in the hook leaves the files of others alone; or commit when the others are done
    ");
    hook(
        &hall,
        "#!/bin/sh\n# https://pre-commit.com\ngit checkout -- .\n",
    );
    assert_snapshot!(stage.say("safe-commit -m x mine").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: the hook `$TEMP/repo/.git/hooks/pre-commit` takes unstaged edits off the disk while it runs, and there are some of others: `theirs`
    hint: commit when the others are done, or work in a worktree of your own
    ");
    assert_eq!(stage.repo.head(), head);
    assert_eq!(stage.repo.read("theirs").unwrap(), "unsaved");

    // Who works in a tree of their own is not there.
    let tree = stage.env.root().join("tree");
    let tree = tree.to_str().unwrap();
    stage
        .repo
        .git(["worktree", "add", "--quiet", "-b", "own", tree]);
    fs::write(stage.env.root().join("tree/theirs"), "mine").unwrap();
    let mut command = stage.command(["safe-commit", "-m", "x", "theirs"]);
    command.current_dir(tree);
    stage.env.run(command).success();
}

#[test]
fn where_it_cannot_be_told_who_works_here_somebody_may() {
    let hall = Hall::new();
    let stage = &hall.stage;
    let over = hall.run("over", &["sh", "--", "-c", "exit"]);
    stage.say("wait --id over").success();
    let record = Path::new(over.text("output_log_path")).with_file_name("session.json");
    assert!(record.exists());
    fs::write(record, "{").unwrap();
    stage.repo.write("mine", "new");
    hook(&hall, LINT_STAGED);
    let refused = stage.say("safe-commit -m x mine").failure(4);
    let says = "it cannot be told whether others work in it";
    assert!(refused.stderr.contains(says), "{}", refused.stderr);
}
