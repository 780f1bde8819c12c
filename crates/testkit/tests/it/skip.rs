use handoff_testkit::{Prefix, SKIP_LOG, TestEnv, postgres, skip_without};

const NEEDS_POSTGRES: &str = "postgres::databases_are_apart_from_each_other_and_dropped";

/// In a process of its own, as a log is named by the environment of a process.
#[test]
fn a_test_that_lacks_something_passes_and_leaves_a_line_in_the_log() {
    let env = TestEnv::without_binary();
    let log = env.work().join("skips");
    let mut command = Prefix::none().command(std::env::current_exe().unwrap());
    command
        .args(["--exact", NEEDS_POSTGRES])
        .env(SKIP_LOG, &log);
    command
        .env("NEXTEST_BINARY_ID", "kit::it")
        .env("NEXTEST_TEST_NAME", NEEDS_POSTGRES);
    command.env_remove(postgres::VARIABLE);
    env.run(command).success();

    let line = format!("kit::it {NEEDS_POSTGRES}\tno-postgres\n");
    assert_eq!(std::fs::read_to_string(log).unwrap(), line);
}

#[test]
fn nothing_is_skipped_when_nothing_is_missing() {
    assert!(!skip_without(&[]));
}
