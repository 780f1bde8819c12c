//! What a sub-task that does not keep to its role can do to others: each attack is tried in a shared
//! tree, from a worktree of its own, and from such a worktree in the sandbox.
//!
//! The victim is the main tree: refs, index, configuration and files of others in it. `docs/attacks.md`
//! is made from the table below; with `HANDOFF_WRITE_DOCS` set the test writes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use handoff_testkit::{Need, Output, skip_without};

use crate::stage::{Stage, tree};

/// How an attack ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Nothing of others has changed.
    Refused,
    /// Something has, and the next command says so.
    Detected,
    /// Something has, and nobody notices.
    NotCovered,
}

use End::{Detected, NotCovered, Refused};

/// From where it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Shared,
    Worktree,
    Landlock,
}

struct Attack {
    name: &'static str,
    /// For `sh`, begun in the attacker's tree: `$REPO` is the victim, `$GIT` the real git, `$MINE` the attacker's tree.
    script: &'static str,
    shared: End,
    worktree: End,
}

const fn attack(name: &'static str, script: &'static str, shared: End, worktree: End) -> Attack {
    Attack {
        name,
        script,
        shared,
        worktree,
    }
}

/// The last column is not in the table: the kernel refuses all of them.
const ATTACKS: [Attack; 51] = [
    attack("`git commit`", "git commit -m x", Refused, Refused),
    attack(
        "`git -C . commit`",
        "git -C . commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "`git -c k=v commit`",
        "git -c a.b=c commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "`git --no-pager commit`",
        "git --no-pager commit -m x",
        Refused,
        Refused,
    ),
    attack("an alias", "git -c alias.x=commit x -m x", Refused, Refused),
    attack(
        "an alias with a shell",
        "git -c 'alias.x=!git commit -m x' x",
        Refused,
        Refused,
    ),
    attack("git by its path", "\"$GIT\" commit -m x", Refused, Refused),
    attack(
        "git by its exec path",
        "\"$(\"$GIT\" --exec-path)/git\" commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "`env -i git commit`",
        "env -i HOME=\"$HOME\" \"$GIT\" -c user.name=x -c user.email=x commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "without its role",
        "env -u HANDOFF_ROLE -u HANDOFF_SESSION \"$GIT\" commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "with another role",
        "HANDOFF_ROLE=fan-in \"$GIT\" commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "`commit --no-verify`",
        "\"$GIT\" commit --no-verify -m x",
        Refused,
        Refused,
    ),
    attack(
        "`commit --amend`",
        "\"$GIT\" commit --no-verify --amend -m x",
        Refused,
        Refused,
    ),
    attack(
        "`commit-tree` and `update-ref`",
        "\"$GIT\" update-ref refs/heads/main $(\"$GIT\" commit-tree -p HEAD -m x $(\"$GIT\" write-tree))",
        Refused,
        Refused,
    ),
    attack(
        "`update-ref -d`",
        "\"$GIT\" update-ref -d refs/heads/side",
        Refused,
        Refused,
    ),
    attack(
        "`fast-import`",
        "printf 'commit refs/heads/new\\ncommitter x <x> 0 +0000\\ndata 1\\nx\\n' | \"$GIT\" fast-import --quiet",
        Refused,
        Refused,
    ),
    attack("a new branch", "\"$GIT\" branch new", Refused, Refused),
    attack(
        "a branch moved",
        "\"$GIT\" branch -f side HEAD^",
        Refused,
        Refused,
    ),
    attack(
        "a branch deleted",
        "\"$GIT\" branch -D side",
        Refused,
        Refused,
    ),
    attack("a tag", "\"$GIT\" tag v1", Refused, Refused),
    attack("`notes`", "\"$GIT\" notes add -m x", Refused, Refused),
    attack(
        "`fetch` into a branch",
        "\"$GIT\" fetch --quiet . main:stolen",
        Refused,
        Refused,
    ),
    attack("`merge`", "\"$GIT\" merge side", Refused, Refused),
    attack(
        "`cherry-pick`",
        "\"$GIT\" cherry-pick side",
        Refused,
        Refused,
    ),
    attack("`stash` by name", "git stash", Refused, Refused),
    attack("`stash` by path", "\"$GIT\" stash", Refused, Refused),
    attack(
        "`worktree add`",
        "\"$GIT\" worktree add --quiet -b new ../stolen",
        Refused,
        Refused,
    ),
    attack(
        "`push`",
        "\"$GIT\" push --quiet \"$ELSEWHERE\" main:stolen",
        Refused,
        Refused,
    ),
    attack(
        "hooks turned off",
        "\"$GIT\" -c core.hooksPath=/dev/null commit -m x",
        Detected,
        Detected,
    ),
    attack(
        "a ref written by hand",
        "\"$GIT\" rev-parse HEAD^ > .git/refs/heads/side",
        Detected,
        Detected,
    ),
    attack(
        "a ref written by Python",
        "python3 -c \"import os; open('.git/refs/heads/new', 'w').write(os.popen('\\\"$GIT\\\" rev-parse HEAD').read())\"",
        Detected,
        Detected,
    ),
    attack(
        "the configuration",
        "\"$GIT\" config core.hooksPath /dev/null",
        NotCovered,
        NotCovered,
    ),
    attack(
        "the HEAD of another tree, as a link",
        "cd \"$MINE\"; \"$GIT\" --git-dir=\"$REPO/.git\" symbolic-ref HEAD refs/heads/evil",
        Refused,
        Refused,
    ),
    attack(
        "the HEAD of another tree, detached",
        "cd \"$MINE\"; \"$GIT\" --git-dir=\"$REPO/.git\" update-ref --no-deref HEAD side",
        Refused,
        Refused,
    ),
    attack(
        "another's branch by one's own HEAD",
        "cd \"$MINE\"; \"$GIT\" symbolic-ref HEAD refs/heads/handoff/other-1 && \"$GIT\" commit --allow-empty -m x",
        Refused,
        Refused,
    ),
    attack(
        "another's branch from a repository beside it",
        "mkdir \"$MINE/beside\"; cd \"$MINE/beside\"; \"$GIT\" init -q -b handoff/other-1; \"$GIT\" --git-dir=\"$REPO/.git\" update-ref refs/heads/handoff/other-1 side; cd ..; rm -rf beside",
        Refused,
        Refused,
    ),
    attack(
        "a hook within `safe-commit`",
        "H=.git/hooks/pre-commit; printf '#!/bin/sh\\n\"$GIT\" update-ref refs/heads/side main; \"$GIT\" tag evil; \"$GIT\" push -q \"$ELSEWHERE\" main:stolen\\n' > $H; chmod +x $H; cd \"$MINE\"; echo x > mine.txt; \"$HANDOFF\" safe-commit -m x -- mine.txt; rm -f mine.txt \"$REPO/$H\"",
        Refused,
        Refused,
    ),
    attack(
        "`reset --hard` with `--git-dir`",
        "cd \"$MINE\"; git --git-dir=\"$REPO/.git\" --work-tree=\"$REPO\" reset --hard",
        Refused,
        Refused,
    ),
    attack(
        "`restore` with `--work-tree`",
        "cd \"$MINE\"; git --work-tree=\"$REPO\" restore edited",
        Refused,
        Refused,
    ),
    attack(
        "`checkout --` with `GIT_WORK_TREE`",
        "cd \"$MINE\"; GIT_WORK_TREE=\"$REPO\" git checkout -- edited",
        Refused,
        Refused,
    ),
    attack(
        "`clean -fdx` with `--work-tree`",
        "cd \"$MINE\"; git --work-tree=\"$REPO\" clean -fdxq",
        Refused,
        Refused,
    ),
    attack("staging", "git add --all", Refused, Refused),
    attack(
        "staging by path",
        "\"$GIT\" add --all",
        NotCovered,
        NotCovered,
    ),
    attack(
        "`reset --hard` by name",
        "git reset --hard",
        Refused,
        Refused,
    ),
    attack(
        "`reset --hard` by path",
        "\"$GIT\" reset --hard",
        NotCovered,
        NotCovered,
    ),
    attack(
        "`restore` by path",
        "\"$GIT\" restore .",
        NotCovered,
        NotCovered,
    ),
    attack(
        "`checkout --` by path",
        "\"$GIT\" checkout -- .",
        NotCovered,
        NotCovered,
    ),
    attack(
        "`clean -fdx` by path",
        "\"$GIT\" clean -fdxq",
        NotCovered,
        NotCovered,
    ),
    attack("another's file", "echo x > edited", NotCovered, NotCovered),
    attack(
        "by `/proc/self/cwd`",
        "echo x > /proc/self/cwd/edited",
        NotCovered,
        NotCovered,
    ),
    attack(
        "a file carried off",
        "mv edited \"$MINE/carried-off\"",
        NotCovered,
        NotCovered,
    ),
];

