//! What destroys something for good: a person at a terminal confirms it, or says `--yes`; a session never does.

use crate::pseudo_terminal;
use crate::stage::Stage;

/// A command that destroys something that is there.
struct Act {
    words: String,
    /// What its refusal and its question name.
    names: String,
}

/// A claimed task, a batch of which a part is claimed, a package, a key and a package that nobody can receive any more.
fn acts(stage: &Stage) -> Vec<Act> {
    stage.repo.commit("first");
    stage.add("fix");
    stage.claim("fix");
    let manifest = "schema_version = 2\nbatch_id = \"two\"\nfan_in_task = \"merge-two\"\n[fan_in]\nestimated_minutes = 5\n\
                    [[sub_tasks]]\nid = \"a\"\nbrief = \"A.\"\nestimated_minutes = 20\nfile_ownership = [\"a/\"]\n\
                    [[sub_tasks]]\nid = \"b\"\nbrief = \"B.\"\nestimated_minutes = 20\nfile_ownership = [\"b/\"]\n";
    stage.repo.write("two.toml", manifest);
    stage.say("dump --open-batch two.toml").success();
    stage.claim("two.a");
    let create = || {
        let made = stage.json("package create --resume-point x");
        made["id"].as_str().unwrap().to_owned()
    };
    let (kept, over) = (create(), create());
    stage.say(&format!("package receive {over}")).success();
    let key = Stage::new().json("keys export")["keys"][0]["key"].clone();
    let key = key.as_str().unwrap().to_owned();
    let trust = ["keys", "trust", &key, "--name", "a", "--yes"];
    stage.run(trust).success();
    let listed = stage.json("keys list");
    let mut keys = listed["keys"].as_array().unwrap().iter();
    let id = keys.find(|it| it["key"] == key.as_str()).unwrap()["id"].clone();
    let act = |words: &str, names: &str| Act {
        words: words.to_owned(),
        names: names.to_owned(),
    };
    vec![
        act("queue cancel fix", "`fix`"),
        act("batch cancel two", "`two`"),
        act(&format!("package delete {kept}"), &kept),
        act(&format!("keys revoke {key}"), id.as_str().unwrap()),
        act("package gc --apply --older-than 0s", "in no branch"),
    ]
}

/// Everything that could have been destroyed.
fn belongings(stage: &Stage) -> String {
    let documents = [
        "queue list --all",
        "package list",
        "keys list",
        "package gc --older-than 0s",
    ];
    let shown = documents.map(|words| stage.json(words));
    let mut text = String::new();
    for mut document in shown {
        for task in document["tasks"].as_array_mut().into_iter().flatten() {
            // How much of a lease is left changes by itself.
            task["lease"] = serde_json::Value::Null;
        }
        text += &document.to_string();
    }
    text
}

#[test]
fn without_a_terminal_nothing_is_destroyed_unless_somebody_says_yes() {
    let stage = Stage::new();
    let acts = acts(&stage);
    let before = belongings(&stage);
    for act in &acts {
        let refused = stage.say(&act.words).failure(2);
        assert!(refused.stderr.contains(&act.names), "{}", refused.stderr);
        assert!(refused.stderr.contains("`--yes`"), "{}", refused.stderr);
        // A program that reads JSON is not asked either.
        stage.say(&format!("{} --json", act.words)).failure(2);
        let mut session = stage.command(act.words.split(' ').chain(["--yes"]));
        session.env("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60");
        stage.env.run(session).failure(9);
    }
    assert_eq!(belongings(&stage), before);
    for act in &acts {
        stage.say(&format!("{} --yes", act.words)).success();
    }
}

#[test]
fn a_person_at_a_terminal_is_asked_once() {
    let stage = Stage::new();
    let acts = acts(&stage);
    let before = belongings(&stage);
    for act in &acts {
        let seen = pseudo_terminal::run(stage.command(act.words.split(' ')), "n\n");
        assert_eq!(seen.code, Some(1), "{}", seen.text);
        assert_eq!(seen.text.matches("[y/N]").count(), 1, "{}", seen.text);
        assert!(seen.text.contains(&act.names), "{}", seen.text);
    }
    assert_eq!(belongings(&stage), before);
    for act in &acts {
        let seen = pseudo_terminal::run(stage.command(act.words.split(' ')), "y\n");
        assert_eq!(seen.code, Some(0), "{}", seen.text);
    }
}

#[test]
fn what_nobody_works_on_is_cancelled_without_a_question() {
    let stage = Stage::new();
    stage.add("idle");
    stage.say("queue cancel idle").success();
    stage.say("gc --apply").success();
}
