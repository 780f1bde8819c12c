//! Skills, recipes and the guide.

use std::fs;

use insta::assert_snapshot;

use crate::stage::{Stage, tree};

#[test]
fn skills_are_installed_listed_and_leave_no_trace() {
    let stage = Stage::new();
    let before = tree(&stage.env.home());
    let dry = stage.say("skills install --dry-run").success();
    assert_eq!(
        (
            tree(&stage.env.home()) == before,
            dry.stdout.lines().count()
        ),
        (true, 6)
    );
    stage.say("skills install").success();
    for agent in [".claude", ".codex"] {
        let path = stage
            .env
            .home()
            .join(agent)
            .join("skills/handoff-chain/SKILL.md");
        let text = fs::read_to_string(path).unwrap();
        assert!(text.starts_with("---\nname: handoff-chain\n"), "{text}");
    }
    assert_snapshot!(stage.say("skills list").snapshot(), @r"
    exit status: 0
    --- stdout ---
    NAME              CLAUDE     CODEX      WHAT
    handoff-dispatch  installed  installed  give work to other sessions and follow it
    handoff-chain     installed  installed  plan, implement, review and fix with fresh sessions
    handoff-buddy     installed  installed  look on while another session works
    ");
    assert_snapshot!(stage.say("skills install").snapshot(), @r"
    exit status: 0
    --- stderr ---
    There is nothing to do.
    ");
    stage.say("skills uninstall").success();
    assert!(tree(&stage.env.home()) == before);
}

#[test]
fn one_skill_is_installed_into_the_repository_by_an_old_name() {
    let stage = Stage::new();
    let sub = stage.repo.path().join("sub");
    fs::create_dir(&sub).unwrap();
    let words = ["skills", "install", "harnex", "--local"];
    stage.env.handoff_in(&sub, words).success();
    let skills = stage.repo.path().join(".claude/skills");
    let names: Vec<_> = fs::read_dir(&skills)
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    assert_eq!(names, ["handoff-dispatch"]);
    stage.say("skills uninstall dispatch --local").success();
    assert!(!stage.repo.path().join(".claude").exists());
    assert_eq!(stage.say("skills install nonsense").code(), Some(3));
}

#[test]
fn what_is_not_ours_or_was_changed_stays() {
    let stage = Stage::new();
    let skills = stage.env.home().join(".claude/skills");
    let foreign = skills.join("handoff-buddy/SKILL.md");
    fs::create_dir_all(foreign.parent().unwrap()).unwrap();
    fs::write(&foreign, "mine\n").unwrap();
    let before = tree(&stage.env.home());
    assert_eq!(stage.say("skills install").code(), Some(4));
    assert!(tree(&stage.env.home()) == before);
    stage.say("skills install chain").success();
    let changed = skills.join("handoff-chain/SKILL.md");
    let text = fs::read_to_string(&changed).unwrap();
    fs::write(&changed, text.replace("fresh", "stale")).unwrap();
    assert_eq!(stage.say("skills install chain").code(), Some(4));
    stage.say("skills uninstall").success();
    assert!(changed.exists() && foreign.exists());
}

#[test]
fn a_session_cannot_grant_itself_commands() {
    let mut stage = Stage::new();
    stage
        .env
        .set("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60");
    assert_eq!(stage.say("skills install").code(), Some(9));
    stage.say("skills list").success();
}

#[test]
fn recipes_are_listed_and_shown() {
    let stage = Stage::new();
    assert_snapshot!(stage.say("recipes").snapshot(), @r"
    exit status: 0
    --- stdout ---
    NO  NAME            WHAT
    01  fire-and-watch  one piece of work, one fresh session, one look at the result
    02  chain           plan, implement, review, fix: a fresh session for each
    03  buddy           a second session that looks on and speaks up
    --- stderr ---
    Read one: `handoff recipes show 1`.
    ");
    let shown = stage.say("recipes show fire").success().stdout;
    assert!(shown.starts_with("# Fire and watch\n"), "{shown}");
    assert_eq!(stage.json("recipes show 3")["name"], "buddy");
    assert_eq!(stage.say("recipes show nonsense").code(), Some(3));
    assert!(
        stage
            .say("guide")
            .success()
            .stdout
            .starts_with("# From nothing")
    );
}
