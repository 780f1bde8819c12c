//! A whole tree is ended: the one who ends it is a second run of this test binary, because it ends
//! all its descendants.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use handoff_process::{Size, Terminal, tree};

use crate::part::{BOUND, is_gone, shell};

const PART: &str = "HANDOFF_PROCESS_TEST_TREE";

/// A grandchild in a session of its own, and a great-grandchild whose parent is gone; both ignore HUP and TERM.
const FAMILY: &str = "trap '' HUP TERM; setsid sh -c 'trap \"\" HUP TERM; (sleep 1000 & echo process $!); echo process $$; sleep 1000' & \
                      echo process $$; sleep 1000";

#[test]
#[ignore = "the part of the one who ends a tree, played by a second process"]
#[expect(
    clippy::disallowed_methods,
    reason = "the part is assigned by a variable"
)]
fn plays_the_holder() {
    if std::env::var_os(PART).is_none() {
        return;
    }
    tree::adopt().unwrap();
    let mut terminal = Terminal::start(&shell(FAMILY), Size::DETACHED).unwrap();
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while text.matches("process").count() < 3 || !text.ends_with('\n') {
        if let handoff_process::terminal::Reading::Some(length) =
            terminal.read(&mut buffer).unwrap()
        {
            text += str::from_utf8(&buffer[..length]).unwrap();
        }
    }
    println!("\n{}", text.replace('\r', ""));
    assert!(tree::descendants(&[]).unwrap().len() >= 4);
    let spared = terminal.identity().pid;
    tree::end(|| vec![spared], BOUND).unwrap();
    assert!(terminal.identity().is_alive());
    assert_eq!(tree::end(Vec::new, BOUND).unwrap(), []);
    println!("\nended");
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the part is played by a second process"
)]
fn nothing_of_a_tree_is_left() {
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "tree::plays_the_holder",
            "--ignored",
            "--nocapture",
        ])
        .env(PART, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: Vec<String> = BufReader::new(holder.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .collect();
    assert!(holder.wait().unwrap().success(), "{lines:?}");
    assert!(lines.contains(&"ended".to_owned()), "{lines:?}");
    let processes: Vec<i32> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("process ")?.parse().ok())
        .collect();
    assert_eq!(processes.len(), 3);
    assert!(processes.into_iter().all(is_gone));
}
