//! `docs/attacks.md`, made from the table.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::answers::ANSWERS;
use super::commands::PLACES;
use super::rights::{RIGHTS, TRIES};
use super::sockets::Way;
use super::table::End::{self, Detected, NotCovered, Refused};
use super::table::{ATTACKS, BY_LIBGIT2, Column};
use crate::session::supervision::{self, ROWS, WAYS};

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the one who writes the page asks for it by a variable"
)]
fn the_documentation_has_the_table() {
    let page = page();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/attacks.md");
    if std::env::var_os("HANDOFF_WRITE_DOCS").is_some() {
        fs::write(&file, &page).unwrap();
    }
    assert_eq!(fs::read_to_string(file).unwrap(), page);
}

fn page() -> String {
    let mut page = "# Attacks, and how they end

Made from `crates/handoff/tests/it/attacks/table.rs`, where each cell is a test: a session in the role of a sub-task tries to change what belongs to others in
the main tree (refs, index, configuration, files) while another one has staged and unsaved work there. The guard is first in its PATH and our hooks are installed.

*refused*: nothing of others has changed. *detected*: a ref moved, or hooks were turned off for good, and the next `handoff hooks status` says so. *not covered*: it works, and nobody notices.

| attack | in a shared tree | from a worktree | from a worktree in the sandbox |
|---|---|---|---|
"
    .to_owned();
    for attack in ATTACKS.iter().chain(BY_LIBGIT2) {
        writeln!(
            page,
            "| {} | {} | {} | refused |",
            attack.name,
            word(attack.shared),
            word(attack.worktree)
        )
        .unwrap();
    }
    for way in Way::ALL {
        writeln!(
            page,
            "| {} | {} | {} | {} |",
            way.name(),
            word(way.end(Column::Shared)),
            word(way.end(Column::Worktree)),
            way.sandboxed()
        )
        .unwrap();
    }
    page.push_str(BY_ROOT);
    for right in RIGHTS {
        writeln!(page, "| {} | {} |", right.name, word(right.end)).unwrap();
    }
    page.push_str(BY_TASK);
    for (what, place) in PLACES {
        writeln!(page, "| {what} | `{place}` | refused |").unwrap();
    }
    page.push_str(NOT_KEPT);
    page.push_str(BY_CHECK);
    for it in TRIES {
        let tests = match it.tests {
            "" => String::new(),
            tests => format!("`handoff/tests/it/{tests}`"),
        };
        writeln!(page, "| {} | {} | {tests} |", it.attack, it.end).unwrap();
    }
    page.push_str(OTHERS);
    for answer in ANSWERS {
        let [shared, worktree, sandbox] = answer.ends.map(word);
        let tests: Vec<_> = answer.tests.iter().map(|it| format!("`{it}`")).collect();
        writeln!(
            page,
            "| {} | {} | {shared} | {worktree} | {sandbox} | {} |",
            answer.marks,
            answer.attack,
            tests.join(", ")
        )
        .unwrap();
    }
    page.push_str(&supervision());
    page.push_str(BEYOND);
    page
}

/// What a session tries with other sessions, and with what is for a person.
fn supervision() -> String {
    let mut page = SUPERVISION.to_owned();
    let ways: Vec<_> = WAYS.iter().map(|(way, _)| *way).collect();
    page = page.replace("WAYS", &ways.join(", "));
    for row in &ROWS {
        let cells: Vec<_> = row.ends.iter().map(|end| supervised(*end)).collect();
        writeln!(page, "| {} | {} |", row.attack, cells.join(" | ")).unwrap();
    }
    page.push_str(UNTOLD);
    page
}

const fn supervised(end: supervision::End) -> &'static str {
    match end {
        supervision::End::Refused => "refused",
        supervision::End::Allowed => "allowed",
        supervision::End::None => "",
    }
}

/// D48, S15.
const SUPERVISION: &str = "
## Supervision: a session that decides for a person

D48 and S15, made from `session/supervision.rs`. A session in no sandbox tries it against itself, the session that started it, one beside it and one that it started;
the last column is what is run as a check. Itself and the one beside are tried in these ways: WAYS; the one above in the last two, the one that it started and the check with `env -i`. A session is known by the processes above it, at the ledger and at the holder: its environment can only take rights away. What
is refused is an event of the session (`refused`) and is shown by `handoff status`.

| attack | itself | the one above | one beside | one that it started | from within a check |
|---|---|---|---|---|---|
";

/// What cannot be told apart.
const UNTOLD: &str = "
At the holder the same is tried without our program (`a_holder_knows_whose_process_asks_whatever_it_says`): by the socket without a token and with the token of a port, by the port with the person's token, and by
an orphan in a session of its own. All are refused; a message arrives under the name of the session that sent it. A session may answer for those that it started if the person's settings say so (`[sessions] may_answer_children`);
settings that a session names for itself count for nothing, because the holder of the outermost session has the grant.

**Not covered**, because it cannot be told apart:

- **A process of the same user outside of every holder**, which a session in no sandbox gets to act for it: a tmux server, `at`, `cron`, `systemd-run`, a container daemon, `ssh localhost`, an editor that it sends commands to. A session in a tab
  (agent `tab`) has no holder above it either, and is known by its variables only.
