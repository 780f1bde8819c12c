//! New programs that are what their checksum says and still do not work.

use insta::assert_snapshot;

use super::installed::{Installed, NEWER, saying};

/// A program under the name that it is first asked by.
const ONLY_BEFORE: &str = "case \"$0\" in *.new) ;; *) kill -SEGV $$ ;; esac\n";

/// A release with this program. What is installed stays, or is back.
#[track_caller]
fn refused(program: &str, more: &[&str]) -> String {
    let installed = Installed::new();
    installed.serve_program(NEWER, program.as_bytes());
    let before = installed.identity();
    let output = installed.upgrade(more);
    assert_eq!(installed.identity(), before);
    assert_eq!(installed.version(), env!("CARGO_PKG_VERSION"));
    installed.snapshot(&output)
}

#[test]
fn a_program_that_is_none_is_not_put_in_place() {
    assert_snapshot!(refused("not a program", &[]), @"
    exit status: 12
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: `handoff-PLATFORM` is not a program for this machine
    hint: nothing was changed; please report this release
    ");
}

#[test]
fn a_program_for_another_machine_is_not_even_started() {
    let installed = Installed::new();
    let mut program = std::fs::read(installed.env.binary()).unwrap();
    program[18] ^= 1;
    installed.serve_program(NEWER, &program[..4096]);
    let before = installed.identity();
    let output = installed.upgrade(&[]);
    assert_eq!(installed.identity(), before);
    assert_snapshot!(installed.snapshot(&output), @"
    exit status: 12
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: `handoff-PLATFORM` is not a program for this machine
    hint: nothing was changed; please report this release
    ");
}

#[test]
fn a_program_that_fails_or_says_nothing_is_not_put_in_place() {
    assert_snapshot!(refused("#!/bin/sh\nexit 3\n", &[]), @"
    exit status: 12
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: the upgrade did not work
      because the new program does not work here
      because `$TEMP/bin/.handoff.new version --json` ends with exit code 3
    hint: the version you have goes on working; please report this release
    ");
    assert_snapshot!(refused("#!/bin/sh\n", &[]), @"
    exit status: 12
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: the upgrade did not work
      because the new program does not work here
      because `$TEMP/bin/.handoff.new version --json` does not tell its version
      because EOF while parsing a value at line 1 column 0
    hint: the version you have goes on working; please report this release
    ");
}

#[test]
fn a_program_of_another_version_is_not_put_in_place() {
    assert_snapshot!(refused(&saying("98.0.0"), &[]), @r#"
    exit status: 12
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: the upgrade did not work
      because the new program does not work here
      because `$TEMP/bin/.handoff.new` says that it is version "98.0.0", not 99.0.0
    hint: the version you have goes on working; please report this release
    "#);
}

#[test]
fn a_program_that_hangs_is_not_put_in_place() {
    let output = refused("#!/bin/sh\nexec sleep 1000\n", &["--timeout", "2s"]);
    assert_snapshot!(output, @"
    exit status: 12
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: the upgrade did not work
      because the new program does not work here
      because `$TEMP/bin/.handoff.new version --json` does not end in time
    hint: the version you have goes on working; please report this release
    ");
}

#[test]
fn a_program_that_fails_in_its_place_gives_it_back() {
    let program = saying(NEWER).replace("#!/bin/sh\n", &format!("#!/bin/sh\n{ONLY_BEFORE}"));
    assert_snapshot!(refused(&program, &[]), @"
    exit status: 12
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: the upgrade did not work
      because the new program did not work in its place, and the old one is back
      because `$TEMP/bin/handoff version --json` ends with signal 11
    hint: the version you have goes on working; please report this release
    ");
}

#[test]
fn what_an_earlier_upgrade_left_is_replaced() {
    let installed = Installed::new();
    installed.serve(NEWER);
    let beside = |name: &str| installed.program.with_file_name(name);
    for name in [
        "handoff.old",
        ".handoff.new",
        "..handoff.new.0123456789abcdef.tmp",
    ] {
        std::fs::write(beside(name), "left").unwrap();
    }
    std::fs::write(beside("other"), "not ours").unwrap();
    installed.upgrade(&[]).success();
    assert_eq!(installed.files(), ["handoff", "other"]);
}
