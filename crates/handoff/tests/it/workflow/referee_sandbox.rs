//! What the referee runs is code that sessions wrote: it can change its tree, and decides nothing.

use std::fs;

use handoff_testkit::{Need, skip_without};

use super::{Play, RED};

#[test]
fn what_is_run_as_a_check_decides_nothing() {
    let mut play = Play::new();
    play.stage.env.set("HANDOFF_CHECK", "task");
    for words in [
        "approve calc",
        "reject calc --reason no",
        "workflow trust tdd --yes",
        "queue add more --brief more",
        "hold",
    ] {
        let refused = play.stage.say(words).failure(9);
        let said = "what is run as a check may not";
        assert!(refused.stderr.contains(said), "{words}: {}", refused.stderr);
    }
}

#[test]
fn a_check_that_hides_what_it_is_decides_nothing_either() {
    let play = Play::new();
    for words in [
        "approve calc",
        "trust --revoke",
        "keys revoke key_none",
        "skills install",
    ] {
        let hidden = format!("env -u HANDOFF_CHECK \"$HANDOFF\" {words}; echo $?");
        let mut command = play.stage.env.command("sh");
        let told = command
            .args(["-c", &hidden])
            .env("HANDOFF_CHECK", "task")
            .env("HANDOFF", play.stage.env.binary())
            .current_dir(play.stage.repo.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&told.stderr).into_owned();
        assert_eq!(told.stdout, b"9\n", "{words}: {said}");
        assert!(said.contains("what is run as a check may not"), "{said}");
    }
}

#[test]
fn tests_of_a_session_change_nothing_but_the_tree_they_run_in() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let play = Play::new();
    let outside = play.stage.env.work().join("acts/outside");
    let kept = play.stage.env.handoff_home().join("referee");
    // Whatever it tries fails; the test itself is an honest one.
    let tries = format!(
        "touch {outside} 2>/dev/null && exit 9; \
         env -u HANDOFF_CHECK \"$HANDOFF\" queue add more --brief more >/dev/null 2>&1 && exit 9; \
         for it in {kept}/*; do touch \"$it/forged.json\" 2>/dev/null && exit 9; done; \
         setsid sleep 271828 >/dev/null 2>&1 </dev/null & \
         echo kept > here; echo kept > \"$TMPDIR/there\" || exit 9;",
        outside = outside.display(),
        kept = kept.display(),
    );
    let honest = RED.replace(
        "echo '. ./calc.sh; [ \"$(add",
        "echo 'TRIES . ./calc.sh; [ \"$(add",
    );
    let escaped = tries.replace('\'', "'\\''");
    play.act("red", &honest.replace("TRIES", &escaped));
    play.run().success();
    assert_eq!(play.steps(), super::ALL[..7]);
    assert!(!outside.exists());
    let mut processes = fs::read_dir("/proc").unwrap().flatten();
    let is_left = processes.any(|it| {
        let line = fs::read(it.path().join("cmdline")).unwrap_or_default();
        line == *b"sleep\x00271828\x00"
    });
    assert!(!is_left, "what was left running is ended");
    let tasks = play.stage.json("queue list --all");
    assert!(!tasks.to_string().contains("\"more\""), "{tasks}");
    assert_eq!(
        fs::read_dir(kept).unwrap().count(),
        1,
        "only the lock of views"
    );
}
