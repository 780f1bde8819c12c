//! `handoff land`, `handoff worktree`, `handoff rescue` and `handoff baseline`.

use insta::assert_snapshot;

use crate::stage::Stage;

const WORK: &str = "[[step]]\nwrite = { path = \"new.txt\", text = \"new\" }\n";

/// A task that a worker took down the road, and its branch.
fn walked(stage: &Stage, script: &str) -> String {
    stage.add("fix");
    let script = stage.script("script.toml", script);
    stage.run(["worker", "--once", "--script", script.to_str().unwrap()]);
    let branches = stage
        .repo
        .git(["branch", "--list", "--format=%(refname:short)", "handoff/*"]);
    branches.lines().next().unwrap().to_owned()
}

#[test]
fn the_branch_of_a_task_lands_in_a_clean_tree() {
    let stage = Stage::new();
    let branch = walked(&stage, WORK);
    stage.repo.write("README.md", "edited");
    assert_snapshot!(stage.say("land fix").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: the tree has changes that are not committed: `README.md`
    hint: commit them, and land it then
    ");
    stage.repo.git(["checkout", "--quiet", "--", "README.md"]);
    let landed = stage.json("land fix");
    assert_eq!(landed["schema"], "handoff.landing/1");
    assert_eq!(
        (&landed["into"], &landed["commits"]),
        (&"main".into(), &1.into())
    );
    assert_eq!(landed["branch"], branch);
    assert_eq!(stage.repo.read("new.txt").unwrap(), "new");
    stage.say("land fix").success();
    stage.run(["land", &branch]).success();
    stage.say("land nobody").failure(3);
    stage.say("land handoff/none-1").failure(3);
}

#[test]
fn trees_are_listed_with_their_tasks() {
    let stage = Stage::new();
    walked(&stage, WORK);
    let listed = stage.json("worktree list");
    assert_eq!(listed["schema"], "handoff.worktrees/1");
    assert_eq!(listed["worktrees"][0]["branch"], "main");
    assert_eq!(listed["worktrees"][0]["task"], serde_json::Value::Null);
    assert_snapshot!(stage.say("worktree prune").snapshot(), @"
    exit status: 0
    --- stdout ---
    No tree of an attempt that is over.
    ");
}

#[test]
fn what_a_dead_session_left_is_found_again() {
    let stage = Stage::new();
    stage.add("fix");
    stage.say("rescue fix").failure(3);
    let fence = stage.claim("fix");
    let task = stage.json("queue show fix");
    let (id, project) = (
        task["id"].as_str().unwrap(),
        task["project"].as_str().unwrap(),
    );
    // The tree of an attempt, as the worker makes it.
    let tree = stage
        .env
        .handoff_home()
        .join(format!("worktrees/{project}/{id}-{fence}"));
    std::fs::create_dir_all(tree.parent().unwrap()).unwrap();
    let shown = tree.to_str().unwrap();
    stage
        .repo
        .git(["worktree", "add", "--quiet", "-b", "handoff/fix-1", shown]);
    std::fs::write(tree.join("half-done"), "work").unwrap();
    let listed = stage.json("worktree list");
    assert_eq!(listed["worktrees"][1]["task"], "fix");
    assert_eq!(listed["worktrees"][1]["is_live"], true);

    stage
        .run(["queue", "release", "fix", "--fence", &fence])
        .success();
    assert_eq!(stage.json("worktree prune")["removed"], 1);
    assert!(!tree.exists());
    let saved = stage.json("rescue fix --to saved");
    assert_eq!(saved["saved"][0]["paths"][0], "half-done");
    assert_eq!(stage.repo.file_of("saved", "half-done"), "work");
    stage.say("rescue fix --to saved").failure(4);
}

#[test]
fn a_branch_that_did_not_land_is_named_until_it_has() {
    let stage = Stage::new();
    let branch = walked(&stage, WORK);
    let left = stage.json("rescue fix");
    assert_eq!(left["saved"][0]["name"], format!("refs/heads/{branch}"));
    assert_eq!(left["saved"][0]["paths"], serde_json::json!(["new.txt"]));
    stage.say("land fix").success();
    stage.say("rescue fix").failure(3);
}

#[test]
fn a_baseline_is_what_a_command_proved() {
    let stage = Stage::new();
    stage.say("baseline show").failure(3);
    stage.say("baseline verify -- false").failure(12);
    stage.say("baseline show").failure(3);
    let told = stage.say("baseline verify --json -- true").success().json();
    assert_eq!(told["commit"], stage.repo.head());
    assert_eq!(
        (&told["command"], &told["by"]),
        (&"true".into(), &"person".into())
    );
    stage.repo.write("a", "new");
    stage.say("baseline verify -- true").failure(4);
    stage.repo.commit("more");
    assert_eq!(stage.json("baseline show")["commit"], told["commit"]);
    let set = stage.json("baseline set");
    assert_eq!(set["commit"], stage.repo.head());
    stage.say("baseline set nowhere").failure(3);
}

#[test]
fn a_baseline_is_never_what_was_not_tested() {
    let stage = Stage::new();
    let commits = stage.script("commits.sh", "git commit -q --allow-empty -m later\n");
    let words = ["baseline", "verify", "--", "sh", commits.to_str().unwrap()];
    stage.run(words).failure(4);
    let writes = stage.script("writes.sh", "echo x >> README.md\n");
    let words = ["baseline", "verify", "--", "sh", writes.to_str().unwrap()];
    stage.run(words).failure(4);
    stage.say("baseline show").failure(3);
}

#[test]
fn a_branch_has_no_baseline_of_those_below_its_name() {
    let stage = Stage::new();
    stage.repo.git(["checkout", "--quiet", "-b", "feat/x"]);
    stage.say("baseline set").success();
    stage.repo.git(["checkout", "--quiet", "main"]);
    stage.repo.git(["branch", "--quiet", "-D", "feat/x"]);
    stage.repo.git(["checkout", "--quiet", "-b", "feat"]);
    stage.say("baseline show").failure(3);
}

#[test]
fn a_baseline_is_in_the_ledger_and_its_ref_is_a_view_of_it() {
    let stage = Stage::new();
    stage.say("baseline verify -- true").success();
    let name = "refs/handoff/baseline/main";
    stage.repo.git(["update-ref", "-d", name]);
    stage.repo.write("b", "new");
    stage.repo.commit("not verified");
    let shown = stage.say("baseline show").success().normalized_stdout();
    assert!(
        shown.ends_with("HEAD is 1 ahead, unverified; the next attempt starts there.\n"),
        "{shown}"
    );
    assert!(stage.repo.resolve(name).is_some());
    let events = stage.say("events --json").success().json_lines();
    let set = events
        .iter()
        .find(|it| it["event"]["type"] == "baseline_set")
        .unwrap();
    assert_eq!(set["event"]["baseline"]["command"], "true");
    stage.say("doctor --audit").success();
}

#[test]
fn what_was_proved_on_a_branch_is_proved_where_it_lands() {
    let stage = Stage::new();
    stage
        .say("queue add fix --brief work --verify true")
        .success();
    let script = stage.script("script.toml", WORK);
    stage.run(["worker", "--once", "--script", script.to_str().unwrap()]);
    stage.say("baseline show").failure(3);
    stage.say("land fix").success();
    let shown = stage.json("baseline show");
    assert_eq!(shown["commit"], stage.repo.head());
    assert_eq!(
        (&shown["command"], &shown["ahead"], &shown["next_start"]),
        (&"true".into(), &0.into(), &shown["commit"])
    );
}

#[test]
fn a_session_does_not_say_what_is_good() {
    let mut stage = Stage::new();
    stage
        .env
        .set("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60");
    let told = stage.say("baseline set").snapshot();
    assert_snapshot!(told, @"
    exit status: 9
    --- stderr ---
    error: not allowed
      because ses_1 may not say that a commit is good; its check does, or a person
    ");
    assert_eq!(stage.say("baseline verify -- true").snapshot(), told);
    assert_eq!(stage.repo.resolve("refs/handoff/baseline/main"), None);
}

/// Runs the program with a `git` that kills it at this command of git: `first` runs before, with git itself as `$GIT`.
fn killed_at(stage: &Stage, command: &str, first: &str, words: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::ExitStatusExt as _;

    let place = stage.env.work().join("deadly");
    std::fs::create_dir_all(&place).unwrap();
    let git = format!("{}/git", stage.repo.git(["--exec-path"]));
    let script = format!(
        "#!/bin/sh\nGIT='{git}'\nfor word; do\nif [ \"$word\" = {command} ]; then\n{first}\nkill -9 $PPID\nexit 1\nfi\ndone\nexec \"$GIT\" \"$@\"\n"
    );
    let file = place.join("git");
    std::fs::write(&file, script).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut killed = stage.command(words.split(' '));
    let path = killed
        .get_envs()
        .find_map(|(name, value)| (name == "PATH").then_some(value?.to_owned()));
    let path = path.unwrap();
    let path = std::iter::once(place).chain(std::env::split_paths(&path));
    killed.env("PATH", std::env::join_paths(path).unwrap());
    assert_eq!(stage.env.run(killed).status.signal(), Some(9));
}

#[test]
fn killed_between_the_ledger_and_its_ref_the_next_look_makes_the_ref() {
    let stage = Stage::new();
    let name = "refs/handoff/baseline/main";
    killed_at(&stage, "update-ref", ":", "baseline verify -- true");
    assert_eq!(stage.repo.resolve(name), None);
    let shown = stage.json("baseline show");
    assert_eq!(
        (&shown["command"], &shown["ahead"]),
        (&"true".into(), &0.into())
    );
    assert!(stage.repo.resolve(name).is_some());

    // The other way round, a ref of which the ledger knows nothing is a claim of somebody's.
    stage.repo.write("b", "new").commit("not verified");
    stage.repo.git(["tag", "-a", "-m", "good", "claim"]);
    stage.repo.git(["update-ref", name, "refs/tags/claim"]);
    assert_eq!(stage.json("baseline show")["commit"], shown["commit"]);
    let leads_to = stage.repo.git(["rev-parse", &format!("{name}^{{commit}}")]);
    assert_eq!(leads_to, shown["commit"].as_str().unwrap());
}

#[test]
fn killed_between_a_landing_and_the_ledger_the_next_landing_tells_it() {
    let stage = Stage::new();
    stage
        .say("queue add fix --brief work --verify true")
        .success();
    let script = stage.script("script.toml", WORK);
    stage.run(["worker", "--once", "--script", script.to_str().unwrap()]);
    let base = stage.repo.head();
    killed_at(&stage, "merge", "\"$GIT\" \"$@\"", "land fix");
    assert_ne!(stage.repo.head(), base);
    assert_eq!(stage.repo.status(), [""; 0]);
    // What has landed has landed; nothing is believed to be proved that nobody wrote down.
    stage.say("baseline show").failure(3);
    assert_eq!(stage.json("land fix")["commits"], 0);
    assert_eq!(stage.json("baseline show")["commit"], stage.repo.head());
    stage.say("doctor --audit").success();
}
