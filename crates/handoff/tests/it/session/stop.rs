//! Ending a session: in its own words, by asking, by force; and always all of it.

use insta::assert_snapshot;
use serde_json::json;

use super::hall::{Hall, Process};

#[test]
fn a_shell_that_reads_is_told_to_exit() {
    let hall = Hall::new();
    let shell = hall.bash("shell").agent();
    assert_snapshot!(hall.stage.say("stop --id shell").snapshot(), @r"
    exit status: 0
    --- stdout ---
    shell has left by itself; nothing of it is left
    ");
    assert!(shell.ends());
    let again = hall.stage.json("stop --id shell");
    assert_eq!(
        (&again["exit_code"], &again["by"]),
        (&0.into(), &json!(null))
    );
}

#[test]
fn a_program_without_such_words_is_asked() {
    let hall = Hall::new();
    hall.run("cat", &["cat"]);
    let stopped = hall.stage.json("stop --id cat");
    assert_eq!(
        (&stopped["by"], &stopped["signal"]),
        (&"term".into(), &15.into())
    );
}

/// A child in a session of its own, and one whose parent is gone; all of them ignore TERM and HUP.
const STUBBORN: &str = "trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; (sleep 1000 & echo $! >a); echo $$ >b; sleep 1000' & \
                        echo $$ >c; sleep 1000";

#[test]
fn what_does_not_listen_is_killed_with_everything_it_started() {
    let hall = Hall::new();
    hall.run("deaf", &["sh", "--", "-c", STUBBORN]);
    let processes = ["a", "b", "c"].map(|name| hall.process_in(name));
    let stopped = hall.stage.json("stop --id deaf --timeout 0");
    assert_eq!(
        (&stopped["by"], &stopped["left"]),
        (&"kill".into(), &json!([]))
    );
    assert!(processes.iter().all(|process| !process.lives()));
}

#[test]
fn a_session_that_was_started_in_another_one_outlives_it() {
    let hall = Hall::new();
    let outer = hall.bash("outer");
    let program = hall.stage.env.binary();
    let command = format!("{} run sh --detach --id inner", program.display());
    outer.types(&command);
    outer.shows("inner runs");
    hall.stage.say("stop --id outer").success();
    let inner = hall.listed("inner");
    assert_ne!(inner["state"], "exited");
    assert!(Process::watch(&inner["pid"]).lives());
}

#[test]
fn what_an_agent_leaves_behind_ends_with_it() {
    let hall = Hall::new();
    let shell = hall.bash("left");
    shell.types("setsid sleep 1000 & echo $! >child; exit 7");
    assert_eq!(hall.stage.say("wait --id left").code(), Some(7));
    let child = std::fs::read_to_string(hall.stage.repo.path().join("child")).unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{}", child.trim())).exists());
}
