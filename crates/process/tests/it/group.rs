use std::time::Duration;

use handoff_process::{Child, Exit, Program, start};
use rustix::process::{Pid, Signal, kill_process};

use crate::part::{BOUND, is_gone, shell};

fn first_line(child: &mut Child) -> String {
    for _ in 0..1000 {
        child.wait(Some(Duration::from_millis(10))).unwrap();
        let text = String::from_utf8(child.stdout().to_bytes()).unwrap();
        if let Some((line, _)) = text.split_once('\n') {
            return line.to_owned();
        }
    }
    panic!("the program printed nothing");
}

#[test]
fn a_timeout_leaves_the_program_running_and_end_ends_it() {
    let mut child = start(&Program::new("/bin/sleep", "/").with_arguments(["1000"])).unwrap();
    assert_eq!(child.wait(Some(Duration::ZERO)).unwrap(), Exit::TimedOut);
    assert_eq!(child.end().unwrap(), Exit::Signal(9));
    assert_eq!(child.wait(None).unwrap(), Exit::Signal(9));
}

#[test]
fn ending_a_program_ends_its_children() {
    let mut child = start(&shell("sleep 1000 & echo $!; wait")).unwrap();
    let grandchild = first_line(&mut child).parse().unwrap();
    child.end().unwrap();
    assert!(is_gone(grandchild));
}

#[test]
fn what_a_program_leaves_behind_ends_with_it() {
    let mut child = start(&shell("sleep 1000 & echo $!")).unwrap();
    assert_eq!(child.wait(Some(BOUND)).unwrap(), Exit::Code(0));
    assert!(is_gone(first_line(&mut child).parse().unwrap()));
}

#[test]
fn dropping_a_child_ends_it() {
    let child = start(&Program::new("/bin/sleep", "/").with_arguments(["1000"])).unwrap();
    let pid = i32::try_from(child.identity().pid).unwrap();
    drop(child);
    assert!(is_gone(pid));
}

/// Prints its number once it is in a session of its own, with our pipe as its output.
const STRANGER: &str = "exec 3>&1
(setsid sh -c 'echo $$; exec sleep 1000 >&3' &) | { read pid; echo $pid; }";

#[test]
fn one_that_left_the_group_with_our_pipe_does_not_keep_us() {
    let mut child = start(&shell(STRANGER)).unwrap();
    let exit = child.wait(Some(BOUND)).unwrap();
    let stranger = first_line(&mut child)
        .parse()
        .ok()
        .and_then(Pid::from_raw)
        .unwrap();
    kill_process(stranger, Signal::KILL).expect("it outlived its group");
    assert_eq!(exit, Exit::Code(0));
}

#[test]
fn two_processes_of_one_program_have_two_identities() {
    let program = Program::new("/bin/sleep", "/").with_arguments(["1000"]);
    let (first, second) = (start(&program).unwrap(), start(&program).unwrap());
    assert_ne!(first.identity(), second.identity());
    assert!(first.identity().started <= second.identity().started);
}
