//! Who may read what the program writes, and whose directories it uses.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use handoff_testkit::{Need, Output, TestEnv, other_uid, skip_without};
use insta::assert_snapshot;

use crate::stage::{Stage, tree};

const WRITES_A_FILE: &str = "[[step]]\nwrite = { path = \"new.txt\", text = \"new\\n\" }\n";

#[test]
fn everything_is_private_whatever_the_umask() {
    let stage = Stage::new();
    let script = stage.script("agent.toml", WRITES_A_FILE);
    let mut shell = stage.env.command("sh");
    let commands = "umask 000 && \"$0\" queue add a --brief x && \"$0\" worker --once --script \"$1\" \
                    && \"$0\" queue add b --brief x --after a && \"$0\" worker --once --script \"$1\" \
                    && \"$0\" hold && \"$0\" doctor";
    shell.current_dir(stage.repo.path()).args(["-c", commands]);
    shell.arg(stage.env.binary()).arg(script);
    stage.env.run(shell).success();

    let home = stage.env.handoff_home();
    let found = tree(&home);
    for (path, (mode, _, _)) in &found {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode & 0o7777, expected, "{} {mode:o}", path.display());
    }
    let names: Vec<_> = found
        .keys()
        .filter_map(|path| path.file_name()?.to_str())
        .collect();
    for name in ["handoff.db", "handoff.lock", "holder.lock", "prompt.md"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    assert!(
        names.iter().any(|name| name.starts_with("hof-")),
        "{names:?}"
    );
    let mark = stage.repo.path().join(".git/handoff/project");
    assert_eq!(mark.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

/// The program where another user may start it, which the build directory need not allow.
fn program_for_all(env: &TestEnv) -> std::path::PathBuf {
    let copy = env.root().join("handoff");
    fs::copy(env.binary(), &copy).unwrap();
    copy
}

fn as_other_user(stage: &Stage, program: &Path, words: &str) -> Output {
    let mut command = stage.env.command_under(&other_uid::prefix(), program);
    command
        .current_dir(stage.repo.path())
        .args(words.split(' '));
    stage.env.run(command)
}

#[test]
fn the_state_directory_of_somebody_else_is_refused() {
    if skip_without(&[Need::Root]) {
        return;
    }
    let stage = Stage::new();
    let program = program_for_all(&stage.env);
    stage.add("fix");
    other_uid::give(stage.repo.path());
    // Readable and even writable by all, so that only the program's own check can refuse it.
    let home = stage.env.handoff_home();
    for mode in [0o700, 0o755, 0o777] {
        fs::set_permissions(&home, fs::Permissions::from_mode(mode)).unwrap();
        let before = (tree(&home), tree(stage.repo.path()));
        for words in [
            "queue list",
            "queue add more --brief x",
            "queue claim",
            "events --everything",
        ] {
            as_other_user(&stage, &program, words).failure(5);
        }
        assert_eq!((tree(&home), tree(stage.repo.path())), before);
    }
    fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).unwrap();
    assert_snapshot!(as_other_user(&stage, &program, "queue claim").snapshot(), @"
    exit status: 5
    --- stderr ---
    error: cannot use `$TEMP/state/handoff` for the store
      because `$TEMP/state/handoff` belongs to user 0
    hint: see what is wrong: `handoff doctor`
    ");
}

#[test]
fn root_refuses_the_state_directory_of_a_user() {
    if skip_without(&[Need::Root]) {
        return;
    }
    let stage = Stage::new();
    stage.add("fix");
    let home = stage.env.handoff_home();
    other_uid::give(&home);
    let before = tree(&home);
    assert_snapshot!(stage.say("queue list").snapshot(), @"
    exit status: 5
    --- stderr ---
    error: cannot use `$TEMP/state/handoff` for the store
      because `$TEMP/state/handoff` belongs to user 65534
    hint: see what is wrong: `handoff doctor`
    ");
    stage.say("queue add more --brief x").failure(5);
    assert_eq!(tree(&home), before);
}

#[test]
fn a_state_directory_that_others_may_write_to_is_refused() {
    let stage = Stage::new();
    let home = stage.env.handoff_home();
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o777)).unwrap();
    assert_snapshot!(stage.say("queue add fix --brief x").snapshot(), @"
    exit status: 5
    --- stderr ---
    error: cannot use `$TEMP/state/handoff` for the store
      because `$TEMP/state/handoff` is writable by others (mode 0777)
    hint: see what is wrong: `handoff doctor`
    ");
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
}

#[test]
fn another_user_works_in_a_directory_of_their_own() {
    let stage = Stage::new();
    let program = program_for_all(&stage.env);
    let script = stage.script("agent.toml", WRITES_A_FILE);
    other_uid::give(stage.env.root());
    for words in [
        "queue add fix --brief x --verify true",
        "queue list",
        &format!("worker --once --script {}", script.display()),
        "queue show fix",
        "events",
        "doctor --audit",
    ] {
        as_other_user(&stage, &program, words).success();
    }
    let uids: Vec<_> = tree(&stage.env.handoff_home())
        .into_values()
        .map(|it| it.1)
        .collect();
    if other_uid::prefix().command("true").get_program() == "setpriv" {
        assert!(uids.iter().all(|uid| *uid == other_uid::UID), "{uids:?}");
    }
}
