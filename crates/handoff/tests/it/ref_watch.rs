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
fn a_forced_move_does_not_hide_one_that_went_past_the_hooks() {
    let stage = Stage::new();
    let repo = &stage.repo;
    let first = repo.head();
    repo.write("a", "new").commit("second");
    repo.git(["branch", "side", &first]);
    repo.git(["branch", "gone"]);
    stage.say("hooks install").success();
    stage.say("hooks watch someone").success();
    let heads = repo.path().join(".git/refs/heads");
    std::fs::write(heads.join("side"), repo.head() + "\n").unwrap();
    std::fs::remove_file(heads.join("gone")).unwrap();
    for name in ["side", "gone", "new"] {
        repo.git(["update-ref", &format!("refs/heads/{name}"), &first]);
    }
    repo.git(["update-ref", "refs/heads/new", "HEAD"]);
    repo.git(["update-ref", "-d", "refs/heads/new"]);
    assert_eq!(told(&stage), ["refs/heads/gone", "refs/heads/side"]);
}

#[test]
fn packing_refs_moves_none_and_is_nobodys_offence() {
    let stage = Stage::new();
    let repo = &stage.repo;
    repo.git(["branch", "side"]);
    stage.say("hooks install").success();
    stage.say("hooks watch someone").success();
    stage.say("baseline set").success();
    repo.git(["tag", "v1"]);
    let mut gc = repo.command(["gc", "--quiet"]);
    gc.env("HANDOFF_ROLE", "main");
    assert!(gc.status().unwrap().success());
    repo.git(["branch", "-D", "side"]);
    assert_eq!(told(&stage), Vec::<String>::new());
    let packed = repo.read(".git/packed-refs").unwrap();
    assert!(packed.contains("refs/handoff/baseline/main"), "{packed}");
    let mut end = repo.command(["update-ref", "-d", "refs/handoff/baseline/main"]);
    end.env("HANDOFF_ROLE", "main");
    assert!(!end.status().unwrap().success());
}

#[test]
fn what_a_fetch_moves_is_not_foreign() {
    let stage = Stage::new();
    let repo = &stage.repo;
    let elsewhere = stage.env.root().join("elsewhere");
    let shown = elsewhere.to_str().unwrap();
    repo.git(["clone", "--quiet", ".", shown]);
    repo.git(["remote", "add", "origin", shown]);
    repo.git(["fetch", "--quiet", "origin"]);
    repo.git(["remote", "set-head", "origin", "main"]);
    stage.say("hooks install").success();
    stage.say("hooks watch someone").success();
    for message in ["one", "two"] {
        let commit = ["commit", "--quiet", "--allow-empty", "-m", message];
        let mut commit = repo.command(commit);
        assert!(commit.current_dir(&elsewhere).status().unwrap().success());
        repo.git(["fetch", "--quiet", "origin"]);
    }
    assert_eq!(told(&stage), Vec::<String>::new());
    repo.git(["update-ref", "refs/remotes/origin/other", "HEAD"]);
    repo.git(["remote", "set-head", "origin", "other"]);
    repo.git(["remote", "rename", "origin", "upstream"]);
    repo.git(["remote", "set-head", "upstream", "--delete"]);
    assert_eq!(told(&stage), Vec::<String>::new());
    repo.git(["remote", "remove", "upstream"]);
    assert_eq!(told(&stage), Vec::<String>::new());
}

#[test]
fn head_goes_to_another_branch_by_git_and_not_by_hand() {
    let stage = Stage::new();
    let repo = &stage.repo;
    repo.git(["branch", "side"]);
    stage.say("hooks install").success();
    stage.say("hooks watch someone").success();
    let linked = stage.env.root().join("linked");
    let linked = linked.to_str().unwrap();
    repo.git(["worktree", "add", "--quiet", "-b", "other", linked]);
    repo.git(["checkout", "--quiet", "side"]);
    repo.git(["checkout", "--quiet", "--detach"]);
    repo.git(["commit", "--quiet", "--allow-empty", "-m", "detached"]);
    repo.git(["checkout", "--quiet", "side"]);
    repo.git(["branch", "--move", "renamed"]);
    assert_eq!(told(&stage), Vec::<String>::new());
    std::fs::write(repo.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(told(&stage), ["HEAD"]);
    assert_eq!(told(&stage), Vec::<String>::new());
    stage.say("hooks unwatch someone").success();
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
