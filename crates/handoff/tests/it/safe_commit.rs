//! `handoff safe-commit`.

use insta::assert_snapshot;

use crate::stage::{Background, Stage};

#[test]
fn a_commit_is_told_in_a_line_and_in_json() {
    let stage = Stage::new();
    stage
        .repo
        .write("src/a", "new")
        .write("theirs", "new")
        .git(["add", "theirs"]);
    let inside = stage.repo.path().join("src");
    let args = [
        "safe-commit",
        "-m",
        "parser: accept tabs",
        "-m",
        "They are blanks.",
        "a",
    ];
    stage.env.handoff_in(&inside, args).success();
    assert_eq!(stage.repo.changes_of("HEAD"), ["src/a"]);
    assert_eq!(stage.repo.status(), ["A  theirs"]);
    let message = stage.repo.git(["log", "-1", "--format=%B"]);
    assert_eq!(message, "parser: accept tabs\n\nThey are blanks.\n");

    stage.repo.write("src/a", "newer");
    let told = stage
        .run(["safe-commit", "--json", "-m", "again", "src/a"])
        .success()
        .json();
    assert_eq!(told["schema"], "handoff.commit/1");
    assert_eq!(told["commit"], stage.repo.head());
    assert_eq!(told["branch"], "main");
    assert_eq!(told["paths"][0], "src/a");
    assert_eq!(told["index"], "current");
}