/// A victim and an attacker.
struct Scene {
    stage: Stage,
    mine: PathBuf,
    column: Column,
}

impl Scene {
    fn new(column: Column) -> Self {
        let mut stage = Stage::new();
        let repo = stage.repo.clone();
        repo.write("edited", "committed")
            .write("theirs", "committed")
            .commit("base");
        repo.git(["checkout", "--quiet", "-b", "side"]);
        repo.write("side", "side").commit("side");
        repo.git(["checkout", "--quiet", "main"]);
        repo.git(["branch", "handoff/other-1"]);
        repo.git(["init", "--quiet", "--bare", "../elsewhere"]);
        stage.say("git-guard install").success();
        stage.say("hooks install").success();
        let mine = match column {
            Column::Shared => repo.path().to_owned(),
            Column::Worktree | Column::Landlock => {
                let path = stage.env.root().join("mine");
                let shown = path.to_str().unwrap();
                repo.git(["worktree", "add", "--quiet", "-b", "handoff/mine-1", shown]);
                path
            }
        };
        // What others have here: something staged, something edited, something new.
        repo.write("theirs", "staged").git(["add", "theirs"]);
        repo.write("edited", "unsaved").write("fresh", "untracked");
        stage.say("hooks watch attacker").success();
        for (name, value) in variables(&stage, &mine) {
            stage.env.set(name, value);
        }
        Self {
            stage,
            mine,
            column,
        }
    }

