//! `handoff upgrade`, against a server on this machine that serves good and bad releases.

mod crash;
mod installed;
mod program;
mod server;

use std::sync::Arc;

use insta::assert_snapshot;

use crate::release_server::Reply;
use installed::{Installed, NEWER};

#[test]
fn a_newer_release_replaces_the_program() {
    let installed = Installed::new();
    installed.serve(NEWER);
    let upgraded = installed.upgrade(&[]);
    assert_snapshot!(installed.snapshot(&upgraded), @"
    exit status: 0
    --- stdout ---
    handoff VERSION is now 99.0.0
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    ");
    assert_eq!(installed.version(), NEWER);
    assert_eq!(installed.files(), ["handoff"]);
    assert_eq!(
        installed.server.asked(),
        ["/latest", "/checksum", "/program"]
    );
}

#[test]
fn the_answer_in_json_says_what_was_and_what_is() {
    let installed = Installed::new();
    installed.serve(NEWER);
    let upgraded = installed.upgrade(&["--json"]);
    assert_snapshot!(installed.snapshot(&upgraded), @r#"
    exit status: 0
    --- stdout ---
    {"schema":"handoff.upgrade/1","outcome":"upgraded","installed":"VERSION","newest":"99.0.0","platform":"PLATFORM","program":"$TEMP/bin/handoff"}
    "#);
}

#[test]
fn a_check_says_and_does_nothing() {
    let installed = Installed::new();
    installed.serve(NEWER);
    let before = installed.identity();
    assert_snapshot!(installed.snapshot(&installed.upgrade(&["--check"])), @"
    exit status: 0
    --- stdout ---
    This is handoff VERSION; there is 99.0.0
    --- stderr ---
    Get it: `handoff upgrade`
    ");
    let json = installed.upgrade(&["--check", "--json"]).success().json();
    assert_eq!(json["outcome"], "available");
    assert_eq!(installed.identity(), before);
    assert_eq!(installed.server.asked(), ["/latest", "/latest"]);
}

#[test]
fn the_same_version_is_left_alone() {
    let installed = Installed::new();
    installed.serve(env!("CARGO_PKG_VERSION"));
    let before = installed.identity();
    assert_snapshot!(installed.snapshot(&installed.upgrade(&[])), @"
    exit status: 0
    --- stdout ---
    This is the newest release: handoff VERSION
    ");
    assert_eq!(installed.identity(), before);
    assert_eq!(installed.server.asked(), ["/latest"]);
}

#[test]
fn an_older_release_is_never_installed() {
    let installed = Installed::new();
    installed.serve("0.0.1");
    let before = installed.identity();
    assert_snapshot!(installed.snapshot(&installed.upgrade(&[])), @"
    exit status: 0
    --- stdout ---
    This is handoff VERSION, newer than the newest release: 0.0.1
    ");
    assert_eq!(installed.identity(), before);
    assert_eq!(installed.server.asked(), ["/latest"]);
}

#[test]
fn permissions_and_the_link_one_starts_it_by_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let installed = Installed::copied();
    installed.serve(NEWER);
    let mode = std::fs::Permissions::from_mode(0o751);
    std::fs::set_permissions(&installed.program, mode).unwrap();
    let link = installed.env.work().join("hand");
    std::os::unix::fs::symlink(&installed.program, &link).unwrap();
    installed.upgrade_as(&link, &[]).success();
    assert!(link.is_symlink());
    assert_eq!(installed.version(), NEWER);
    let metadata = installed.program.metadata().unwrap();
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o751);
}

#[test]
fn the_address_comes_from_the_option_then_the_environment_then_the_configuration() {
    let mut installed = Installed::new();
    let say = |installed: &Installed| {
        let output = installed.bare(&["upgrade", "--check"]);
        installed.snapshot(&output)
    };
    assert_snapshot!(say(&installed), @"
    exit status: 1
    --- stderr ---
    error: this build does not know where its releases are
    hint: name the place with `--release-url`, HANDOFF_RELEASE_URL, or `[upgrade] url` in the configuration
    ");
    let config = installed.env.config_home().join("handoff/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    let configured = installed.server.url("/configured");
    std::fs::write(&config, format!("[upgrade]\nurl = \"{configured}\"\n")).unwrap();
    say(&installed);
    let variable = installed.server.url("/variable");
    installed.env.set("HANDOFF_RELEASE_URL", variable);
    say(&installed);
    installed.upgrade(&["--check"]);
    assert_eq!(
        installed.server.asked(),
        ["/configured", "/variable", "/latest"]
    );
}

#[test]
fn an_address_that_may_not_be_asked_is_refused() {
    let installed = Installed::new();
    let output = installed.bare(&["upgrade", "--release-url", "http://example.org/latest"]);
    assert_snapshot!(installed.snapshot(&output), @"
    exit status: 2
    --- stderr ---
    error: `--release-url` is not an address that can be used
      because only `https` is used, and `http` on this machine
    hint: one that can is `https://api.github.com/repos/OWNER/NAME/releases/latest`
    ");
    let output = installed.bare(&[
        "upgrade",
        "--release-url",
        "https://me:hunter2@example.org/",
    ]);
    assert_snapshot!(installed.snapshot(&output), @"
    exit status: 2
    --- stderr ---
    error: `--release-url` is not an address that can be used
      because it has a name or password in it
    hint: one that can is `https://api.github.com/repos/OWNER/NAME/releases/latest`
    ");
}

#[test]
fn a_session_may_not_upgrade() {
    let mut installed = Installed::new();
    installed.serve(NEWER);
    let session = "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60";
    installed.env.set("HANDOFF_SESSION", session);
    assert_snapshot!(installed.snapshot(&installed.upgrade(&[])), @"
    exit status: 9
    --- stderr ---
    error: not allowed
      because ses_1 may not replace this program; a person decides that
    ");
    assert_eq!(installed.server.asked(), [""; 0]);
}

#[test]
fn two_upgrades_do_not_meet() {
    let installed = Installed::new();
    installed.serve(NEWER);
    let directory = std::fs::File::open(installed.program.parent().unwrap()).unwrap();
    directory.lock().unwrap();
    assert_snapshot!(installed.snapshot(&installed.upgrade(&[])), @"
    exit status: 4
    --- stderr ---
    error: this program cannot be replaced where it lies
      because another upgrade is at work in `$TEMP/bin`
    hint: wait for it, then look: `handoff version`
    ");
    drop(directory);
    installed.upgrade(&[]).success();
}

#[test]
fn a_program_that_was_replaced_meanwhile_is_left_alone() {
    let installed = Installed::new();
    let other = installed.program.with_file_name("other");
    std::fs::write(&other, "somebody was faster").unwrap();
    let program = installed.program.clone();
    let replace = Arc::new(move || std::fs::rename(&other, &program).unwrap());
    let release = installed.release(NEWER);
    installed
        .server
        .reply("/latest", Reply::After(replace, release));
    assert_snapshot!(installed.snapshot(&installed.upgrade(&[])), @"
    exit status: 4
    --- stderr ---
    error: this program cannot be replaced where it lies
      because `$TEMP/bin/handoff` was replaced while this command ran
    hint: look what is there now: `handoff version`
    ");
    let content = std::fs::read_to_string(&installed.program).unwrap();
    assert_eq!(content, "somebody was faster");
}

#[test]
fn a_program_that_cargo_installed_is_left_to_cargo() {
    let installed = Installed::below("home/.cargo/bin");
    installed.serve(NEWER);
    let before = installed.identity();
    assert_snapshot!(installed.snapshot(&installed.upgrade(&[])), @"
    exit status: 1
    --- stderr ---
    error: `$HOME/.cargo/bin/handoff` belongs to cargo
    hint: get the new version from it: `cargo install`, from where this one came
    ");
    assert_snapshot!(installed.snapshot(&installed.upgrade(&["--check"])), @"
    exit status: 0
    --- stdout ---
    This is handoff VERSION; there is 99.0.0
    --- stderr ---
    Get it: `cargo install`, from where this one came
    ");
    assert_eq!(installed.identity(), before);
}

#[test]
fn a_directory_that_may_not_be_written_to_is_named() {
    use handoff_testkit::{Need, other_uid, skip_without};
    if skip_without(&[Need::Root]) {
        return;
    }
    let installed = Installed::copied();
    installed.serve(NEWER);
    let mut command = installed
        .env
        .command_under(&other_uid::prefix(), &installed.program);
    let url = installed.server.url("/latest");
    command.args(["upgrade", "--release-url", &url]);
    let output = installed.env.run(command);
    assert_snapshot!(installed.snapshot(&output), @"
    exit status: 1
    --- stderr ---
    error: this program cannot be replaced where it lies
      because you may not write to `$TEMP/bin`
      because Permission denied (os error 13)
    hint: run `handoff upgrade` as the user who installed it there, or install handoff where you may write
    ");
    assert_eq!(installed.server.asked(), ["/latest"]);
}