- **A namespace of its own.** With `unshare --pid --mount-proc` a session in no sandbox hides the processes above it from commands at the ledger, and counts as a person there. Holders see it.
- **Files and memory of the same user.** A session in no sandbox can write the ledger, records, settings and keys without our program, and change the memory of a holder that the kernel lets it trace. The sandbox holds both.
- **A process that ended before it was looked at** is nobody: it is refused, and what it asked for is told as by `unknown`.
";

/// What only root could do.
const BY_ROOT: &str = "
## Attacks by root in the sandbox

Landlock holds files; devices, mounts and traced processes lead past it. The sandbox grants no right to make devices, and gives up every capability but those that builds and tests need on
their own files (`process/src/sandbox/capabilities.rs` says which, and why). Tried as root, in a worktree in the sandbox.

| attack | in the sandbox |
|---|---|
";

/// What the session of a task tries with what the person's programs take commands from.
const BY_TASK: &str = "
## Attacks by the session of a task

Made from `attacks/commands.rs` and tried by `task_sandbox.rs`: the session of a plain task, of a part, of a fan-in and of a phase appends to each of these places, puts another file and a link in its
stead, and removes it. Its own files, `git status` and `git diff`, and temporary files work. Where the sandbox is off (`[worker] sandbox = \"none\"`, a task of `--sandbox none`, a kernel without it, an agent in a tab) all of them are
**not covered**, and the worker, `status` and the session's first event say that it is off; refs that it moves are told.

| what | where | in the sandbox |
|---|---|---|
";

/// What is left of it.
const NOT_KEPT: &str = "
**Not covered** of what an agent has of its own:

- **What Claude Code and Codex sign in with** (`.credentials.json`, `auth.json`) is shared: a token that is renewed in a copy makes the person's own useless. A session can destroy it, and the person signs in again. It is read
  by every program of the same user anyway.
- **Records of conversations.** A session of Claude Code can change those of its own worktree, one of Codex or Copilot all of them: they lie together. Whoever takes up such a conversation reads what the session wrote.
- **opencode** has no directory of its own yet: `~/.local/share/opencode`, `~/.local/state/opencode` and `~/.cache/opencode` can be written, and programs lie there.
- **Agents that somebody describes** with `[sandbox] write` in a file of their own: what is named there.
";

/// What code under check tries.
const BY_CHECK: &str = "
## Attacks by a check

A command that runs code of a session: the `verify` of a task or part, of a fan-in, a suite of a workflow. All of them run under one policy (`engine/src/enclosure.rs`), below a supervisor of ours.

| attack | check | test |
|---|---|---|
";

/// What is no script of one session.
const OTHERS: &str = "
## Attacks on a commit, on the queue, by kills

What is left of the report on handoff-fanout (its marks G, H, S, A, W) and of our promises (D), made from `answers.rs`. Whoever commits in a worktree of their own has nobody beside them there; what is tried in a
shared tree is the harder case. In the sandbox the commit is made by the session's holder, without hooks and by a private index (`git/tests/it/held_commit.rs`). Each row names the tests that try it, below `crates/`.

| | attack | in a shared tree | in a worktree | in the sandbox | tests |
|---|---|---|---|---|---|
";

/// What the tables cannot say.
const BEYOND: &str = "
## Beyond the tables

Refused in the sandbox, and tested: characters typed into a terminal (`TIOCSTI`), and programs that a session names in its own tree, to be run by
whoever collects or saves its work: the tree's `.git` is not read, and a filter of the repository's configuration whose command names something in the tree
(`filter.x.clean = ./tool`) does not run; the file is taken as it is.

Filters (`filter.x.clean`, `.process`) that the repository's own configuration names, with the files that it includes, do not run when a command only looks at the
tree (`status`, `continue`, `verify`, `note`, `checkpoint`, `step`, `package create`); a file whose filter did not run may be shown as edited. Those of the person's own
configuration run. Where content goes into the repository or comes out of it (`safe-commit`, `land`, a worker's trees, commits and quarantine) both run, as with plain git.

**Not covered**, not even by the sandbox:

- **Sockets with a path, before Linux 7.1.** A sandboxed session can connect to a tmux server, an ssh agent or a container daemon, and ask it to do what it may not do
  itself. The variables that lead to them are taken away, which stops nobody who knows the path. Our own holders look who comes, and refuse one in the sandbox of
  another session; also at a port (`run --port`), whose token can be read in every sandbox and is of no use there. On newer kernels Landlock holds these sockets; that has not
  been tried.
- **Modes, owners, times and `user.*` attributes** of files. Landlock holds content and names: a sandboxed session can `chmod` and `touch` what it does not own, as the same user.
- **Remotes on other machines.** The network is open. `git push` is refused by the hook, `git send-pack` by its path asks none; agents of ssh are out of reach, and a password in a file is not.
- **Text printed to other terminals of the same user**, escape sequences included.
- **Another task's number in the environment.** A session that sets `HANDOFF_TASK_ID` is taken for that task by our hooks; the sandbox does not look at it.
- **HEAD by git before 2.46**, which does not ask hooks about links: the next commit is refused if the task is known.
";

fn word(end: End) -> &'static str {
    match end {
        Refused => "refused",
        Detected => "detected",
        NotCovered => "**not covered**",
    }
}
