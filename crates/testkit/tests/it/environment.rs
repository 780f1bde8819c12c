use std::os::unix::ffi::OsStrExt as _;

use handoff_testkit::TestEnv;

/// `env` prints its own environment, so it stands in for the binary.
fn env_of_env() -> TestEnv {
    TestEnv::new("/usr/bin/env")
}

#[test]
fn a_program_sees_nothing_of_the_developers_machine() {
    let env = env_of_env();
    let output = env.handoff::<&str>([]).success();
    let mut variables: Vec<String> = output
        .normalized_stdout()
        .lines()
        .filter(|line| !line.starts_with("PATH="))
        .map(str::to_owned)
        .collect();
    variables.sort();
    assert_eq!(
        variables,
        [
            "COLUMNS=100",
            "GIT_CEILING_DIRECTORIES=$TEMP",
            "GIT_CONFIG_GLOBAL=$TEMP/gitconfig",
            "GIT_CONFIG_NOSYSTEM=1",
            "HANDOFF_HOME=$TEMP/state/handoff",
            "HOME=$HOME",
            "LC_ALL=C.UTF-8",
            "NO_COLOR=1",
            "TMPDIR=$TEMP/tmp",
            "TZ=UTC",
            "XDG_CONFIG_HOME=$TEMP/config",
            "XDG_RUNTIME_DIR=$TEMP/run",
            "XDG_STATE_HOME=$TEMP/state",
        ]
    );
}

#[test]
fn a_variable_that_is_set_reaches_later_commands() {
    let mut env = env_of_env();
    env.set("HANDOFF_STORE", "postgres:///x");
    assert!(
        env.handoff::<&str>([])
            .stdout
            .contains("HANDOFF_STORE=postgres:///x\n")
    );
}

#[test]
fn a_snapshot_has_exit_code_and_both_streams() {
    let env = env_of_env();
    let script = "pwd; echo took 1.5s >&2; exit 3";
    let output = env.handoff_in(env.home(), ["sh", "-c", script]).failure(3);
    assert_eq!(
        output.snapshot(),
        "exit status: 3\n--- stdout ---\n$HOME\n--- stderr ---\ntook <duration>\n"
    );
}

#[test]
fn json_is_read_as_a_document_or_line_by_line() {
    let env = env_of_env();
    let print = |text: &str| env.handoff(["printf", text]).success();
    assert_eq!(print(r#"{"schema":1}"#).json()["schema"], 1);
    assert_eq!(print("1\\n2\\n").json_lines(), [1, 2]);
}

#[test]
#[should_panic(expected = "failed: exit status: 7")]
fn a_failed_command_is_no_success() {
    env_of_env().handoff(["sh", "-c", "exit 7"]).success();
}

#[test]
fn input_larger_than_a_pipe_is_fed_while_output_is_read() {
    let env = TestEnv::without_binary();
    let input = "x".repeat(1 << 20);
    let output = env.run_with_input(env.command("cat"), input.as_bytes());
    assert_eq!(output.stdout.len(), input.len());
}

#[test]
fn a_program_that_ends_before_it_reads_is_no_fault_of_the_kit() {
    let env = TestEnv::without_binary();
    let output = env.run_with_input(env.command("true"), &vec![b'x'; 1 << 20]);
    assert_eq!(output.code(), Some(0));
}

#[test]
fn sockets_fit_below_the_runtime_directory() {
    let env = TestEnv::without_binary();
    let longest = env
        .runtime_dir()
        .join("handoff")
        .join("0123456789abcdef.sock");
    assert!(
        longest.as_os_str().as_bytes().len() < 100,
        "{}",
        longest.display()
    );
}

#[test]
fn everything_is_gone_with_the_environment() {
    let env = TestEnv::without_binary();
    let root = env.root().to_owned();
    env.repo("gone");
    drop(env);
    assert!(!root.exists());
}
