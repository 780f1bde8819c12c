//! An upgrade that is killed, or whose disk fails, at each of its steps.

use handoff_testkit::{Errno, Fault, Injection, Need, When, skip_without};

use super::installed::{Installed, NEWER};

/// The calls by which an upgrade changes its directory, and those by which it locks and starts programs.
const CALLS: [&str; 10] = [
    "openat",
    "write",
    "fchmod",
    "chmod",
    "fsync",
    "linkat",
    "renameat",
    "unlinkat",
    "flock",
    "pidfd_open",
];

/// More than there are of any call; reaching it means that the sweep does not end.
const MOST: u16 = 500;

/// Injects a fault into each call of each kind in turn. Whatever happens, a program is there that answers, and the next
/// upgrade finishes the work and clears up.
fn sweep(fault: Fault) -> usize {
    let installed = Installed::new();
    installed.serve(NEWER);
    let mut faults = 0;
    for syscall in CALLS {
        let end = (1..MOST).find(|n| {
            let injection = Injection {
                syscalls: &[syscall],
                fault,
                when: When::nth(*n),
            };
            let is_through = survived(&installed, &injection);
            faults += usize::from(!is_through);
            is_through
        });
        assert!(end.is_some(), "{syscall} never let it through");
    }
    faults
}

fn survived(installed: &Installed, injection: &Injection<'_>) -> bool {
    let mut command = installed
        .env
        .command_under(&injection.prefix(), &installed.program);
    let url = installed.server.url("/latest");
    command.args(["upgrade", "--release-url", &url]);
    let output = installed.env.run(command);
    let version = installed.version();
    let is_through = output.status.success();
    if is_through {
        assert_eq!(version, NEWER);
    } else if version != NEWER {
        installed.upgrade(&[]).success();
        assert_eq!(installed.files(), ["handoff"]);
    }
    std::fs::remove_file(&installed.program).unwrap();
    installed.install();
    is_through
}

#[test]
fn a_kill_at_any_step_leaves_a_program_that_works() {
    if skip_without(&[Need::Strace]) {
        return;
    }
    assert!(sweep(Fault::Kill) > 10);
}

#[test]
fn a_failing_disk_at_any_step_leaves_a_program_that_works() {
    if skip_without(&[Need::Strace]) {
        return;
    }
    assert!(sweep(Fault::Error(Errno::Eio)) > 10);
}
