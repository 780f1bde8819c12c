//! `handoff git-guard` and `handoff hooks`: what a session meets when it uses git.

use insta::assert_snapshot;

use crate::stage::Stage;

/// A stage with the guard first in PATH and our hooks in the repository.
fn guarded(role: &str) -> Stage {
    let mut stage = Stage::new();
    stage.say("git-guard install").success();
    stage.say("hooks install").success();
    let bin = stage.env.handoff_home().join("guard/bin");
    let path = stage
        .env
        .command("true")
        .get_envs()
        .find_map(|(name, value)| (name == "PATH").then(|| value.unwrap().to_owned()));
    let path =
        std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path.unwrap())));
    stage.env.set("PATH", path.unwrap());
    stage.env.set("HANDOFF_ROLE", role);
    stage
}

fn git(stage: &Stage, words: &str) -> handoff_testkit::Output {
    let mut command = stage.env.command("git");
    command
        .current_dir(stage.repo.path())
        .args(words.split(' '));
    stage.env.run(command)
}

#[test]
fn a_sub_task_is_told_what_to_do_instead() {
    let stage = guarded("sub-task");
    git(&stage, "status").success();
    git(&stage, "-C . log -1").success();
    assert_snapshot!(git(&stage, "-C . commit -m x").snapshot(), @"
    exit status: 99
    --- stderr ---
    error: `git commit -m` is not for a sub-task
    hint: `handoff safe-commit -m … -- PATHS` commits exactly your files on a branch of your own; elsewhere the one who brings the results together commits
    ");
    stage.repo.git(["config", "alias.ci", "commit"]);
    git(&stage, "ci -m x").failure(99);
}

#[test]
fn a_session_cannot_talk_itself_out_of_its_role() {
    let stage = guarded("sub-task");
    let mut command = stage.env.command("sh");
    let script = "env -u HANDOFF_ROLE git commit --allow-empty -m x; echo $?; HANDOFF_ROLE=main git stash; echo $?";
    command.current_dir(stage.repo.path()).args(["-c", script]);
    let said = stage.env.run(command).success();
    assert_eq!(said.stdout, "99\n99\n");
}

#[test]
fn explain_says_what_the_guard_would_say() {
    let stage = Stage::new();
    assert_snapshot!(stage.say("git-guard explain --role sub-task -- -c a.b=c push").snapshot(), @"
    exit status: 99
    --- stdout ---
    Refused: `git -c a.b=c`: leave the configuration as it is.
    ");
    assert_snapshot!(stage.say("git-guard explain --role sub-task -- log").snapshot(), @"
    exit status: 0
    --- stdout ---
    Allowed.
    ");
    stage.say("git-guard explain -- log").failure(2);
    let told = stage
        .say("git-guard explain --json --role sub-task -- log")
        .json();
    assert_eq!(told["is_allowed"], true);
}

#[test]
fn hooks_stop_what_the_guard_cannot_see() {
    let stage = guarded("sub-task");
    stage.repo.write("a", "new").git(["add", "a"]);
    let head = stage.repo.head();
    let script = "real=$(type -aP git | tail -1); for words in 'commit -m x' 'commit --no-verify -m x' 'stash' \
        'update-ref refs/heads/main HEAD' 'branch new' 'tag v1' '-c alias.x=commit x -m x'; do \
        $real $words >/dev/null 2>&1 && echo \"passed: $words\"; done; \
        tree=$($real write-tree); $real update-ref refs/heads/main $($real commit-tree -p HEAD -m x $tree) 2>/dev/null && echo plumbing";
    let mut command = stage.env.command("bash");
    command.current_dir(stage.repo.path()).args(["-c", script]);
    let said = stage.env.run(command);
    assert_eq!(said.stdout, "");
    assert_eq!(stage.repo.head(), head);
    assert_eq!(stage.repo.refs().len(), 1);
}

#[test]
fn hooks_that_were_there_run_once_and_uninstall_leaves_no_trace() {
    let stage = Stage::new();
    let config = stage.repo.read(".git/config").unwrap();
    let hook = stage.repo.path().join(".git/hooks/pre-commit");
    std::fs::write(&hook, "#!/bin/sh\necho \"$0\" >> seen\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, executable).unwrap();
    stage.say("hooks install").success();
    stage.say("hooks install").success();
    stage.repo.write("a", "new").git(["add", "a"]);
    stage.repo.git(["commit", "--quiet", "-m", "plain"]);
    stage.repo.write("a", "newer");
    stage.say("safe-commit -m ours a").success();
    let seen = stage.repo.read("seen").unwrap();
    assert_eq!(seen, format!("{0}\n{0}\n", hook.display()));

    assert_eq!(stage.json("hooks status")["state"], "installed");
    stage.say("hooks uninstall").success();
    stage.say("hooks uninstall").success();
    assert_eq!(stage.repo.read(".git/config").unwrap(), config);
    assert!(!stage.repo.path().join(".git/handoff/hooks").exists());
    assert_eq!(stage.json("hooks status")["state"], "absent");
}

#[test]
fn a_hooks_path_is_called_and_put_back() {
    let stage = Stage::new();
    stage
        .repo
        .write(".husky/_/pre-commit", "#!/bin/sh\necho husky > seen\n");
    let hook = stage.repo.path().join(".husky/_/pre-commit");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, executable).unwrap();
    stage.repo.git(["config", "core.hooksPath", ".husky/_"]);
    stage.say("hooks install").success();
    stage.repo.write("a", "new").git(["add", "a"]);
    stage.repo.git(["commit", "--quiet", "-m", "plain"]);
    assert_eq!(stage.repo.read("seen").unwrap(), "husky\n");
    stage.repo.git(["config", "core.hooksPath", ".other"]);
    stage.say("hooks status").failure(12);
    stage.say("hooks uninstall").success();
    assert_eq!(stage.repo.git(["config", "core.hooksPath"]), ".other");
}

#[test]
fn what_is_staged_must_be_expected() {
    let mut stage = Stage::new();
    stage.say("hooks install").success();
    stage
        .repo
        .write("mine", "new")
        .write("theirs", "new")
        .git(["add", "--all"]);
    stage.env.set("HANDOFF_EXPECTED_FILES", "mine");
    let refused = git(&stage, "commit -m x").failure(1);
    assert!(
        refused
            .stderr
            .contains("`theirs` is staged and was not expected")
    );
    stage.env.set("HANDOFF_EXPECTED_FILES", "mine:theirs");
    git(&stage, "commit -m x").success();
    // A file that moves away is a file that is gone.
    stage.repo.git(["mv", "theirs", "moved"]);
    stage.env.set("HANDOFF_EXPECTED_FILES", "moved");
    let refused = git(&stage, "commit -m x").failure(1);
    assert!(
        refused
            .stderr
            .contains("`theirs` is staged and was not expected")
    );
}

#[test]
fn outside_of_sessions_a_hook_never_stands_in_the_way() {
    let stage = Stage::new();
    stage.say("hooks install").success();
    let mut command = stage.env.command("git");
    let dot_git = stage.repo.path().join(".git");
    command.current_dir("/").arg("--git-dir").arg(dot_git);
    command.args(["update-ref", "refs/heads/new", "HEAD"]);
    stage.env.run(command).success();
    assert_eq!(
        stage.repo.resolve("refs/heads/new"),
        Some(stage.repo.head())
    );
}

#[test]
fn a_hard_link_to_this_program_is_no_git() {
    let mut stage = Stage::new();
    let path = stage.env.command("true");
    let path = path
        .get_envs()
        .find_map(|(name, value)| (name == "PATH").then_some(value?));
    let bin = stage.env.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let link = std::fs::hard_link(stage.env.binary(), bin.join("git"));
    // On another file system there are no hard links to it.
    if link.is_err() {
        return;
    }
    let all = std::iter::once(bin).chain(std::env::split_paths(path.unwrap()));
    let all = std::env::join_paths(all).unwrap();
    stage.env.set("PATH", all);
    assert!(
        git(&stage, "--version")
            .success()
            .stdout
            .starts_with("git version")
    );
}
