//! What root could do past a sandbox, and what code under check tries.

use handoff_testkit::{Need, skip_without};

use super::scene::Scene;
use super::table::Column;
use super::table::End::{self, NotCovered, Refused};

/// Something that needs more than the right to write files, tried by root. It succeeds with exit code 0.
pub(super) struct Right {
    pub(super) name: &'static str,
    script: &'static str,
    pub(super) end: End,
}

const fn right(name: &'static str, script: &'static str, end: End) -> Right {
    Right { name, script, end }
}

pub(super) const RIGHTS: &[Right] = &[
    right(
        "`mknod` of a block device, to write to a disk past its file system",
        "mknod \"$MINE/disk\" b 7 0",
        Refused,
    ),
    right(
        "`mknod` of a character device (kernel memory)",
        "mknod \"$MINE/mem\" c 1 1",
        Refused,
    ),
    right("`chroot`", "chroot / true", Refused),
    right("`mount`", "mount -t tmpfs none \"$MINE\"", Refused),
    right(
        "`mount --bind` of what cannot be written to where can be",
        "mkdir \"$MINE/in\"; mount --bind \"$REPO\" \"$MINE/in\"",
        Refused,
    ),
    right("`sethostname`", "hostname \"$(hostname)\"", Refused),
    right(
        "`chattr +i` on another's file",
        "chattr +i \"$REPO/edited\" && chattr -i \"$REPO/edited\"",
        Refused,
    ),
    right(
        "`setxattr` that gives a program rights (`security.capability`)",
        "cp /bin/true \"$MINE/t\"; python3 -c \"import os; os.setxattr(os.environ['MINE'] + '/t', 'security.capability', bytes.fromhex('0100000200040000000000000000000000000000'))\"",
        Refused,
    ),
    right(
        "`setxattr` of `trusted.*` on another's file",
        "python3 -c \"import os; os.setxattr(os.environ['REPO'] + '/edited', 'trusted.x', b'x')\"",
        Refused,
    ),
    right(
        "`setxattr` of `user.*` on another's file",
        "python3 -c \"import os; os.setxattr(os.environ['REPO'] + '/edited', 'user.x', b'x')\"",
        NotCovered,
    ),
    right(
        "tracing a process outside",
        "python3 -c \"import ctypes, os, sys; sys.exit(ctypes.CDLL(None).ptrace(16, 1, 0, 0) != 0)\"",
        Refused,
    ),
];

#[test]
fn from_the_sandbox_root_has_no_rights_past_it() {
    if skip_without(&[Need::Landlock, Need::Root]) {
        return;
    }
    let scene = Scene::new(Column::Landlock);
    let mut wrong = vec![];
    for right in RIGHTS {
        let is_done = scene.run(right.script).code() == Some(0);
        let end = if is_done { NotCovered } else { Refused };
        if end != right.end {
            wrong.push(format!("{}: {end:?}, not {:?}", right.name, right.end));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// What code under check tries, how it ends, and which tests show that.
pub(super) struct Try {
    pub(super) attack: &'static str,
    pub(super) end: &'static str,
    pub(super) tests: &'static str,
}

const fn attempt(attack: &'static str, end: &'static str, tests: &'static str) -> Try {
    Try { attack, end, tests }
}

const TASK: &str = "checks.rs::the_check_of_a_task_changes_nothing_but_its_own_tree";
const LIMIT: &str = "checks.rs::what_is_ended_says_which_limit";

/// Each of a check: the `verify` of a task or part, of a fan-in, or a suite.
pub(super) const TRIES: &[Try] = &[
    attempt("writes to the main tree", "refused", TASK),
    attempt("makes a branch, writes refs, also by hand", "refused", TASK),
    attempt(
        "changes the configuration of the repository",
        "refused",
        TASK,
    ),
    attempt(
        "writes to the home directory, or beside its tree",
        "refused",
        TASK,
    ),
    attempt(
        "changes its own tree after the work was taken from it",
        "nothing of it is committed",
        TASK,
    ),
    attempt(
        "finds variables of ours, or the directory of sockets",
        "not there",
        TASK,
    ),
    attempt(
        "calls `handoff queue`, `hold`, `approve`, `trust`, `answer`",
        "refused",
        TASK,
    ),
    attempt(
        "forks away (`setsid`, twice)",
        "ended with it",
        "checks.rs::nothing_outlives_a_check_however_it_ends",
    ),
    attempt(
        "its worker is killed",
        "ended with it",
        "checks.rs::a_check_ends_with_whoever_started_it",
    ),
    attempt(
        "takes time, also without listening to signals",
        "ended, limit named",
        LIMIT,
    ),
    attempt(
        "takes memory, in one process or several",
        "ended, limit named",
        LIMIT,
    ),
    attempt("starts processes", "ended, limit named", LIMIT),
    attempt("prints without end", "ended, limit named", LIMIT),
    attempt(
        "fills the disk: one file, many, or such without a name",
        "ended, limit named",
        "checks.rs::many_files_are_as_much_as_one",
    ),
    attempt(
        "takes memory faster than 50 ms can see",
        "the kernel ends it before others",
        "",
    ),
    attempt(
        "writes into `[sandbox] write`, which a person declared",
        "**not covered**",
        "",
    ),
    attempt(
        "is run by `verify --run` or as a probe in a tree that a person works in: bounded, not enclosed",
        "**not covered**",
        "",
    ),
    attempt(
        "is run where the kernel has no Landlock, or with `[sandbox] default = \"none\"`: bounded, not enclosed",
        "**not covered**",
        "",
    ),
];
