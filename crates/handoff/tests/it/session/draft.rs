//! Words of a person at a terminal: nothing of ours goes with them, and they go with nothing of ours.

use rustix::process::Signal;

use super::hall::{Hall, pause};

#[test]
fn an_old_line_that_was_fetched_is_not_run_with_a_message() {
    let hall = Hall::new();
    let shell = hall.bash("recalled");
    shell.types("echo x >>ran");
    shell.shows("echo x >>ran");
    hall.stage.say("wait --id recalled --until idle").success();
    shell.client().input("\x1b[A").unwrap();
    let waits = hall.stage.say("send --id recalled --timeout 1 true");
    assert_eq!(waits.code(), Some(124), "{}", waits.stderr);
    assert_eq!(hall.messages("recalled")[0]["because"], "draft");
    shell.client().input("\x03").unwrap();
    hall.stage.say("wait --id recalled --until idle").success();
    let ran = std::fs::read_to_string(hall.stage.repo.path().join("ran")).unwrap();
    assert_eq!(ran, "x\n");
}

#[test]
fn a_draft_is_not_run_by_stopping() {
    let hall = Hall::new();
    let shell = hall.bash("drafted");
    shell.client().input("touch ran; ").unwrap();
    shell.shows("touch ran;");
    let stopped = hall.stage.json("stop --id drafted --timeout 1");
    assert_ne!(stopped["by"], "exit_keys");
    assert!(!hall.stage.repo.path().join("ran").exists());
}

#[test]
fn the_rest_of_an_open_command_is_not_a_message() {
    let hall = Hall::new();
    hall.bash("open");
    let words = ["send", "--id", "open", "--message", "echo \"unfinished"];
    hall.stage.run(words).success();
    let waits = hall.stage.say("send --id open --timeout 1 true");
    assert_eq!(waits.code(), Some(124), "{}", waits.stderr);
    assert_eq!(hall.messages("open")[1]["because"], "draft");
}

#[test]
fn a_key_is_good_for_one_message() {
    let hall = Hall::new();
    hall.bash("keyed");
    for _ in 0..2 {
        hall.stage.say("send --id keyed --key k1 true").success();
    }
    hall.stage.say("send --id keyed --key k1 false").failure(4);
    assert_eq!(hall.messages("keyed").len(), 1);
    let listed = hall.stage.say("messages --id keyed").success();
    assert!(listed.stdout.contains("true"), "{}", listed.stdout);
}

#[test]
fn what_is_sent_to_a_holder_that_stands_still_may_have_arrived_and_stopping_wakes_it() {
    let hall = Hall::new();
    let shell = hall.bash("still");
    let (agent, holder) = (shell.agent(), shell.holder());
    holder.signal(Signal::STOP);
    // What it said before is not known to be true any more.
    while hall.listed("still")["state"] != "unknown" {
        pause();
    }
    hall.stage.say("send --id still --no-wait true").failure(7);
    hall.stage.say("stop --id still --timeout 0").success();
    assert!(agent.ends() && holder.ends());
}
