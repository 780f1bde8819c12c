use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use handoff_testkit::{FakeTime, Need, TestEnv, skip_without};

#[test]
fn a_running_program_follows_the_wall_clock_when_it_jumps() {
    if skip_without(&[Need::Faketime]) {
        return;
    }
    let env = TestEnv::without_binary();
    let clock = FakeTime::new(env.work());
    let mut command = env.command_under(&clock.prefix(), "perl");
    command.args(["-e", "$| = 1; while (<STDIN>) { print time, \"\\n\" }"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut time = || -> i64 {
        stdin.write_all(b"\n").unwrap();
        lines.next().unwrap().unwrap().parse().unwrap()
    };

    let before = time();
    clock.shift(-3600);
    assert!((-3601..=-3540).contains(&(time() - before)));
    clock.shift(86400);
    assert!((86399..=86460).contains(&(time() - before)));

    drop(stdin);
    assert!(child.wait().unwrap().success());
}
