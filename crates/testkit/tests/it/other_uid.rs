use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use handoff_testkit::{TestEnv, other_uid};

#[test]
fn a_closed_file_cannot_be_read_by_another_user() {
    let env = TestEnv::without_binary();
    let secret = env.work().join("secret");
    fs::write(&secret, "s").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();

    let mut command = env.command_under(&other_uid::prefix(), "cat");
    command.arg(&secret);
    assert!(
        env.run(command)
            .failure(1)
            .stderr
            .contains("Permission denied")
    );
}

#[test]
fn what_is_given_away_is_writable_to_the_other_user() {
    let env = TestEnv::without_binary();
    let directory = env.work().join("theirs/inner");
    fs::create_dir_all(&directory).unwrap();
    std::os::unix::fs::symlink("/", directory.join("link")).unwrap();
    other_uid::give(env.work().join("theirs"));

    let mut command = env.command_under(&other_uid::prefix(), "touch");
    command.arg(directory.join("file"));
    env.run(command).success();
    assert!(directory.join("file").exists());
}
