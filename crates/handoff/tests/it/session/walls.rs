//! Sessions that the kernel holds to their worktree: what they can change, whom they can talk to, and what is left of them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use handoff_testkit::{Need, skip_without};
use insta::assert_snapshot;

use super::hall::{Guest, Hall, pause};

/// A hall with a linked worktree.
struct Yard {
    hall: Hall,
    tree: PathBuf,
}

impl Yard {
    fn new() -> Self {
        let hall = Hall::new();
        let tree = hall.stage.env.root().join("tree");
        let words = [
            "worktree",
            "add",
            "-q",
            "-b",
            "handoff/one-1",
            tree.to_str().unwrap(),
        ];
        hall.stage.repo.git(words);
        Self { hall, tree }
    }

    /// A shell in the sandbox, where its tree is.
    fn held(&self, name: &str) -> Guest {
        let cwd = self.tree.to_str().unwrap();
        let words = [
            "--sandbox",
            "worktree",
            "--cwd",
            cwd,
            "bash",
            "--",
            "--norc",
            "--noprofile",
        ];
        let guest = self.hall.run(name, &words);
        self.hall.until(name, "\"state\":\"prompt\"");
        guest
    }

    /// What a command in the sandbox says, and how it ends.
    fn told(&self, shell: &Guest, command: &str) -> String {
        let file = self.tree.join("told");
        fs::remove_file(&file).ok();
        shell.types(&format!(
            "{{ {command}; echo code=$?; }} > .told 2>&1; mv .told told"
        ));
        loop {
            if let Ok(text) = fs::read_to_string(&file) {
                return text;
            }
            pause();
        }
    }

    fn handoff(&self) -> String {
        self.hall.stage.env.binary().display().to_string()
    }
}

#[test]
fn a_session_in_the_sandbox_changes_its_worktree_and_nothing_else() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let yard = Yard::new();
    let shell = yard.held("held");
    let repo = yard.hall.stage.repo.path().display().to_string();
    let attempts = [
        ("echo x > own", "code=0"),
        ("echo x > $TMPDIR/own", "code=0"),
        (&format!("echo x > {repo}/theirs"), "code=1"),
        (&format!("echo x > {repo}/.git/refs/heads/new"), "code=1"),
        ("git add told", "code=128"),
        ("command -v git", "/guard/bin/git\n"),
        ("git push", "code=99"),
        ("echo x > /tmp/handoff-walls", "code=1"),
        (
            "echo $HANDOFF_ROLE/$HANDOFF_SANDBOX/$XDG_RUNTIME_DIR/$DBUS_SESSION_BUS_ADDRESS",
            "sub-task/worktree//\n",
        ),
    ];
    for (command, expected) in attempts {
        let told = yard.told(&shell, command);
        assert!(told.contains(expected), "{command}: {told}");
    }
    assert!(yard.tree.join("own").exists() && !yard.hall.stage.repo.path().join("theirs").exists());
    let journal = fs::read_to_string(shell.text("events_log_path")).unwrap();
    assert!(
        journal.contains("\"sandbox\":\"worktree\",\"landlock\":"),
        "{journal}"
    );
    assert_eq!(yard.hall.listed("held")["sandbox"], "worktree");
}

#[test]
fn the_private_directory_goes_with_the_session_however_that_ends() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let yard = Yard::new();
    let place = yard.hall.stage.env.handoff_home().join("tmp");
    let is_gone = || {
        (0..2000).any(|_| {
            pause();
            fs::read_dir(&place).unwrap().next().is_none()
        })
    };
    let shell = yard.held("leaves");
    yard.told(&shell, "mkdir $TMPDIR/deep && touch $TMPDIR/deep/file");
    yard.hall.stage.say("stop --id leaves").success();
    assert!(is_gone());
    let shell = yard.held("killed");
    yard.told(&shell, "touch $TMPDIR/file");
    shell.holder().kill();
    assert!(is_gone());
}

#[test]
fn a_sandbox_is_refused_where_it_would_not_hold() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let mut yard = Yard::new();
    let root = yard.hall.stage.env.root().to_owned();
    let config = root.join(".config/handoff");
    yard.hall
        .stage
        .env
        .set("XDG_CONFIG_HOME", root.join(".config").into_os_string());
    let stage = &yard.hall.stage;
    assert_snapshot!(stage.say("run bash --detach --sandbox worktree").snapshot(), @r"
    exit status: 4
    --- stderr ---
    error: this is not a linked worktree: in the main tree git's own directory lies within, and could not be protected
    hint: work in a worktree of its own: `git worktree add ../work`
    ");
    assert_eq!(stage.say("run bash --detach --sandbox yes").code(), Some(2));
    fs::create_dir_all(&config).unwrap();
    let write = |place: &str| {
        let text = format!("[sandbox]\ndefault = \"worktree\"\nwrite = [\"{place}\"]\n");
        fs::write(config.join("config.toml"), text).unwrap();
    };
    let run = || {
        stage
            .env
            .handoff_in(&yard.tree, ["run", "bash", "--detach", "--id", "x"])
    };
    write(&format!("{}/", stage.repo.path().display()));
    assert_eq!(run().code(), Some(4));
    write("/no/such/place/");
    assert_eq!(run().code(), Some(3));
    write(&format!("{}/", config.display()));
    run().success();
    assert_eq!(yard.hall.listed("x")["sandbox"], "worktree");
}

