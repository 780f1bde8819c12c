use std::time::Duration;

use handoff_testkit::{Need, TestEnv, namespace, skip_without};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

#[test]
fn every_other_boot_has_an_id_of_its_own() {
    if skip_without(&[Need::Root, Need::MountNamespace]) {
        return;
    }
    let env = TestEnv::without_binary();
    let real = std::fs::read_to_string(BOOT_ID).unwrap();
    let boot = namespace::other_boot(env.work());
    let id = || {
        let mut command = env.command_under(&boot, "cat");
        command.arg(BOOT_ID);
        env.run(command).success().stdout
    };
    let first = id();
    assert_eq!(first, id());
    assert_eq!(first.len(), real.len());
    assert_ne!(first, real);

    let mut command = env.command_under(&namespace::other_boot(env.work()), "cat");
    command.arg(BOOT_ID);
    assert_ne!(env.run(command).stdout, first);
    assert_eq!(std::fs::read_to_string(BOOT_ID).unwrap(), real);
}

#[test]
fn uptime_is_ahead_in_a_time_namespace() {
    if skip_without(&[Need::Root, Need::TimeNamespace]) {
        return;
    }
    let env = TestEnv::without_binary();
    let ahead = Duration::from_secs(900_000);
    let prefix = namespace::other_uptime(ahead, Duration::from_secs(1));
    let mut command = env.command_under(&prefix, "cat");
    command.arg("/proc/uptime");
    let uptime = env.run(command).success().stdout;
    let seconds: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
    assert!(seconds >= ahead.as_secs_f64(), "{uptime}");

    let mut command = env.command_under(&prefix, "sh");
    command.args(["-c", "exit 5"]);
    assert_eq!(env.run(command).code(), Some(5));
}
