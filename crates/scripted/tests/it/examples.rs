//! The example scripts do what their comments say.

use rustix::process::Signal;

use crate::process::{Leftover, Process};
use crate::stage::Stage;

const HELLO: &str = include_str!("../../scripts/hello.toml");
const PERMISSION: &str = include_str!("../../scripts/permission.toml");
const STUBBORN: &str = include_str!("../../scripts/stubborn.toml");

#[test]
fn hello_writes_one_file() {
    let stage = Stage::new().with_variable("HANDOFF_ATTEMPT", "3");
    assert_eq!(stage.play(HELLO).ending(), "finished");
    assert_eq!(stage.read("hello.txt"), "Hello from attempt 3.\n");
}

#[test]
fn permission_edits_only_when_allowed() {
    let stage = Stage::new();
    let refused = stage.play_with("2\nlook first\r", PERMISSION);
    assert_eq!(refused.ending(), "exited with 1");
    assert!(refused.text().ends_with("You said: look first\n"));
    assert!(!stage.path().join("notes.txt").exists());

    let allowed = stage.play_with("1\n", PERMISSION);
    assert!(allowed.text().ends_with("Good-bye.\n"));
    assert_eq!(stage.read("notes.txt"), "The agent was here.\n");
}

#[test]
fn stubborn_has_to_be_killed() {
    let mut process = Process::start(Stage::new(), STUBBORN);
    let left_behind = Leftover::named_in(process.until("not go."), "I left ");
    process.send(Signal::TERM);
    process.send(Signal::HUP);
    process.send(Signal::KILL);
    assert_eq!(process.end().to_string(), "signal: 9 (SIGKILL)");
    assert!(process.output_is_held());
    drop(left_behind);
    process.rest();
}