    fn run(&self, script: &str) -> Output {
        let script = format!("cd \"$REPO\" || exit 1\n{script}");
        let mut command = match self.column {
            Column::Shared | Column::Worktree => self.stage.env.command("sh"),
            Column::Landlock => {
                let mut command = self.stage.env.command(self.stage.env.binary());
                command.args(["sandbox", "--", "sh"]);
                command
            }
        };
        command.current_dir(&self.mine).args(["-c", &script]);
        self.stage.env.run(command)
    }

    /// Everything that belongs to others.
    fn victim(&self) -> BTreeMap<String, String> {
        let repo = &self.stage.repo;
        let mut found: BTreeMap<String, String> = repo.refs();
        found.retain(|name, _| name != "refs/heads/handoff/mine-1");
        let elsewhere = self.stage.env.root().join("elsewhere");
        let pushed = ["--git-dir", elsewhere.to_str().unwrap(), "for-each-ref"];
        found.insert("elsewhere".into(), repo.git(pushed));
        found.insert("HEAD".into(), read(&repo.path().join(".git/HEAD")));
        found.insert("config".into(), read(&repo.path().join(".git/config")));
        found.insert(
            "staged".into(),
            repo.git(["diff", "--cached", "--no-ext-diff"]),
        );
        for (path, (_, _, content)) in tree(repo.path()) {
            let inside = path.strip_prefix(repo.path()).unwrap();
            if !inside.starts_with(".git") {
                let content = String::from_utf8_lossy(&content).into_owned();
                found.insert(inside.display().to_string(), content);
            }
        }
        found
    }

    fn end(&self, script: &str) -> End {
        let before = self.victim();
        self.run(script);
        if self.victim() == before {
            return Refused;
        }
        // A person looks.
        let mut command = self.stage.command(["hooks", "status", "--json"]);
        for name in ["HANDOFF_ROLE", "HANDOFF_SESSION"] {
            command.env_remove(name);
        }
        let told = self.stage.env.run(command).json();
        match told["foreign"].as_array() {
            Some(foreign) if !foreign.is_empty() => Detected,
            _ => NotCovered,
        }
    }
}

