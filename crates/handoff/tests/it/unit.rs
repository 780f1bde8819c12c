//! A worker that the machine keeps alive: what is written for systemd and launchd.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use handoff_testkit::Output;
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::stage::Stage;

/// A stage with an agent that is there.
fn stage() -> Stage {
    let mut stage = Stage::new();
    let bin = stage.env.work().join("bin & <more>");
    std::fs::create_dir(&bin).unwrap();
    let claude = bin.join("claude");
    std::fs::write(&claude, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(0o755)).unwrap();
    let places = [bin.as_path(), "/usr/bin".as_ref(), "/bin".as_ref()];
    let path = std::env::join_paths(places).unwrap();
    stage.env.set("PATH", path);
    stage
        .env
        .set("HANDOFF_STORE_PASSWORD_FILE", "/run/secrets/store");
    stage
}

fn mark(stage: &Stage) -> PathBuf {
    stage.repo.path().join(".git/handoff/project")
}

#[track_caller]
fn printed(stage: &Stage, words: &str) -> Output {
    let shown = stage.say(&format!("worker install {words} --print"));
    assert!(!mark(stage).exists(), "what is only shown makes no project");
    shown.success()
}

#[test]
fn what_systemd_is_told_is_what_it_understands() {
    let stage = stage();
    let shown = printed(&stage, "--agent claude --slots 2").stdout;
    for line in [
        "worker\" \"--agent\" \"claude\" \"--slots\" \"2\"",
        "Environment=\"HANDOFF_STORE_PASSWORD_FILE=/run/secrets/store\"",
        "Restart=on-failure",
        "KillMode=process",
        "WantedBy=default.target",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    if !std::path::Path::new("/usr/bin/systemd-analyze").exists() {
        return;
    }
    let file = stage.env.work().join("handoff-worker.service");
    std::fs::write(&file, &shown).unwrap();
    let mut verify = stage.env.command("systemd-analyze");
    let verified = verify
        .args(["verify", "--user"])
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    let about_it: Vec<_> = { said.lines() }
        .filter(|it| it.contains("handoff-worker.service"))
        .collect();
    assert_eq!(about_it, [""; 0], "{said}");
}

/// The tags and texts of a property list, in order.
fn read(text: &str) -> Vec<String> {
    let mut reader = Reader::from_str(text);
    let (mut found, mut depth) = (vec![], 0_i32);
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) => {
                depth += 1;
                found.push(tag.name().as_ref().to_owned());
            }
            Event::End(_) => depth -= 1,
            Event::Empty(tag) => {
                found.push(tag.name().as_ref().to_owned());
            }
            Event::Text(text) => found.push(text.to_string()),
            Event::GeneralRef(name) => found.push(format!("&{}", &*name)),
            Event::Eof => break,
            Event::Decl(_)
            | Event::DocType(_)
            | Event::CData(_)
            | Event::PI(_)
            | Event::Comment(_) => {}
        }
    }
    assert_eq!(depth, 0, "{text}");
    found.retain(|it| !it.trim().is_empty());
    found
}

#[test]
fn what_launchd_is_told_is_xml() {
    let stage = stage();
    let shown = printed(&stage, "--agent claude --manager launchd").stdout;
    let read = read(&shown);
    assert_eq!(read[..3], ["plist", "dict", "key"], "{read:?}");
    let has = |words: &[&str]| read.windows(words.len()).any(|it| it == words);
    assert!(has(&["string", "--agent", "string", "claude"]), "{read:?}");
    assert!(has(&["&amp", "&lt", "more", "&gt"]), "{read:?}");
    assert!(has(&["SuccessfulExit", "false"]), "{read:?}");
}

#[test]
fn it_is_written_and_removed_and_both_say_what_to_do() {
    let stage = stage();
    let missing = stage.say("worker uninstall").failure(3);
    assert!(!mark(&stage).exists(), "{}", missing.stderr);
    let as_json = stage.json("worker install --agent claude --print");
    assert!(as_json["text"].as_str().unwrap().contains("[Service]"));
    let written = stage.json("worker install --agent claude");
    let path = PathBuf::from(written["path"].as_str().unwrap());
    assert!(
        path.starts_with(stage.env.config_home()) && path.is_file(),
        "{path:?}"
    );
    let removed = stage.say("worker uninstall").success();
    assert!(!path.exists());
    assert!(
        removed
            .stderr
            .contains("systemctl --user stop handoff-worker-"),
        "{}",
        removed.stderr
    );
    stage.say("worker uninstall").failure(3);
}

#[test]
fn what_no_worker_could_work_with_is_not_installed() {
    let stage = stage();
    for (words, why) in [
        ("--agent nosuch", "no agent is called `nosuch`"),
        ("--agent bash", "is a shell"),
        ("--agent codex", "there is no program `codex`"),
        ("--slots 2", "which agent is to work?"),
    ] {
        let refused = stage.say(&format!("worker install {words}"));
        assert!(
            !refused.status.success() && refused.stderr.contains(why),
            "{words}: {}",
            refused.stderr
        );
    }
    stage.configure("[worker]\nagent = \"claude\"\n");
    let shown = printed(&stage, "--slots 2").stdout;
    assert!(shown.contains("\"--agent\" \"claude\""), "{shown}");
}
