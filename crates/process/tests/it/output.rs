use std::time::Duration;

use handoff_process::{
    Bound, Exit, Program, RunError, StartError, Stdin, Stream, WaitError, output,
};

use crate::part::shell;

fn printed(program: &Program) -> (Exit, String, String) {
    let output = output(program, None).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.exit,
        text(output.stdout.into()),
        text(output.stderr.into()),
    )
}

#[test]
fn both_streams_and_the_exit_code_arrive() {
    let (exit, stdout, stderr) = printed(&shell("printf out; printf err >&2; exit 3"));
    assert_eq!(
        (exit, stdout.as_str(), stderr.as_str()),
        (Exit::Code(3), "out", "err")
    );
}

#[test]
fn a_signal_is_not_taken_for_a_code() {
    assert_eq!(
        output(&shell("kill -TERM $$"), None).unwrap().exit,
        Exit::Signal(15)
    );
}

#[test]
fn nothing_is_inherited() {
    let mut program = Program::new("/usr/bin/env", "/");
    program.environment.insert("ONLY".into(), "this".into());
    assert_eq!(printed(&program).1, "ONLY=this\n");
}

#[test]
fn a_program_is_looked_for_in_its_own_path() {
    let directory = handoff_testkit::TestEnv::without_binary();
    std::os::unix::fs::symlink("/bin/pwd", directory.work().join("where")).unwrap();
    let mut program = Program::new("where", "/");
    program
        .environment
        .insert("PATH".into(), directory.work().into());
    assert_eq!(printed(&program).1, "/\n");
}

#[test]
fn input_longer_than_a_pipe_arrives_whole() {
    let mut program = Program::new("/bin/cat", "/");
    let input = b"0123456789abcde\n".repeat(20_000);
    program.stdin = Stdin::Bytes(input.clone());
    program.stdout = Bound::Whole(input.len());
    assert_eq!(Vec::from(output(&program, None).unwrap().stdout), input);
}

#[test]
fn of_a_flood_the_end_is_kept_and_the_rest_counted() {
    let mut program = shell("head -c 3000000 /dev/zero; printf end");
    program.stdout = Bound::Last(1000);
    let stdout = output(&program, None).unwrap().stdout;
    assert_eq!(stdout.dropped(), 3_000_003 - 1000);
    let kept = Vec::from(stdout);
    assert_eq!((kept.len(), &kept[997..]), (1000, &b"end"[..]));
}

#[test]
fn an_endless_flood_is_ended_where_the_whole_was_wanted() {
    let mut program = Program::new("/usr/bin/yes", "/");
    program.stdout = Bound::Whole(100_000);
    let error = output(&program, None).unwrap_err();
    let RunError::Wait(WaitError::TooMuch { stream, limit }) = error else {
        panic!("{error}")
    };
    assert_eq!((stream, limit), (Stream::Stdout, 100_000));
}

#[test]
fn a_flood_does_not_outlast_its_time() {
    let program = Program::new("/usr/bin/yes", "/");
    let output = output(&program, Some(Duration::from_millis(20))).unwrap();
    assert_eq!(output.exit, Exit::TimedOut);
    assert!(output.stdout.dropped() > 0, "it was in full flow");
}

#[test]
fn what_cannot_start_is_named() {
    let error = output(&Program::new("/no/such/program", "/"), None).unwrap_err();
    let RunError::Start(error @ StartError::Start { .. }) = error else {
        panic!("{error}")
    };
    assert_eq!(error.to_string(), "cannot start `/no/such/program` in `/`");
}
