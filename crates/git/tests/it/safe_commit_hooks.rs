use std::fs;

use handoff_core::Timestamp;
use handoff_git::{CommitLock, CommitRequest, SafeCommitError, TreePath, Version};

use crate::stage::{Stage, write_script};

#[test]
fn a_hook_sees_the_repository_as_it_always_does() {
    let stage = Stage::new();
    stage
        .repo
        .write("sub/a", "new")
        .write("theirs", "new")
        .git(["add", "theirs"]);
    let log = stage.env.work().join("log");
    let log = log.display();
    stage.hook(
        "pre-commit",
        &format!(
            "cd sub\n{{ git rev-parse --abbrev-ref HEAD; git rev-parse --show-toplevel
             git diff --cached --name-only; echo ${{GIT_DIR-none}} ${{GIT_WORK_TREE-none}}; }} > {log}"
        ),
    );
    stage.safe_commit(&["sub/a"]).unwrap();
    let root = stage.repo.path().display();
    let seen = fs::read_to_string(stage.env.work().join("log")).unwrap();
    assert_eq!(seen, format!("main\n{root}\nsub/a\nnone none\n"));
    stage.assert_clean();
}

#[test]
fn a_hook_may_reformat_and_stage_again() {
    let stage = Stage::new();
    stage.repo.write("a", "old\n").commit("base");
    stage.repo.write("a", "new\n");
    stage.hook("pre-commit", "echo formatted >> a && git add a");
    let made = stage.safe_commit(&["a"]).unwrap();
    assert_eq!(
        stage.repo.file_of(made.commit.as_str(), "a"),
        "new\nformatted\n"
    );
    assert_eq!(stage.repo.status(), Vec::<String>::new());
    stage.assert_clean();
}

#[test]
fn a_hook_that_stages_more_is_found_before_anything_moves() {
    let stage = Stage::new();
    let base = stage.repo.head();
    stage.repo.write("a", "new").write("theirs", "new");
    stage.hook("pre-commit", "git add --all");
    let refused = stage.safe_commit(&["a"]).unwrap_err();
    assert_eq!(refused.to_string(), "the commit would also change `theirs`");
    assert_eq!(stage.repo.head(), base);
    assert_eq!(stage.repo.status(), ["?? a", "?? theirs"]);
    stage.assert_clean();
}

#[test]
fn a_hook_that_says_no_is_heard() {
    let stage = Stage::new();
    stage.repo.write("a", "new");
    stage.hook(
        "pre-commit",
        "echo looking; echo 'tests are \x1b[31mred' >&2; exit 3",
    );
    let refused = stage.safe_commit(&["a"]).unwrap_err();
    let SafeCommitError::Refused { said, .. } = &refused else {
        panic!("{refused:?}");
    };
    assert!(said.contains("looking"), "{said}");
    assert_eq!(
        refused.to_string(),
        "git did not make the commit: tests are \\u{1b}[31mred"
    );
    assert_eq!(stage.repo.status(), ["?? a"]);
    stage.assert_clean();
}

#[test]
fn each_hook_runs_once_and_in_its_time() {
    let stage = Stage::new();
    stage.repo.write("a", "new");
    let log = stage.env.work().join("log");
    let note = |name: &str| format!("echo {name} $(git log -1 --format=%s) >> {}", log.display());
    for name in [
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
    ] {
        stage.hook(name, &note(name));
    }
    stage.hook(
        "reference-transaction",
        &format!(
            "while read old new name; do echo $1 $name >> {}; done",
            log.display()
        ),
    );
    stage.safe_commit(&["a"]).unwrap();
    let seen = fs::read_to_string(&log).unwrap();
    let expected = "pre-commit first\nprepare-commit-msg first\ncommit-msg first\n\
                    prepared refs/heads/main\ncommitted refs/heads/main\npost-commit message\n";
    assert_eq!(seen, expected);
}

#[test]
fn a_hook_on_refs_can_stop_it() {
    let stage = Stage::new();
    let base = stage.repo.head();
    stage.repo.write("a", "new");
    stage.hook("reference-transaction", "test \"$1\" != prepared");
    let refused = stage.safe_commit(&["a"]).unwrap_err();
    assert!(matches!(refused, SafeCommitError::Land(_)), "{refused:?}");
    assert_eq!(stage.repo.head(), base);
    assert_eq!(stage.repo.status(), ["?? a"]);
    stage.assert_clean();
}

#[test]
fn hooks_of_a_hooks_path_run_as_husky_has_them() {
    let stage = Stage::new();
    stage
        .repo
        .write("a", "new")
        .write(".husky/_/h", "echo by husky > seen\n");
    write_script(
        &stage.repo.path().join(".husky/_/pre-commit"),
        ". \"$(dirname \"$0\")/h\"",
    );
    stage.repo.git(["config", "core.hooksPath", ".husky/_"]);
    stage.safe_commit(&["a"]).unwrap();
    assert_eq!(stage.repo.read("seen").unwrap(), "by husky\n");
}