#[test]
fn wrong_input_gets_a_clear_answer_and_changes_nothing() {
    let stage = Stage::new();
    let base = stage.repo.head();
    stage.repo.write("a", "staged").git(["add", "a"]);
    stage.repo.write("a", "edited").write("dir/b", "new");
    assert_snapshot!(stage.say("safe-commit -m x a").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: `a` is staged and edited further: two versions could be meant
    hint: `--staged` commits what is staged, `--worktree` the files as they are now
    ");
    assert_snapshot!(stage.say("safe-commit -m x dir").snapshot(), @"
    exit status: 2
    --- stderr ---
    error: `dir` is a directory; name the files
    hint: changed in it: dir/b
    ");
    assert_snapshot!(stage.say("safe-commit -m x").snapshot(), @"
    exit status: 2
    --- stderr ---
    error: no paths are named
    hint: name each file that belongs to the commit, after `--`
    ");
    assert_snapshot!(stage.say("safe-commit -m x README.md").snapshot(), @"
    exit status: 14
    --- stderr ---
    error: nothing has changed in the declared paths
    ");
    assert_snapshot!(stage.say("safe-commit -m x ../outside .git/config").snapshot(), @"
    exit status: 2
    --- stderr ---
    error: `../outside` is outside of the working tree
    ");
    stage.run(["safe-commit", "-m", " ", "a"]).failure(2);
    stage.say("safe-commit -F /nowhere a").failure(1);
    stage.say("safe-commit -F - -z").failure(2);
    stage
        .say("safe-commit --staged --worktree -m x a")
        .failure(2);
    assert_eq!(stage.repo.head(), base);
    assert_eq!(stage.repo.status(), ["AM a", "?? dir/b"]);
}

/// The earlier tool knew one spelling, left the others staged, and let options of git slip in between.
#[test]
fn a_path_is_one_however_it_is_spelled_and_is_never_an_option() {
    let stage = Stage::new();
    stage
        .repo
        .write("dir/a", "1")
        .write("b", "1")
        .write("c", "1");
    let below = stage.repo.path().join("dir");
    let absolute = stage.repo.path().join("c");
    let words = [
        "safe-commit",
        "-m",
        "x",
        "./a",
        "../b",
        absolute.to_str().unwrap(),
    ];
    stage.env.handoff_in(&below, words).success();
    assert_eq!(stage.repo.changes_of("HEAD"), ["b", "c", "dir/a"]);
    stage.repo.write("b", "2");
    let head = stage.repo.head();
    for option in ["--no-verify", "--amend", "--allow-empty", "--all"] {
        let words = format!("safe-commit -m x b {option} -- b");
        stage.say(&words).failure(2);
    }
    assert_eq!(
        (stage.repo.head(), stage.repo.status()),
        (head, vec![" M b".to_owned()])
    );
}

/// The lock is the repository's: another state directory does not mean another lock.
#[test]
fn two_homes_commit_one_after_the_other() {
    let stage = Stage::new();
    let mut started = vec![];
    for number in 0..6 {
        let file = format!("file-{number}");
        stage.repo.write(&file, "new");
        let mut command = stage.command(["safe-commit", "-m", "x", &file]);
        let home = stage.env.work().join(format!("home-{}", number % 2));
        command.env("HANDOFF_HOME", home);
        started.push(crate::stage::Background::start(command));
    }
    let codes: Vec<_> = started.iter_mut().map(|it| it.code()).collect();
    assert_eq!(codes, [Some(0); 6]);
    assert_eq!(stage.repo.status(), [""; 0]);
    let count = stage.repo.git(["rev-list", "--count", "HEAD"]);
    assert_eq!(count.trim(), "7");
}

#[test]
fn paths_come_from_the_environment_as_well() {
    let mut stage = Stage::new();
    stage
        .repo
        .write("a", "new")
        .write("b", "new")
        .write("c", "new");
    let list = stage.script("expected", "a\nb\n");
    stage.env.set("HANDOFF_EXPECTED_FILES", list);
    stage.say("safe-commit -m x c").failure(9);
    stage.say("safe-commit -m x").success();
    assert_eq!(stage.repo.changes_of("HEAD"), ["a", "b"]);
    stage.env.set("HANDOFF_EXPECTED_FILES", "c:b");
    stage.say("safe-commit -m x").success();
    assert_eq!(stage.repo.changes_of("HEAD"), ["c"]);
    // Where there is a file with a colon in its name, it is that one and no other.
    stage.repo.write("b", "newer").write("c:b", "new");
    stage.say("safe-commit -m x").success();
    assert_eq!(stage.repo.changes_of("HEAD"), ["c:b"]);
}

#[test]
fn a_session_commits_with_its_lease_and_says_which_it_is() {
    let mut stage = Stage::new();
    stage
        .run(["queue", "add", "fix", "--brief", "Fix.", "--own", "src/"])
        .success();
    let fence = stage.claim("fix");
    let id = stage.json("queue show fix")["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let session = "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60";
    for (name, value) in [
        ("HANDOFF_SESSION", session),
        ("HANDOFF_TASK", "fix"),
        ("HANDOFF_TASK_ID", &id),
        ("HANDOFF_FENCE", &fence),
    ] {
        stage.env.set(name, value);
    }
    stage.repo.write("src/a", "new").write("other", "new");
    assert_snapshot!(stage.say("safe-commit -m x other").snapshot(), @"
    exit status: 9
    --- stderr ---
    error: the task `fix` does not own `other`
    hint: commit what the task owns, and leave a note about the rest
    ");
    stage.say("safe-commit -m work src/a").success();
    let message = stage.repo.git(["log", "-1", "--format=%B"]);
    let expected = format!(
        "work\n\nHandoff-Task: fix\nHandoff-Task-Id: {id}\nHandoff-Fence: {fence}\nHandoff-Session: {session}\n"
    );
    assert_eq!(message, expected);

    stage.env.set("HANDOFF_FENCE", "7");
    let head = stage.repo.head();
    stage.repo.write("src/a", "late");
    stage.say("safe-commit -m late src/a").failure(6);
    assert_eq!(stage.repo.head(), head);
}

#[test]
fn a_sub_task_commits_only_to_a_branch_of_its_own() {
    let mut stage = Stage::new();
    stage
        .env
        .set("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60");
    stage.env.set("HANDOFF_ROLE", "sub-task");
    stage.repo.write("a", "new");
    stage.say("safe-commit -m x a").failure(9);
    stage
        .repo
        .git(["checkout", "--quiet", "-b", "handoff/fix-1"]);
    stage.say("safe-commit -m x a").success();
}

/// A hook that waits: it makes the first file when it does, and goes on when the second is there.
fn gate(stage: &Stage) -> (std::path::PathBuf, std::path::PathBuf) {
    let gate = stage.env.work().join("gate");
    let hook = stage.repo.path().join(".git/hooks/pre-commit");
    let open = gate.with_extension("open");
    let script = format!(
        "#!/bin/sh\n[ -e {open} ] && exit 0\necho > {gate}\nwhile [ ! -e {open} ]; do sleep 0.01; done\n",
        gate = gate.display(),
        open = open.display()
    );
    std::fs::write(&hook, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, executable).unwrap();
    (gate, open)
}

/// A second commit that waits for a first one, once it has said so.
fn waiting(stage: &Stage, role: &str) -> (Background, String) {
    let mut command = stage.command(["safe-commit", "-m", "second", "b"]);
    command.env("HANDOFF_ROLE", role);
    command.env("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60");
    let words = stage.env.work().join("words");
    command.stderr(std::fs::File::create(&words).unwrap());
    let mut second = Background::start(command);
    loop {
        let said = std::fs::read_to_string(&words).unwrap();
        if said.ends_with('\n') {
            return (second, said);
        }
        assert!(second.is_running());
        std::thread::yield_now();
    }
}

#[test]
fn a_sub_task_that_waited_does_not_commit_to_what_is_checked_out_by_then() {
    let stage = Stage::new();
    let branch = ["checkout", "--quiet", "-b", "handoff/fix-1"];
    stage.repo.git(branch);
    stage.repo.write("a", "new").write("b", "new");
    let main = stage.repo.resolve("refs/heads/main");
    let (gate, open) = gate(&stage);
    let mut first = stage.start(["safe-commit", "-m", "first", "a"]);
    while !gate.exists() {
        assert!(first.is_running());
        std::thread::yield_now();
    }
    let (mut second, _) = waiting(&stage, "sub-task");
    stage.repo.git(["symbolic-ref", "HEAD", "refs/heads/main"]);
    std::fs::write(&open, "").unwrap();
    assert_eq!((first.code(), second.code()), (Some(0), Some(9)));
    assert_eq!(stage.repo.resolve("refs/heads/main"), main);
}

#[test]
fn who_waits_is_told_for_whom() {
    let stage = Stage::new();
    stage.repo.write("a", "new").write("b", "new");
    let (gate, open) = gate(&stage);
    let mut first = stage.start(["safe-commit", "-m", "first", "a"]);
    while !gate.exists() {
        assert!(first.is_running());
        std::thread::yield_now();
    }
    let (mut second, said) = waiting(&stage, "main");
    assert!(said.contains("safe-commit of person, since 20"), "{said}");
    std::fs::write(&open, "").unwrap();
    assert_eq!(first.code(), Some(0));
    assert_eq!(second.code(), Some(0));
    assert_eq!(stage.repo.changes_of("HEAD"), ["b"]);
    assert_eq!(stage.repo.changes_of("HEAD^"), ["a"]);
}

#[test]
fn the_next_command_forgets_what_a_killed_one_began() {
    let stage = Stage::new();
    stage.repo.write("a", "new");
    let hook = stage.repo.path().join(".git/hooks/pre-commit");
    // The hook kills the program that waits for it: the parent of git.
    let script = "#!/bin/sh\nkill -9 $(cut -d' ' -f4 /proc/$PPID/stat)\nexit 1\n";
    std::fs::write(&hook, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, executable).unwrap();
    let mut killed = stage.start(["safe-commit", "-m", "x", "a"]);
    assert_eq!(killed.code(), None);
    let booths = stage.repo.path().join(".git/handoff/commits");
    assert_eq!(std::fs::read_dir(&booths).unwrap().count(), 1);
    std::fs::remove_file(&hook).unwrap();
    stage.add("any");
    assert_eq!(std::fs::read_dir(&booths).unwrap().count(), 0);
    assert_eq!(stage.repo.status(), ["?? a"]);
    stage.say("safe-commit -m x a").success();
}

#[test]
fn all_that_a_hook_says_is_told() {
    let stage = Stage::new();
    stage.repo.write("a", "new");
    let hook = stage.repo.path().join(".git/hooks/pre-commit");
    let script = "#!/bin/sh\necho 'a:1: no tabs'\necho '1 problem' >&2\nexit 1\n";
    std::fs::write(&hook, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, executable).unwrap();
    assert_snapshot!(stage.say("safe-commit -m x a").snapshot(), @"
    exit status: 1
    --- stderr ---
    a:1: no tabs
    1 problem
    error: git did not make the commit: 1 problem
    ");
    let told = stage.say("safe-commit -m x a --json").json();
    assert_eq!(told["causes"][0], "a:1: no tabs\n1 problem");
}

/// A hook that makes a commit of `b` by itself, once.
fn committing_hook(stage: &Stage, name: &str) {
    let hook = stage.repo.path().join(".git/hooks").join(name);
    let (once, program) = (stage.env.work().join("once"), stage.env.binary());
    let script = format!(
        "#!/bin/sh\n[ -e {once} ] && exit 0\n: > {once}\nexec {program} safe-commit -m second b\n",
        once = once.display(),
        program = program.display()
    );
    std::fs::write(&hook, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, executable).unwrap();
}

#[test]
fn a_hook_after_a_commit_may_commit_itself() {
    let stage = Stage::new();
    stage.repo.write("a", "new").write("b", "new");
    committing_hook(&stage, "post-commit");
    stage.say("safe-commit -m first a").success();
    assert_eq!(stage.repo.changes_of("HEAD"), ["b"]);
    assert_eq!(stage.repo.changes_of("HEAD^"), ["a"]);
}

#[test]
fn a_hook_before_a_commit_that_commits_is_told_so_at_once() {
    let stage = Stage::new();
    stage.repo.write("a", "new").write("b", "new");
    let head = stage.repo.head();
    committing_hook(&stage, "pre-commit");
    let said = stage.say("safe-commit -m first a");
    assert_ne!(said.code(), Some(0));
    assert!(
        said.stderr.contains("by a hook of another commit"),
        "{}",
        said.stderr
    );
    assert_eq!(stage.repo.head(), head);
}