#[test]
fn what_a_session_may_not_do_itself_is_done_for_it() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let yard = Yard::new();
    let other = yard.hall.bash("other");
    let shell = yard.held("held");
    let handoff = yard.handoff();
    let tree = &yard.tree;
    fs::create_dir(tree.join("sub")).unwrap();
    fs::write(tree.join("sub/new"), "text\n").unwrap();
    let hook = yard.hall.stage.repo.path().join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\ntouch \"$HOOKED\"\n").unwrap();
    let told = yard.told(
        &shell,
        &format!("(cd sub; echo 'area: what' | {handoff} safe-commit -F - -- new)"),
    );
    assert!(
        told.contains("on handoff/one-1: 1 file, area: what") && told.contains("code=0"),
        "{told}"
    );
    let repo = &yard.hall.stage.repo;
    let shown = repo.git(["show", "--stat", "--format=%B", "handoff/one-1"]);
    assert!(
        shown.contains("sub/new") && shown.contains("Handoff-Session: ses_"),
        "{shown}"
    );
    let told = yard.told(&shell, "git status --porcelain -- sub");
    assert_eq!(told, "code=0\n");
    // It says something to others, and they know who.
    let told = yard.told(
        &shell,
        &format!("{handoff} send --id other --no-wait '# hello'"),
    );
    assert!(told.contains("code=0"), "{told}");
    other.shows("held");
    let refused = [
        (
            format!("{handoff} safe-commit -F /proc/1/environ -- sub/new"),
            "code=2",
        ),
        (format!("{handoff} send --id other --force x"), "code=9"),
        (format!("{handoff} queue list"), "code=0"),
        (format!("{handoff} queue add more --brief x"), "code=9"),
        (
            format!("{handoff} safe-commit -m x -- ../repo/file"),
            "code=2",
        ),
        (
            format!("(cd ..; {handoff} safe-commit -m x -- tree/told)"),
            "code=9",
        ),
        (format!("{handoff} stop --id other"), "code=9"),
    ];
    for (command, expected) in refused {
        let told = yard.told(&shell, &command);
        assert!(told.contains(expected), "{command}: {told}");
    }
}

/// What the holder of this process id has done for its session at the moment.
fn errand_of(holder: u64) -> Option<u64> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_errand = |process: &fs::DirEntry| {
        let read = |name: &str| fs::read_to_string(process.path().join(name)).unwrap_or_default();
        let parent = format!("PPid:\t{holder}");
        read("cmdline").contains("\0errand\0") && read("status").lines().any(|it| it == parent)
    };
    let found = processes.into_iter().find(is_errand)?;
    found.file_name().to_str()?.parse().ok()
}

#[test]
fn a_signal_to_all_spares_what_is_done_for_the_session() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let yard = Yard::new();
    let stage = &yard.hall.stage;
    let shell = yard.held("held");
    let (begun, go) = (stage.env.work().join("begun"), stage.env.work().join("go"));
    // A person holds the lock of commits for as long as this takes.
    let hook = stage.repo.path().join(".git/hooks/pre-commit");
    let wait = format!(
        "#!/bin/sh\ntouch {}; for _ in $(seq 1500); do [ -e {} ] && break; sleep 0.02; done\n",
        begun.display(),
        go.display()
    );
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, wait).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    stage.repo.write("mine", "new");
    let mut person = stage.start(["safe-commit", "-m", "mine", "mine"]);
    while !begun.exists() {
        pause();
    }
    fs::write(yard.tree.join("new"), "text").unwrap();
    let program = yard.handoff();
    shell.types(&format!(
        "{program} safe-commit -m held new > .told 2>&1; mv .told told"
    ));
    let holder = yard.hall.listed("held")["holder_pid"].as_u64().unwrap();
    let errand = loop {
        if let Some(errand) = errand_of(holder) {
            break errand;
        }
        pause();
    };
    let sent = stage.json("signal --id held WINCH --all");
    let got_it = sent["processes"].as_array().unwrap();
    assert!(
        !got_it.is_empty() && !got_it.contains(&errand.into()),
        "{sent}"
    );
    fs::write(go, "").unwrap();
    assert_eq!(person.code(), Some(0));
    let told = yard.tree.join("told");
    while !told.exists() {
        pause();
    }
    let told = fs::read_to_string(told).unwrap();
    assert!(told.contains("on handoff/one-1: 1 file, held"), "{told}");
}