#[test]
fn signing_is_gits_own() {
    let stage = Stage::new();
    stage.repo.write("a", "new");
    let program = stage.script(
        "gpg",
        "cat > /dev/null; echo '[GNUPG:] SIG_CREATED ' >&2; echo a-signature",
    );
    stage.repo.git(["config", "commit.gpgsign", "true"]);
    stage
        .repo
        .git(["config", "gpg.program", program.to_str().unwrap()]);
    let made = stage.safe_commit(&["a"]).unwrap();
    let text = stage.repo.git(["cat-file", "commit", made.commit.as_str()]);
    assert!(text.contains("gpgsig a-signature"), "{text}");
}

#[test]
fn filters_are_gits_own() {
    let stage = Stage::new();
    stage.repo.git(["config", "filter.up.clean", "tr a-z A-Z"]);
    stage
        .repo
        .write(".gitattributes", "*.up filter=up\n")
        .commit("attributes");
    stage.repo.write("a.up", "text");
    let made = stage.safe_commit(&["a.up"]).unwrap();
    assert_eq!(stage.repo.file_of(made.commit.as_str(), "a.up"), "TEXT");
    assert_eq!(stage.repo.status(), Vec::<String>::new());
}

/// Why a commit of `mine` is not made while these work in the same tree; none if it is made.
fn refused_beside(stage: &Stage, peers: Option<&[String]>) -> Option<String> {
    let at = stage.here();
    let lock = CommitLock::take(&at, "test", Timestamp::UNIX_EPOCH).unwrap();
    let path = TreePath::locate(stage.repo.path(), stage.repo.path(), "mine".as_ref());
    let paths = [path.unwrap()];
    let request = CommitRequest {
        paths: &paths,
        message: "message",
        version: Version::Only,
        peers,
        at: Timestamp::UNIX_EPOCH,
    };
    match stage.git.prepare(&lock, &at, &request, None) {
        Err(refused) => Some(refused.to_string()),
        Ok(prepared) => {
            prepared.land().unwrap().settle().1.unwrap();
            None
        }
    }
}

#[test]
fn a_manager_that_stashes_is_refused_where_others_have_edits() {
    let stage = Stage::new();
    stage.repo.write("theirs", "old").commit("base");
    stage.repo.write("mine", "new").write("theirs", "unsaved");
    let text = "# generated by pre-commit: https://pre-commit.com\ntrue";
    let hook = stage.hook("pre-commit", text);
    let refused = refused_beside(&stage, Some(&["other".to_owned()]));
    let says = format!(
        "the hook `{}` takes unstaged edits off the disk while it runs, and there are some of others: `theirs`",
        hook.display()
    );
    assert_eq!(refused, Some(says));
    assert_eq!(refused_beside(&stage, Some(&[])), None);
    stage.repo.git(["checkout", "--", "theirs"]);
    stage.repo.write("mine", "newer").write("new", "untracked");
    assert_eq!(refused_beside(&stage, Some(&["other".to_owned()])), None);
    stage.hook("pre-commit", "git stash --include-untracked");
    stage.repo.write("mine", "newest");
    let refused = refused_beside(&stage, Some(&["other".to_owned()])).unwrap();
    assert!(refused.ends_with("of others: `new`"), "{refused}");
}

#[test]
fn a_manager_that_puts_everything_back_is_refused_where_others_work() {
    let stage = Stage::new();
    stage.repo.write("mine", "new");
    let hooks = stage.repo.path().join(".husky");
    fs::create_dir_all(hooks.join("_")).unwrap();
    stage.repo.git(["config", "core.hooksPath", ".husky/_"]);
    let husky = "sh \"$(dirname \"$0\")/../pre-commit\"";
    write_script(&hooks.join("_/pre-commit"), husky);
    write_script(&hooks.join("pre-commit"), "false npx lint-staged");
    let refused = refused_beside(&stage, Some(&["other".to_owned()])).unwrap();
    let says = "puts the whole tree back if a check fails, and others work in it: other";
    assert!(refused.ends_with(says), "{refused}");
    let refused = refused_beside(&stage, None).unwrap();
    let says = "and it cannot be told whether others work in it";
    assert!(refused.ends_with(says), "{refused}");
    let refused = refused_beside(&stage, Some(&[])).unwrap();
    assert!(
        refused.starts_with("git did not make the commit"),
        "{refused}"
    );
    write_script(&hooks.join("pre-commit"), "true npx lint-staged --no-stash");
    assert_eq!(refused_beside(&stage, Some(&["other".to_owned()])), None);
}
