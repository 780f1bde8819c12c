//! Processes that switch while others read: no reader ever finds no feature.
//!
//! This test binary runs itself again, and reads from its input which part is its own.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};

use handoff_files::Lock;
use handoff_testkit::TestEnv;
use handoff_workspace::{Current, Workspace};

use crate::stage::{Stage, name, stamp};

const SWITCHERS: [&str; 4] = ["a", "b", "c", "d"];
const SWITCHES: usize = 200;
const READERS: usize = 3;
const READS: usize = 3000;

#[test]
fn four_processes_switch_and_no_reader_fails() {
    let stage = Stage::with(&SWITCHERS);
    stage.workspace.switch(&name("a"), stamp(0)).unwrap();
    let env = TestEnv::without_binary();
    let switchers = SWITCHERS.iter().map(|name| play(&env, &stage.root(), name));
    let readers = (0..READERS).map(|_| play(&env, &stage.root(), "read"));
    let players: Vec<_> = switchers.chain(readers).collect();
    for mut player in players {
        assert!(player.wait().unwrap().success());
    }
}

fn play(env: &TestEnv, root: &Path, part: &str) -> Child {
    let mut command = env.command(std::env::current_exe().unwrap());
    command
        .args(["--exact", "switching::plays_its_part", "--ignored"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    write!(input, "{part} {}", root.display()).unwrap();
    child
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn plays_its_part() {
    let input = std::io::read_to_string(std::io::stdin()).unwrap();
    let (part, root) = input.split_once(' ').unwrap();
    let workspace = Workspace::open(Path::new(root)).unwrap().unwrap();
    if part == "read" {
        read(&workspace);
    } else {
        switch(&workspace, part);
    }
}

fn switch(workspace: &Workspace, part: &str) {
    let path = workspace.dir().path().join("workspace.lock");
    for _ in 0..SWITCHES {
        let lock = Lock::acquire(&path, "test").unwrap();
        workspace.switch(&name(part), stamp(0)).unwrap();
        lock.release();
    }
}

/// What `list`, `status` and `next` do first.
fn read(workspace: &Workspace) {
    for _ in 0..READS {
        let Current::Feature(name) = workspace.current().unwrap() else {
            panic!("no feature is current");
        };
        assert!(workspace.feature(&name).unwrap().is_some());
        assert_eq!(workspace.list().unwrap().features.len(), SWITCHERS.len());
    }
}