fn variables(stage: &Stage, mine: &Path) -> Vec<(&'static str, std::ffi::OsString)> {
    let git = stage.repo.git(["--exec-path"]);
    let real = Path::new(&git).join("git");
    let bin = stage.env.handoff_home().join("guard/bin");
    let path = path_of(stage);
    let path = std::iter::once(bin).chain(std::env::split_paths(&path));
    vec![
        ("PATH", std::env::join_paths(path).unwrap()),
        ("HANDOFF_ROLE", "sub-task".into()),
        (
            "HANDOFF_SESSION",
            "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".into(),
        ),
        ("REPO", stage.repo.path().into()),
        ("MINE", mine.into()),
        ("GIT", real.into()),
        ("HANDOFF", stage.env.binary().into()),
        ("ELSEWHERE", stage.env.root().join("elsewhere").into()),
    ]
}

fn path_of(stage: &Stage) -> std::ffi::OsString {
    let command = stage.env.command("true");
    let mut variables = command.get_envs();
    let path = variables.find_map(|(name, value)| (name == "PATH").then_some(value?));
    path.unwrap().to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The attacks are tried in so many parts, so that no test takes long.
const PARTS: usize = 4;

/// Tries a part of the attacks from one place, and compares with what the table says.
fn try_part(column: Column, part: usize, expected: impl Fn(&Attack) -> End) {
    let mut wrong = vec![];
    let mut scene = Scene::new(column);
    for attack in ATTACKS.iter().skip(part).step_by(PARTS) {
        let end = scene.end(attack.script);
        if end != Refused {
            scene = Scene::new(column);
        }
        let expected = expected(attack);
        if end != expected {
            wrong.push(format!("{}: {end:?}, not {expected:?}", attack.name));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// One test for each part.
macro_rules! parts {
    ($($name:ident = $part:literal;)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn in_a_shared_tree_attacks_end_as_the_table_says() {
                try_part(Column::Shared, $part, |attack| attack.shared);
            }

            #[test]
            fn from_a_worktree_attacks_end_as_the_table_says() {
                try_part(Column::Worktree, $part, |attack| attack.worktree);
            }

            #[test]
            fn from_the_sandbox_every_attack_is_refused() {
                if skip_without(&[Need::Landlock]) {
                    return;
                }
                try_part(Column::Landlock, $part, |_| Refused);
            }
        })*
    };
}

parts! {
    first = 0;
    second = 1;
    third = 2;
    fourth = 3;
}

#[test]
fn from_the_sandbox_nothing_is_typed_into_a_terminal() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let scene = Scene::new(Column::Landlock);
    // What is no terminal says 25 to every request of one, unless the kernel says 1 before it is asked.
    let script = "python3 -c \"
import fcntl, termios
for request in termios.TIOCSTI, 0x541c, termios.TIOCGWINSZ:
    try: fcntl.ioctl(open('/dev/null'), request, b'x')
    except OSError as error: print(error.errno)
\"";
    assert_eq!(scene.run(script).success().stdout, "1\n1\n25\n");
}

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

Made from `crates/handoff/tests/it/attacks.rs`, where each cell is a test: a session in the role of a sub-task tries to change what belongs to others in
the main tree (refs, index, configuration, files) while another one has staged and unsaved work there. The guard is first in its PATH and our hooks are installed.

*refused*: nothing of others has changed. *detected*: a ref moved, and the next `handoff hooks status` says so. *not covered*: it works, and nobody notices.

| attack | in a shared tree | from a worktree | from a worktree in the sandbox |
|---|---|---|---|
"
    .to_owned();
    for attack in &ATTACKS {
        writeln!(
            page,
            "| {} | {} | {} | refused |",
            attack.name,
            word(attack.shared),
            word(attack.worktree)
        )
        .unwrap();
    }
    page.push_str(BEYOND);
    page
}

/// What the table cannot say.
const BEYOND: &str = "
## Beyond the table

Refused in the sandbox, and tested: characters typed into a terminal (`TIOCSTI`), and programs that a session names in its own tree, to be run by
whoever collects or saves its work: the tree's `.git` is not read.

**Not covered**, not even by the sandbox:

- **Sockets with a path.** A sandboxed session can connect to the holders of other sessions (`handoff send`, `handoff stop`), to a tmux server, to a
  container daemon, and ask them to do what it may not do itself. The variables that lead to some of them are taken away, which stops nobody who knows the path.
- **Text printed to other terminals of the same user**, escape sequences included.
- **A filter that the repository's own configuration names by a path in the tree** (`filter.x.clean = ./tool`) is run from the session's tree when its work is
  collected or saved.
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
