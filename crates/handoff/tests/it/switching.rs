//! Programs switch while others read: no reader ever finds no feature. 4 times 200 switches against 1,500 readers made the
//! earlier tool fail 18 times; less than half of that would still show it.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::stage::Stage;

const SWITCHES: usize = 100;
const READS: usize = 200;

/// Runs the program this often in a row; the loop is in a shell, because starting from many threads of one test takes
/// longer than the runs.
fn many(stage: &Stage, times: usize, words: &str, name: &str) -> std::process::Child {
    let log = stage.env.root().join(name);
    let script = format!(
        "i=0; while [ $i -lt {times} ]; do {words} >> {log} 2>&1 || echo \"FAILED $?\" >> {log}; i=$((i+1)); done",
        log = log.display(),
    );
    let mut shell = stage.env.command("sh");
    shell.args(["-c", &script, "sh"]).arg(stage.env.binary());
    shell.current_dir(stage.repo.path()).stdin(Stdio::null());
    shell.spawn().unwrap()
}

#[test]
fn four_processes_switch_and_no_reader_fails() {
    let stage = Stage::new();
    for name in ["a", "b", "c", "d"] {
        stage.run(["init", name, "--force"]).success();
    }
    let mut children = vec![];
    for name in ["a", "b", "c", "d"] {
        let words = format!("\"$1\" switch {name}");
        children.push(many(&stage, SWITCHES, &words, &format!("switch-{name}")));
    }
    for reader in 0..3 {
        children.push(many(
            &stage,
            READS,
            "\"$1\" status --json",
            &format!("read-{reader}"),
        ));
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    for reader in 0..3 {
        let log = fs::read_to_string(stage.env.root().join(format!("read-{reader}"))).unwrap();
        assert_eq!(log.lines().count(), READS);
        for line in log.lines() {
            let status: Value = serde_json::from_str(line).unwrap();
            assert!(status["feature"].is_string(), "{line}");
        }
    }
    for name in ["a", "b", "c", "d"] {
        let log = fs::read_to_string(stage.env.root().join(format!("switch-{name}"))).unwrap();
        assert_eq!(log.matches("is current").count(), SWITCHES, "{log}");
    }
}
