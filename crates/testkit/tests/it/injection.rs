use std::os::unix::process::ExitStatusExt as _;

use handoff_testkit::{Errno, Fault, Injection, Need, Output, TestEnv, When, skip_without};

/// A shell writes once for each `echo`.
fn run(injection: &Injection<'_>, script: &str) -> Output {
    let env = TestEnv::without_binary();
    let mut command = env.command_under(&injection.prefix(), "sh");
    command.args(["-c", script]);
    env.run(command)
}

#[test]
fn a_program_is_killed_as_it_enters_the_nth_call() {
    if skip_without(&[Need::Strace]) {
        return;
    }
    let kill = |n| Injection {
        syscalls: &["write"],
        fault: Fault::Kill,
        when: When::nth(n),
    };
    for (n, stdout, signal) in [
        (1, "", Some(9)),
        (3, "1\n2\n", Some(9)),
        (4, "1\n2\n3\n", None),
    ] {
        let output = run(&kill(n), "echo 1; echo 2; echo 3");
        assert_eq!(
            (output.stdout.as_str(), output.status.signal()),
            (stdout, signal),
            "n = {n}"
        );
    }
}

#[test]
fn an_error_is_returned_once_or_from_then_on() {
    if skip_without(&[Need::Strace]) {
        return;
    }
    let error = |errno, when| Injection {
        syscalls: &["write"],
        fault: Fault::Error(errno),
        when,
    };
    let script = "echo 1 || true; echo 2 || true; echo 3";

    let once = run(&error(Errno::Eio, When::nth(1)), script);
    assert_eq!((once.stdout.as_str(), once.code()), ("2\n3\n", Some(0)));
    assert!(once.stderr.contains("I/O error"), "{}", once.stderr);

    // The second stream is refused as well, so the shell's complaint is not to be seen.
    let lasting = run(&error(Errno::Enospc, When::from_nth_on(2)), script);
    assert_eq!((lasting.stdout.as_str(), lasting.code()), ("1\n", Some(1)));
}

#[test]
fn each_call_of_a_set_is_counted_on_its_own() {
    if skip_without(&[Need::Strace]) {
        return;
    }
    let injection = Injection {
        syscalls: &["write", "chdir"],
        fault: Fault::Error(Errno::Eio),
        when: When::nth(2),
    };
    let output = run(&injection, "echo 1; cd /tmp && echo 2; cd / || echo 3");
    assert_eq!(output.stdout, "1\n3\n");
}
