//! `handoff init`, `switch`, `list`, `archive`, `clean`, `export`.

mod crash;
mod ignore;

use std::fs;
use std::path::PathBuf;

use handoff_testkit::{Errno, Fault, Injection, Need, When, skip_without};
use insta::assert_snapshot;

use crate::pseudo_terminal;
use crate::stage::{Stage, tree};

fn path(stage: &Stage, relative: &str) -> PathBuf {
    stage.repo.path().join(".handoff").join(relative)
}

fn current(stage: &Stage) -> String {
    let target = fs::read_link(path(stage, "current")).unwrap();
    target.to_str().unwrap().to_owned()
}

#[test]
fn init_makes_a_feature_and_says_what_is_next() {
    let stage = Stage::new();
    fs::create_dir(stage.repo.path().join("src")).unwrap();
    assert_snapshot!(stage.say("init login").snapshot(), @"
    exit status: 0
    --- stdout ---
    The feature `login` is made, and it is current now.
      made        FEATURE.md  SPEC.md  DESIGN.md  STATE.md  SESSION.md
      explain it  README.md  src/
      missing     AGENTS.md
      could help  docs/

    Next:
      1. Say what you want built in `.handoff/features/login/FEATURE.md`.
      2. `handoff start --copy`, and paste the prompt into your assistant.
      3. `handoff continue --copy` for each session after that.
    ");
    assert_eq!(current(&stage), "features/login");
    for file in [
        "FEATURE.md",
        "SPEC.md",
        "DESIGN.md",
        "STATE.md",
        "SESSION.md",
    ] {
        assert!(path(&stage, "current").join(file).is_file(), "{file}");
    }
}

#[test]
fn init_without_a_name_makes_one_feature_and_then_says_that_it_is_there() {
    let stage = Stage::new();
    assert_snapshot!(stage.say("init --json").snapshot(), @r#"
    exit status: 0
    --- stdout ---
    {"schema":"handoff.init/1","feature":"current","path":"$TEMP/repo/.handoff/features/current","made":["FEATURE.md","SPEC.md","DESIGN.md","STATE.md","SESSION.md"],"current":"current","displaced":null,"context_sources":["README.md"],"context_gaps":["AGENTS.md","docs/"]}
    "#);
    let before = tree(stage.repo.path());
    assert_snapshot!(stage.say("init").snapshot(), @"
    exit status: 0
    --- stdout ---
    The feature `current` is current already, so nothing was changed. For another one: `handoff init <feature>`.
    ");
    assert_eq!(tree(stage.repo.path()), before);
}

#[test]
fn init_never_asks_without_a_terminal_and_leaves_the_current_feature() {
    let stage = Stage::new();
    stage.say("init login").success();
    assert_snapshot!(stage.say("init search").snapshot(), @"
    exit status: 0
    --- stdout ---
    The feature `search` is made. `login` stays current.
      made        FEATURE.md  SPEC.md  DESIGN.md  STATE.md  SESSION.md
      explain it  README.md
      missing     AGENTS.md
      could help  docs/

    Next:
      1. `handoff switch search` to work on it.
      2. Say what you want built in `.handoff/features/search/FEATURE.md`.
      3. `handoff start --copy`, and paste the prompt into your assistant.
      4. `handoff continue --copy` for each session after that.
    ");
    assert_eq!(current(&stage), "features/login");
    stage.say("init search --force").success();
    assert_eq!(current(&stage), "features/search");
}

#[test]
fn init_asks_on_a_terminal() {
    let stage = Stage::new();
    stage.say("init login").success();
    for (answer, expected) in [
        ("n\n", "features/login"),
        ("\n", "features/login"),
        ("y\n", "features/search"),
    ] {
        let seen = pseudo_terminal::run(stage.command(["init", "search"]), answer);
        assert_eq!(seen.code, Some(0));
        let question = "`login` is the current feature. Make `search` current instead? [y/N]";
        assert!(seen.text.contains(question), "{}", seen.text);
        assert_eq!(current(&stage), expected, "{answer:?}");
    }
}

#[test]
fn init_changes_no_byte_of_what_is_there() {
    let stage = Stage::new();
    stage.say("init login").success();
    fs::write(path(&stage, "features/login/SPEC.md"), "mine").unwrap();
    fs::write(path(&stage, "config.toml"), "language = \"German\"\n").unwrap();
    let before = tree(&path(&stage, ""));
    stage.say("init login --force").success();
    assert_eq!(tree(&path(&stage, "")), before);
    fs::remove_file(path(&stage, "features/login/DESIGN.md")).unwrap();
    let made = stage.json("init login")["made"].clone();
    assert_eq!(made, serde_json::json!(["DESIGN.md"]));
}

#[test]
fn a_broken_template_or_setting_leaves_no_half_feature() {
    let stage = Stage::new();
    stage.say("init login").success();
    stage.say("export session").success();
    fs::write(
        path(&stage, "templates/default_session.md"),
        "# S\n{{ goal }}\n",
    )
    .unwrap();
    assert_snapshot!(stage.say("init search").snapshot(), @"
    exit status: 1
    --- stderr ---
    error: a template of this workspace cannot be used
      because `$TEMP/repo/.handoff/templates/default_session.md` line 2: `goal` is not known here; known are feature_name, language
    hint: mend the file, or move it out of `.handoff/templates/` to use the built-in text
    ");
    fs::remove_file(path(&stage, "templates/default_session.md")).unwrap();
    fs::write(path(&stage, "config.toml"), "\nbudget = many\n").unwrap();
    assert_snapshot!(stage.say("init search").snapshot(), @"
    exit status: 1
    --- stderr ---
    error: the settings of this workspace cannot be used
      because `$TEMP/repo/.handoff/config.toml` line 2: string values must be quoted, expected literal string
    hint: the settings are `language`, `budget` and a table `[checks]` of names and commands
    ");
    assert!(!path(&stage, "features/search").exists());
}

#[test]
fn sub_directories_and_linked_worktrees_share_one_workspace() {
    let stage = Stage::new();
    let deep = stage.repo.path().join("src/deep");
    fs::create_dir_all(&deep).unwrap();
    stage.env.handoff_in(&deep, ["init", "login"]).success();
    assert!(path(&stage, "features/login").is_dir());
    let linked = stage.env.root().join("linked");
    stage
        .repo
        .git(["worktree", "add", "-q", linked.to_str().unwrap()]);
    stage
        .env
        .handoff_in(&linked, ["init", "search", "--force"])
        .success();
    assert!(!linked.join(".handoff").exists());
    assert_eq!(current(&stage), "features/search");
    let listed = stage.env.handoff_in(&linked, ["list"]);
    assert_snapshot!(listed.snapshot(), @"
    exit status: 0
    --- stdout ---
       FEATURE  STEPS  PLAN
       login    -      none yet
    *  search   -      none yet
    ");
}

#[test]
fn a_workspace_works_without_git() {
    let stage = Stage::new();
    let work = stage.env.work();
    stage.env.handoff_in(&work, ["init", "login"]).success();
    fs::create_dir(work.join("deep")).unwrap();
    stage
        .env
        .handoff_in(work.join("deep"), ["init", "search", "--force"])
        .success();
    assert!(work.join(".handoff/features/search").is_dir());
    stage.env.handoff_in(&work, ["ignore"]).failure(3);
}

#[test]
fn switch_says_what_it_did() {
    let stage = Stage::new();
    stage.say("init login").success();
    stage.say("init search").success();
    assert_snapshot!(stage.say("switch search").snapshot(), @"
    exit status: 0
    --- stdout ---
    `search` is current now; before, it was `login`.
    ");
    assert_snapshot!(stage.say("switch search").snapshot(), @"
    exit status: 0
    --- stdout ---
    `search` is current, as before.
    ");
    assert_snapshot!(stage.say("switch nothing").snapshot(), @"
    exit status: 3
    --- stderr ---
    error: there is no feature `nothing`
    hint: see what there is: `handoff list`
    ");
    assert_snapshot!(stage.say("switch login --json").snapshot(), @r#"
    exit status: 0
    --- stdout ---
    {"schema":"handoff.switch/1","current":"login","before":"search","is_link":true,"displaced":null}
    "#);
}

#[test]
fn a_link_that_was_checked_out_as_a_file_is_understood() {
    let stage = Stage::new();
    stage.say("init login").success();
    fs::remove_file(path(&stage, "current")).unwrap();
    fs::write(path(&stage, "current"), "features/login").unwrap();
    assert_eq!(stage.json("list")["current"], "login");
}

#[test]
fn a_link_to_nothing_is_no_current_feature() {
    let stage = Stage::new();
    stage.say("init login").success();
    stage.say("init search").success();
    fs::rename(path(&stage, "features/login"), path(&stage, "login")).unwrap();
    assert_snapshot!(stage.say("list").snapshot(), @"
    exit status: 0
    --- stdout ---
      FEATURE  STEPS  PLAN
      search   -      none yet
    --- stderr ---
    None is current. Choose one: `handoff switch <feature>`.
    ");
    stage.say("start").failure(3);
    stage.say("clean").failure(4);
    assert_eq!(stage.json("init")["feature"], "login");
}

#[test]
fn where_links_cannot_be_made_a_file_serves() {
    if skip_without(&[Need::Strace]) {
        return;
    }
    let stage = Stage::new();
    stage.say("init login").success();
    stage.say("init search").success();
    let no_links = Injection {
        syscalls: &["symlinkat"],
        fault: Fault::Error(Errno::Eperm),
        when: When::from_nth_on(1),
    };
    for feature in ["search", "login"] {
        let mut command = stage
            .env
            .command_under(&no_links.prefix(), stage.env.binary());
        command
            .current_dir(stage.repo.path())
            .args(["switch", feature]);
        let switched = stage.env.run(command).success();
        assert!(
            switched.stderr.starts_with("Links cannot be made here"),
            "{}",
            switched.stderr
        );
        let file = fs::read_to_string(path(&stage, "current")).unwrap();
        assert_eq!(file, format!("features/{feature}\n"));
        assert_eq!(stage.json("list")["current"], feature);
    }
    stage.say("switch search").success();
    assert_eq!(current(&stage), "features/search");
}

#[test]
fn list_shows_progress_archives_and_strays() {
    let stage = Stage::new();
    assert_snapshot!(stage.say("list").snapshot(), @"
    exit status: 0
    --- stderr ---
    There is no feature yet. Make one: `handoff init <feature>`.
    ");
    stage.say("init old").success();
    stage.say("archive old").success();
    stage.say("init login").success();
    stage.say("init search").success();
    fs::write(
        path(&stage, "features/login/STATE.md"),
        "# Execution Plan\n\n- [x] one\n- [ ] two\n",
    )
    .unwrap();
    fs::write(path(&stage, "features/notes.txt"), "").unwrap();
    assert_snapshot!(stage.say("list").snapshot(), @"
    exit status: 0
    --- stdout ---
       FEATURE  STEPS  PLAN
    *  login    1/2    in work
       search   -      none yet

    Archived: old.archived
    --- stderr ---
    Not features, and left alone: notes.txt
    ");
    assert_snapshot!(stage.say("list --json").snapshot(), @r#"
    exit status: 0
    --- stdout ---
    {"schema":"handoff.features/1","current":"login","features":[{"name":"login","is_current":true,"plan":{"verdict":"ready","done":1,"total":2,"current":{"number":2,"line":4,"depth":0,"state":"pending","title":"two","reason":null,"notes":[]}}},{"name":"search","is_current":false,"plan":{"verdict":"not_initialised","done":0,"total":0,"current":null}}],"archives":[{"name":"old","folder":"old.archived"}],"strays":["notes.txt"]}
    "#);
}

#[test]
fn export_writes_what_can_be_changed_and_never_over_a_change() {
    let stage = Stage::new();
    stage.say("init login").success();
    assert_snapshot!(stage.say("export spec_prompt default_state.md").snapshot(), @"
    exit status: 0
    --- stdout ---
    Written to `.handoff/templates`:
      default_spec_prompt.md
      default_state.md
    ");
    fs::write(path(&stage, "templates/default_state.md"), "mine\n").unwrap();
    assert_snapshot!(stage.say("export state spec_prompt").snapshot(), @"
    exit status: 0
    --- stdout ---
    Nothing to write: `.handoff/templates` has them already.
    Changed by somebody, and left as they are:
      default_state.md
    --- stderr ---
    `--force` writes over these too, and keeps their text in `.handoff/trash/`.
    ");
    assert_snapshot!(stage.say("export state --force").snapshot(), @"
    exit status: 0
    --- stdout ---
    Written to `.handoff/templates`:
      default_state.md
    ");
    assert_eq!(
        stage.json("export")["written"].as_array().unwrap().len(),
        10
    );
    stage.say("export nonsense").failure(2);
}

#[test]
fn a_real_folder_at_current_is_kept_and_its_place_is_said() {
    let stage = Stage::new();
    stage.repo.write(".handoff/current/STATE.md", "work");
    let said = stage.say("init login").success();
    assert!(
        said.stderr
            .contains("`.handoff/current` was a real folder. It is kept as `.handoff/trash/")
    );
    let undone = stage.say("clean --undo").failure(3);
    let place = undone
        .stderr
        .split('`')
        .find(|it| it.contains("trash/"))
        .unwrap();
    let kept = format!("{place}/STATE.md");
    assert_eq!(stage.repo.read(kept).as_deref(), Some("work"));
    let other = Stage::new();
    other.repo.write(".handoff/current/STATE.md", "work");
    let displaced = other.json("init login")["displaced"].clone();
    assert!(displaced.as_str().unwrap().starts_with("trash/"));
}