#[test]
fn a_tree_that_lies_about_its_repository_is_not_believed() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let yard = Yard::new();
    let other = yard.hall.bash("other");
    let shell = yard.held("held");
    let handoff = yard.handoff();
    // A repository of its own making, with a program in its configuration.
    let lie = "git init -q $TMPDIR/lie; git -C $TMPDIR/lie config core.fsmonitor 'touch /tmp/handoff-lie; false'; \
               rm .git; echo \"gitdir: $TMPDIR/lie/.git\" > .git; echo x > new";
    yard.told(&shell, lie);
    let told = yard.told(&shell, &format!("{handoff} safe-commit -m lie -- new"));
    assert!(told.contains("code=0"), "{told}");
    let shown = yard
        .hall
        .stage
        .repo
        .git(["show", "--name-only", "--format=%s", "handoff/one-1"]);
    assert!(shown.starts_with("lie") && shown.contains("new"), "{shown}");
    assert!(!PathBuf::from("/tmp/handoff-lie").exists());
    // The lie is no project, and the names of sessions are still those of the right one.
    let send = format!("{handoff} send --id other --no-wait '# true'");
    let told = yard.told(&shell, &send);
    assert!(told.contains("code=0"), "{told}");
    other.shows("true");
    let told = yard.told(&shell, &format!("{send} --repo ."));
    assert!(told.contains("code=9"), "{told}");
}

#[test]
fn one_in_a_sandbox_reaches_no_holder_but_its_own_and_is_no_person_there() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let yard = Yard::new();
    let other = yard.hall.bash("other");
    let shell = yard.held("held");
    let program = yard.handoff();
    let home = yard.hall.stage.env.handoff_home().display().to_string();
    let repo = yard.hall.stage.repo.path().display().to_string();
    // With nothing in its environment it says that it is a person, and nobody believes it.
    let bare = format!("cd {repo}; env -i PATH=$PATH HANDOFF_HOME={home} {program}");
    let attempts = [
        format!("({bare} stop --id other)"),
        format!("({bare} stop --id held)"),
        format!("({bare} pane --id other)"),
        format!("(setsid -w sh -c '{bare} send --id other --message hello --no-wait')"),
    ];
    for command in &attempts {
        let told = yard.told(&shell, command);
        assert!(
            !told.contains("code=0")
                && (told.contains("talks to its own holder only") || told.contains("may not")),
            "{command}: {told}"
        );
    }
    assert!(other.agent().lives() && shell.agent().lives());
    // A person still can, and so can one without a sandbox.
    yard.hall.stage.say("pane --id held").success();
    yard.hall.stage.say("stop --id held").success();
}

#[test]
fn a_ref_that_moves_past_the_hooks_while_a_session_is_held_is_told_once_and_kept() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let yard = Yard::new();
    let stage = &yard.hall.stage;
    stage.say("hooks install").success();
    let shell = yard.held("held");
    stage.repo.write("mine", "mine").commit("a person's own");
    let look = || stage.say("ps --json").success().normalized_stderr();
    assert_eq!(look(), "");

    let by_hand = stage.repo.path().join(".git/refs/heads/sneaky");
    fs::write(&by_hand, stage.repo.head() + "\n").unwrap();
    let told = look();
    assert!(told.contains("`refs/heads/sneaky` moved from"), "{told}");
    assert_eq!(look(), "");
    let events = stage.say("events --json").success().json_lines();
    let kept: Vec<_> = events
        .iter()
        .filter(|it| it["event"]["type"] == "ref_moved_unseen")
        .collect();
    assert_eq!(kept.len(), 1, "{events:?}");
    let moved = &kept[0]["event"]["moved"];
    assert_eq!(moved["name"], "refs/heads/sneaky");
    assert_eq!(moved["new"], stage.repo.head());
    assert_eq!(moved["watched"][0], shell.text("id"));

    stage.say("stop --id held").success();
    assert_eq!(look(), "");
    assert!(!stage.repo.path().join(".git/handoff/watch").exists());
}

#[test]
fn the_token_of_a_port_is_of_no_use_in_a_sandbox() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let yard = Yard::new();
    yard.hall
        .run("open", &["--port", "0", "sh", "--", "-c", "cat"]);
    let listed = yard.hall.listed("open");
    let (port, token) = (&listed["port"], listed["port_token_path"].as_str().unwrap());
    let script = format!(
        "import urllib.request as u\ntoken = open('{token}').read().strip()\n\
         asked = u.Request('http://127.0.0.1:{port}/v1/status', headers={{'Authorization': 'Bearer ' + token}})\n\
         print(u.urlopen(asked).status)\n"
    );
    fs::write(yard.tree.join("ask.py"), script).unwrap();
    let shell = yard.held("held");
    let told = yard.told(&shell, "python3 ask.py");
    assert!(told.contains("HTTP Error 403"), "{told}");
    let mut free = yard.hall.stage.env.command("python3");
    free.arg(yard.tree.join("ask.py"));
    assert_eq!(yard.hall.stage.env.run(free).success().stdout, "200\n");
}
