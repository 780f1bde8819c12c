//! Signals, exit codes and processes left behind.

use std::os::unix::process::ExitStatusExt;

use rustix::process::{Signal, getsid, test_kill_process};

use crate::process::{Leftover, Process};
use crate::stage::Stage;

#[test]
fn an_ignored_signal_changes_nothing() {
    let script = "
        [[step]]
        ignore = ['TERM']
        [[step]]
        print = 'ready'
        [[step]]
        expect = 'go'
        [[step]]
        print = 'alive'
        [[step]]
        hang = true
    ";
    let mut process = Process::start(Stage::new(), script);
    process.until("ready");
    process.send(Signal::TERM);
    process.type_line("go");
    process.until("alive");
    process.send(Signal::TERM);
    process.send(Signal::INT);
    assert_eq!(process.end().signal(), Some(Signal::INT.as_raw()));
}

#[test]
fn it_dies_by_the_signal_it_is_told_to() {
    for (script, signal) in [
        ("[[step]]\ndie = 'KILL'", Signal::KILL),
        (
            "[[step]]\nignore = ['TERM']\n[[step]]\ndie = 'TERM'",
            Signal::TERM,
        ),
    ] {
        let mut process = Process::start(Stage::new(), script);
        assert_eq!(process.end().signal(), Some(signal.as_raw()));
    }
}

#[test]
fn a_grandchild_outlives_the_agent_and_holds_its_output() {
    let script = "
        [[step]]
        spawn = '20s'
        setsid = true
        double_fork = true
        ignores = ['TERM', 'HUP']
        [[step]]
        print = 'left {child}.'
        [[step]]
        exit = 7
    ";
    let mut process = Process::start(Stage::new(), script);
    let grandchild = Leftover::named_in(process.until("."), "left ");
    assert_eq!(process.end().code(), Some(7));

    assert_eq!(test_kill_process(grandchild.0), Ok(()));
    assert_eq!(getsid(Some(grandchild.0)), Ok(grandchild.0));
    assert!(process.output_is_held());
    #[cfg(target_os = "linux")]
    assert!(ignores(&grandchild, Signal::TERM) && ignores(&grandchild, Signal::HUP));
    drop(grandchild);
    process.rest();
}

#[test]
fn a_grandchild_can_let_go_of_the_output() {
    let script = "
        [[step]]
        spawn = '20s'
        holds_terminal = false
        [[step]]
        print = 'left {child}.'
    ";
    let mut process = Process::start(Stage::new(), script);
    let text = process.rest().to_owned();
    let grandchild = Leftover::named_in(&text, "left ");
    assert_eq!(process.end().code(), Some(0));
    assert_eq!(test_kill_process(grandchild.0), Ok(()));
    #[cfg(target_os = "linux")]
    assert!(!ignores(&grandchild, Signal::TERM));
}

#[cfg(target_os = "linux")]
fn ignores(process: &Leftover, signal: Signal) -> bool {
    let ignored = u64::from_str_radix(&process.status("SigIgn:"), 16).unwrap();
    ignored & (1 << (signal.as_raw() - 1)) != 0
}

#[test]
fn a_wrong_script_ends_with_2_and_says_where() {
    let process = Process::start(Stage::new(), "[[step]]\nprnt = 'x'");
    let (code, complaint) = process.complaint();
    assert_eq!(code, Some(2));
    assert!(
        complaint.starts_with("scripted-agent: the script `/"),
        "{complaint}"
    );
    assert!(
        complaint.contains(": line 2, column 1: step 1: unknown action `prnt`"),
        "{complaint}"
    );
}

#[test]
fn a_failed_step_is_reported_with_its_cause() {
    let process = Process::start(Stage::new(), "[[step]]\ndelete = 'nothing'");
    let expected = "scripted-agent: step 1 (`delete`, line 1): cannot delete the file `nothing`: \
                    No such file or directory (os error 2)\n";
    assert_eq!(process.complaint(), (Some(1), expected.to_owned()));
}

#[test]
fn a_closed_output_ends_it_without_a_word() {
    let script = "
        [[step]]
        expect = 'go'
        [[step]]
        print = 'nobody reads this'
    ";
    let mut process = Process::start(Stage::new(), script);
    process.close_output();
    process.type_line("go");
    assert_eq!(process.complaint(), (Some(1), String::new()));
}
