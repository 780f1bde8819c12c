//! What a session is told.

use handoff_core::task::Command;
use handoff_engine::Ending;

use crate::stage::{Stage, after, names, owning, verified};

#[test]
fn the_prompt_has_the_brief_and_the_rules() {
    let mut stage = Stage::new();
    stage.add(owning("fix", "src/"));
    let copy = stage.env.work().join("prompt.md");
    stage.walk(&format!("cp \"$HANDOFF_PROMPT_FILE\" {}", copy.display()));
    let prompt = std::fs::read_to_string(copy).unwrap();
    for part in [
        "task: fix\n",
        "attempt: 1\n",
        "\n# Your task\n\nDo fix.\n",
        "Change only `src/`.",
        "Do not commit",
    ] {
        assert!(prompt.contains(part), "{part:?} is not in {prompt}");
    }
    assert!(prompt.contains(&format!("base: {}\n", stage.repo.head())));
}

#[test]
fn the_prompt_has_what_the_session_before_left_quoted() {
    let mut stage = Stage::new();
    let first = stage.add(verified("first", "test -e one.txt"));
    stage.add(after("second", &first));
    assert_eq!(stage.walk("echo 1 > one.txt").ending, Ending::Done);
    let copy = stage.env.work().join("prompt.md");
    stage.walk(&format!("cp \"$HANDOFF_PROMPT_FILE\" {}", copy.display()));
    let prompt = std::fs::read_to_string(copy).unwrap();
    let first = stage.task(first.id);
    let commit = stage.branch(&first).unwrap();
    for part in [
        "\n# What the session before you left (first)\n",
        "\n> It said nothing.\n",
        "`test -e one.txt` passed",
        &format!("commit {commit} on handoff/first-"),
    ] {
        assert!(prompt.contains(part), "{part:?} is not in {prompt}");
    }
}

#[test]
fn a_damaged_package_is_left_out_and_stops_nobody() {
    let mut stage = Stage::new();
    let first = stage.add(verified("first", "true"));
    stage.add(after("second", &first));
    stage.walk("echo 1 > one.txt");
    let packages = stage.places.packages(stage.project);
    let [package] = &names(&packages)[..] else {
        panic!("one package is expected");
    };
    let path = packages.join(package);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("Do first.", "Do evil.")).unwrap();
    let copy = stage.env.work().join("prompt.md");
    assert_eq!(
        stage
            .walk(&format!("cp \"$HANDOFF_PROMPT_FILE\" {}", copy.display()))
            .ending,
        Ending::Done
    );
    assert!(
        !std::fs::read_to_string(copy)
            .unwrap()
            .contains("session before you")
    );
}

#[test]
fn a_session_knows_who_it_is() {
    let mut stage = Stage::new();
    let task = stage.add(verified("fix", "test -z \"${HANDOFF_SESSION:-}\""));
    let told = stage.env.work().join("told");
    let agent = format!(
        "echo $HANDOFF_ROLE $HANDOFF_TASK $HANDOFF_TASK_ID $HANDOFF_FENCE $HANDOFF_ATTEMPT > {0}; \
         test -d \"$(dirname \"$HANDOFF_PROMPT_FILE\")\"; case $HANDOFF_SESSION in ses_*) ;; *) exit 1;; esac",
        told.display()
    );
    assert_eq!(stage.walk(&agent).ending, Ending::Done);
    let told = std::fs::read_to_string(told).unwrap();
    assert_eq!(told, format!("main fix {} 1 1\n", task.id));
}

#[test]
fn a_second_attempt_is_told_what_was_against_the_first() {
    let mut stage = Stage::new();
    let task = stage.add(verified("fix", "echo it is wrong; test -e right.txt"));
    stage.walk("echo wrong > wrong.txt");
    stage.tell(&task, Command::Retry);
    let copy = stage.env.work().join("prompt.md");
    let agent = format!(
        "cp \"$HANDOFF_PROMPT_FILE\" {}; touch right.txt",
        copy.display()
    );
    assert_eq!(stage.walk(&agent).ending, Ending::Done);
    let prompt = std::fs::read_to_string(copy).unwrap();
    for part in [
        "\n# What became of earlier attempts at this task\n\nAttempt 1 failed:\n",
        "\n> `echo it is wrong; test -e right.txt` exited with 1: it is wrong\n",
        "`wrong.txt`",
    ] {
        assert!(prompt.contains(part), "{part:?} is not in {prompt}");
    }
}
