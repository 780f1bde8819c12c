//! The starter is a second run of this test binary, so that it can be killed.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use handoff_process::{Program, start};

use crate::part::is_gone;

const PART: &str = "HANDOFF_PROCESS_TEST_STARTER";

#[test]
#[ignore = "the part of the starter, played by a second process"]
#[expect(
    clippy::disallowed_methods,
    reason = "the part is assigned by a variable"
)]
fn plays_the_starter() {
    if std::env::var_os(PART).is_none() {
        return;
    }
    let mut child = start(&Program::new("/bin/sleep", "/").with_arguments(["1000"])).unwrap();
    println!("\nstarted {}", child.identity().pid);
    child.wait(None).unwrap();
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the starter is to be killed, not supervised"
)]
fn a_killed_starter_takes_its_child_along() {
    let mut starter = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "starter::plays_the_starter",
            "--ignored",
            "--nocapture",
        ])
        .env(PART, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(starter.stdout.take().unwrap()).lines();
    let child = lines
        .find_map(|line| line.unwrap().strip_prefix("started ")?.parse().ok())
        .expect("the starter says whom it started");
    starter.kill().unwrap();
    starter.wait().unwrap();
    assert!(is_gone(child));
}
