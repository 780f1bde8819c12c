//! `handoff hooks`: refs that move past them, and hooks of one worktree alone.

use crate::stage::Stage;

/// What `hooks status` tells of refs that moved unseen.
fn told(stage: &Stage) -> Vec<String> {
    let told = stage.run(["hooks", "status", "--json"]).json();
    let foreign = told["foreign"].as_array().cloned().unwrap_or_default();
    let names = foreign.iter().filter_map(|it| it["name"].as_str());
    names.map(str::to_owned).collect()
}

#[test]
fn what_a_person_does_is_not_foreign_and_what_goes_past_the_hooks_is_told_once() {
    let stage = Stage::new();
    stage.say("hooks install").success();
    // It is called like our own log.
    stage.say("hooks watch seen.log").success();
    let repo = &stage.repo;
    repo.git(["checkout", "--quiet", "-b", "fresh"]);
    repo.git(["branch", "--move", "renamed"]);
    repo.write("a", "new").commit("plain");
    stage.repo.write("a", "newer");
    stage.say("safe-commit -m ours a").success();
    assert_eq!(told(&stage), Vec::<String>::new());

    let by_hand = repo.path().join(".git/refs/heads/renamed");
    let earlier = repo.git(["rev-parse", "HEAD^"]);
    std::fs::write(&by_hand, earlier + "\n").unwrap();
    assert_eq!(told(&stage), ["refs/heads/renamed"]);
    assert_eq!(told(&stage), Vec::<String>::new());
    stage.say("hooks uninstall").success();
    assert!(!repo.path().join(".git/handoff/watch").exists());
}

#[test]
fn hooks_of_one_worktree_alone_are_named_and_nothing_is_left() {
    let stage = Stage::new();
    let repo = &stage.repo;
    repo.git(["config", "extensions.worktreeConfig", "true"]);
    let linked = stage.env.root().join("linked");
    repo.git(["worktree", "add", "--quiet", linked.to_str().unwrap()]);
    let config = repo.read(".git/config").unwrap();
    let say = |words: &[&str]| {
        let mut command = stage.command(words);
        command.current_dir(&linked);
        stage.env.run(command)
    };
    let mut own = repo.command(["config", "--worktree", "core.hooksPath", "own"]);
    assert!(own.current_dir(&linked).status().unwrap().success());
    say(&["hooks", "install"]).failure(1);
    assert_eq!(repo.read(".git/config").unwrap(), config);

    stage.say("hooks install").success();
    let state = say(&["hooks", "status", "--json"]).json();
    assert_eq!(state["state"], "overridden");
    say(&["hooks", "uninstall"]).success();
    assert_eq!(repo.read(".git/config").unwrap(), config);
}
