//! What sessions of tasks can do outside of their worktree.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use handoff_testkit::{Need, Output, skip_without};

use crate::attacks::commands;
use crate::stage::{Stage, tree};

/// Moves refs by hand, in every way that no hook sees, and writes a file beside its tree.
const HANDS: &str = "[[step]]\nrun = [\"sh\", \"-c\", '''
G=$(git rev-parse --path-format=absolute --git-common-dir)
git rev-parse HEAD > $G/refs/heads/made
git rev-parse HEAD > $G/refs/heads/moved
rm $G/refs/heads/removed
mkdir -p $G/refs/heads/deep/er; git rev-parse HEAD > $G/refs/heads/deep/er/made
git rev-parse HEAD > $G/refs/tags/tagged
echo outside > $G/../outside
echo mine > mine
''']\n";

fn play(settings: &str, add: &str) -> Stage {
    let stage = Stage::new();
    stage.configure(settings);
    let first = stage.repo.head();
    stage.repo.write("a", "new").commit("second");
    stage.repo.git(["branch", "moved", &first]);
    stage.repo.git(["branch", "removed", &first]);
    stage.say("hooks install").success();
    stage.say(add).success();
    work(&stage, HANDS);
    stage
}

fn work(stage: &Stage, script: &str) -> Output {
    let script = stage.script("agent.toml", script);
    let words = ["worker", "--until-empty", "--script"].map(OsStr::new);
    stage.run(words.into_iter().chain([script.as_os_str()]))
}

fn told(stage: &Stage) -> Vec<String> {
    let told = stage.run(["hooks", "status", "--json"]).json();
    let foreign = told["foreign"].as_array().cloned().unwrap_or_default();
    let names = foreign.iter().filter_map(|it| it["name"].as_str());
    names.map(str::to_owned).collect()
}

const MOVED: [&str; 5] = [
    "refs/heads/deep/er/made",
    "refs/heads/made",
    "refs/heads/moved",
    "refs/heads/removed",
    "refs/tags/tagged",
];

const ADD: &str = "queue add fix --brief Fix";

#[test]
fn refs_that_a_task_without_a_sandbox_moves_are_told() {
    let stage = play("[worker]\nsandbox = \"none\"\n", ADD);
    assert_eq!(told(&stage), MOVED);
    let by_task = play("", &format!("{ADD} --sandbox none"));
    assert_eq!(told(&by_task), MOVED);
}

#[test]
fn a_task_in_the_sandbox_moves_none_and_writes_nowhere_else() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    for (settings, add) in [
        ("", ADD.to_owned()),
        (
            "[worker]\nsandbox = \"none\"\n",
            format!("{ADD} --sandbox worktree"),
        ),
    ] {
        let stage = play(settings, &add);
        assert_eq!(told(&stage), Vec::<String>::new());
        let refs = stage.repo.refs();
        assert!(refs.contains_key("refs/heads/removed"), "{refs:?}");
        assert!(!refs.contains_key("refs/heads/made"), "{refs:?}");
        assert!(!fs::exists(stage.repo.path().join("outside")).unwrap());
        let task = stage.json("queue show fix");
        assert_eq!(task["state"], "done", "{task}");
        let branch = task["evidence"][0]["branch"].as_str().unwrap();
        assert_eq!(stage.repo.changes_of(branch), ["mine"]);
    }
}

/// Tells what it finds of its own sandbox, and adds a task for which it wants none, and one as it may.
const ADDS: &str = "[[step]]\nrun = [\"sh\", \"-c\", '''
handoff queue add free --brief Free. --sandbox none 2> refused; echo code=$? >> refused
handoff dump --task freed --next Free. --sandbox none 2>> refused; echo code=$? >> refused
handoff dump --task elsewhere --next Go. --workspace \"$ELSEWHERE\" 2>> refused; echo code=$? >> refused
handoff queue add held --brief Held.
''']\n";

#[test]
fn a_session_takes_no_task_out_of_the_sandbox() {
    let mut stage = Stage::new();
    let other = stage.env.repo("other");
    stage.env.set("ELSEWHERE", other.path());
    stage.add("fix");
    let script = stage.script("agent.toml", ADDS);
    let words = ["worker", "--once", "--script"].map(OsStr::new);
    stage
        .run(words.into_iter().chain([script.as_os_str()]))
        .success();
    let branch = stage.json("queue show fix")["evidence"][0]["branch"].clone();
    let refused = stage.repo.file_of(branch.as_str().unwrap(), "refused");
    let why = "may not let a task work in no sandbox; a person decides that";
    assert_eq!(refused.matches(why).count(), 2, "{refused}");
    assert!(
        refused.ends_with("in its own repository only\ncode=9\n"),
        "{refused}"
    );
    assert_eq!(refused.matches("code=9").count(), 3, "{refused}");
    assert_eq!(stage.state("held"), "queued");
    stage.say("queue show free").failure(3);
    stage.say("queue show freed").failure(3);
}

/// What is said of the session of a task: the event that it began, what `status` shows and what the worker says.
fn said(settings: &str, add: &str) -> (String, String, String) {
    let stage = Stage::new();
    stage.configure(settings);
    stage.say(add).success();
    let script =
        "[[step]]\nrun = [\"sh\", \"-c\", 'cp $HANDOFF_HOME/sessions/*/events.jsonl events']\n";
    let worked = work(&stage, script);
    let events = stage.repo.file_of(&branch_of(&stage, "fix"), "events");
    let started = events.lines().next().unwrap().to_owned();
    let shown = stage.say("status").success().stdout;
    (started, shown, worked.stderr)
}

#[test]
fn where_nothing_holds_a_task_that_is_said() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let (started, shown, worker) = said("", ADD);
    assert!(started.contains("\"sandbox\":\"worktree\""), "{started}");
    assert!(!started.contains("sandbox_off"), "{started}");
    assert!(!shown.contains("sandbox"), "{shown}");
    assert!(!worker.contains("sandbox"), "{worker}");

    let (started, shown, worker) = said("[worker]\nsandbox = \"none\"\n", ADD);
    assert!(
        started.contains("\"sandbox_off\":\"settings\""),
        "{started}"
    );
    assert!(
        shown.contains("none for sessions of tasks, by the settings"),
        "{shown}"
    );
    assert!(
        worker.contains("in no sandbox here: your settings say so"),
        "{worker}"
    );

    let (started, shown, worker) = said("", &format!("{ADD} --sandbox none"));
    assert!(started.contains("\"sandbox_off\":\"task\""), "{started}");
    assert!(!shown.contains("none for sessions"), "{shown}");
    assert!(!worker.contains("sandbox"), "{worker}");
}

/// The script of the attack, for sessions of these roles; others do what makes a fan-in need an agent.
fn attack(roles: &[&str]) -> String {
    let steps = roles.iter().map(|role| {
        let script = commands::script();
        let when = format!("when = {{ env = \"HANDOFF_ROLE\", is = \"{role}\" }}");
        format!("[[step]]\n{when}\nrun = [\"sh\", \"-c\", '''{script}''']\n")
    });
    let greedy = "[[step]]\nwhen = { env = \"HANDOFF_TASK\", is = \"b.two\" }\nrun = [\"sh\", \"-c\", \"echo mine > README.md\"]\n";
    steps.chain([greedy.to_owned()]).collect()
}

/// A person's home with something at most of the places.
fn stage() -> Stage {
    let mut stage = Stage::new();
    let home = stage.env.home();
    for (_, place) in commands::PLACES.iter().step_by(2) {
        let Some(path) = place.strip_prefix("$HOME/") else {
            continue;
        };
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "the person's\n").unwrap();
    }
    stage.env.set("HONEST", "");
    stage
}

/// What the session of this task could change of others, and what it could not do of its own.
fn outcome(stage: &Stage, commit: &str, task: &str) -> [String; 2] {
    ["broken", "failed"].map(|it| stage.repo.file_of(commit, &format!("own/{task}/{it}")))
}

fn branch_of(stage: &Stage, task: &str) -> String {
    let task = stage.json(&format!("queue show {task}"));
    let evidence = task["evidence"].as_array().unwrap().iter();
    let branch = evidence.rev().find_map(|it| it["branch"].as_str());
    branch.unwrap_or_else(|| panic!("{task}")).to_owned()
}

#[test]
fn a_plain_task_changes_nothing_from_which_programs_take_commands() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let stage = stage();
    let before = tree(&stage.env.home());
    stage.add("fix");
    work(&stage, &attack(&["main"])).success();
    let branch = branch_of(&stage, "fix");
    assert_eq!(outcome(&stage, &branch, "fix"), ["", ""]);
    assert!(tree(&stage.env.home()) == before);
    stage.say("doctor --audit").success();
}

const MANIFEST: &str = "schema_version = 2\nbatch_id = \"b\"\nfan_in_task = \"merge\"\n\
    [[sub_tasks]]\nid = \"one\"\nbrief = \"x\"\nfile_ownership = [\"own/\"]\n\
    [[sub_tasks]]\nid = \"two\"\nbrief = \"x\"\nfile_ownership = [\"two/\"]\n";

#[test]
fn neither_does_a_part_of_a_batch_or_its_fan_in() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let stage = stage();
    let before = tree(&stage.env.home());
    let manifest = stage.script("batch.toml", MANIFEST);
    let words = ["dump", "--open-batch"].map(OsStr::new);
    stage
        .run(words.into_iter().chain([manifest.as_os_str()]))
        .success();
    work(&stage, &attack(&["sub-task", "fan-in"]));
    let branch = "refs/heads/handoff/b";
    for task in ["b.one", "merge"] {
        assert_eq!(outcome(&stage, branch, task), ["", ""], "{task}");
    }
    assert!(tree(&stage.env.home()) == before);
}

const WORKFLOW: &str = "schema_version = 1\ndescription = \"One phase.\"\n[[phases]]\nname = \"paint\"\n\
    role = \"You paint.\"\nprompt = \"Paint it.\"\nproof = \"checks\"\nnext = \"end\"\n";

#[test]
fn neither_does_a_phase_of_a_run() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let stage = stage();
    stage
        .repo
        .write(".handoff/workflows/painting.toml", WORKFLOW);
    stage.say("workflow trust painting --yes").success();
    let before = tree(&stage.env.home());
    let words = "workflow run painting --goal Paint. --name wall --detach";
    stage.say(words).success();
    work(&stage, &attack(&["sub-task"])).success();
    let mut refs = stage.repo.refs().into_keys();
    let branch = refs.rfind(|it| it.starts_with("refs/heads/handoff/"));
    let branch = branch.unwrap();
    let files = stage
        .repo
        .git(["ls-tree", "-r", "--name-only", &branch, "own/"]);
    let task = files.lines().find_map(|it| it.split('/').nth(1)).unwrap();
    assert_eq!(outcome(&stage, &branch, task), ["", ""]);
    assert!(tree(&stage.env.home()) == before);
}

/// A program that is called `claude`: writes its state as the real one does, and tries what it may not.
const CLAUDE: &str = r#"#!/bin/sh
: > failed; : > broken
own=$CLAUDE_CONFIG_DIR
slug=$(pwd -P | sed 's/[^a-zA-Z0-9]/-/g')
honest() { "$@" 2>> failed || echo "$*" >> failed; }
[ "$(cat "$own/settings.json")" = settings ] || echo no settings >> failed
[ "$(cat "$own/.claude.json")" = trust ] || echo no trust >> failed
[ "$(cat "$own/skills/s/SKILL.md")" = skill ] || echo no skill >> failed
honest sh -c 'echo new > "$0/settings.json"' "$own"
honest sh -c 'echo new > "$0/new" && mv "$0/new" "$0/.claude.json"' "$own"
honest sh -c 'mkdir "$0/todos" && echo x > "$0/history.jsonl"' "$own"
honest sh -c 'echo renewed > "$0/.credentials.json"' "$own"
honest sh -c 'echo words > "$0/projects/$1/one.jsonl"' "$own" "$slug"
for it in "$own/skills/s/SKILL.md" "$HOME/.claude/settings.json" "$HOME/.claude.json" "$HOME/.claude/projects/-other/a.jsonl"; do
  sh -c 'echo evil > "$0"' "$it" 2> /dev/null && echo "$it" >> broken
done
handoff done --summary Said.
"#;

#[test]
fn an_agent_has_a_configuration_of_its_own_and_shares_data_only() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let mut stage = Stage::new();
    let home = stage.env.home();
    let write = |path: &str, text: &str| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for (path, text) in [
        (".claude.json", "trust"),
        (".claude/settings.json", "settings"),
        (".claude/skills/s/SKILL.md", "skill"),
        (".claude/.credentials.json", "token"),
        (".claude/projects/-other/a.jsonl", "others"),
    ] {
        write(path, text);
    }
    stage.git_that("exec /usr/bin/git \"$@\"");
    let program = stage.env.work().join("deadly/claude");
    fs::write(&program, CLAUDE).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    stage.add("fix");
    stage.say("worker --once --agent claude").success();
    let branch = branch_of(&stage, "fix");
    let found = ["broken", "failed"].map(|it| stage.repo.file_of(&branch, it));
    assert_eq!(found, ["", ""]);
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    let claude = home.join(".claude");
    assert_eq!(text(&home.join(".claude.json")), "trust");
    assert_eq!(text(&claude.join("settings.json")), "settings");
    assert_eq!(text(&claude.join(".credentials.json")), "renewed\n");
    assert_eq!(text(&claude.join("projects/-other/a.jsonl")), "others");
    let records = fs::read_dir(claude.join("projects")).unwrap().flatten();
    let mut records = records.filter(|it| it.file_name() != "-other");
    let own = records.next().unwrap().path();
    assert_eq!(text(&own.join("one.jsonl")), "words\n");
}
