//! What proves the work, who may let it run, and what is kept of it.

use insta::assert_snapshot;

use crate::pseudo_terminal;
use crate::stage::Stage;

const PLAN: &str = "- [>] make the table\n- [ ] fill it\n";

fn stage() -> Stage {
    let stage = Stage::new();
    stage.repo.write("code", "1").commit("first");
    stage.feature("tables", PLAN);
    stage
}

#[test]
fn commands_of_the_repository_are_shown_and_not_run_until_they_are_trusted() {
    let stage = stage();
    stage
        .repo
        .write(".handoff/config.toml", "[checks]\ntest = 'touch ran'\n");
    assert_snapshot!(stage.say("verify --run").snapshot(), @"
    exit status: 9
    --- stderr ---
    test: touch ran
    error: these commands come from the repository, and nobody has allowed them to run
    hint: a person who has read them says `handoff trust`
    ");
    assert_eq!(stage.repo.read("ran"), None);
}

#[test]
fn a_changed_command_is_not_trusted_any_more() {
    let stage = stage();
    stage.checks("test = 'true'\n");
    stage.say("verify --run").success();
    stage
        .repo
        .write(".handoff/config.toml", "[checks]\ntest = 'true; true'\n");
    assert_eq!(stage.say("verify --run").code(), Some(9));
    assert_eq!(stage.json("trust --show")["is_trusted"], false);
}

#[test]
fn trust_can_be_taken_back() {
    let stage = stage();
    stage.checks("test = 'true'\n");
    assert_eq!(stage.json("trust --show")["is_trusted"], true);
    stage.say("trust --revoke").success();
    assert_eq!(stage.say("verify --run").code(), Some(9));
}

fn untrusted() -> Stage {
    let stage = stage();
    let checks = "[checks]\ntest = 'true  # x'\n";
    stage.repo.write(".handoff/config.toml", checks);
    stage
}

fn shown_digest(stage: &Stage) -> String {
    let shown = stage.say("trust --show").success().stdout;
    let digest = shown.lines().find_map(|line| line.strip_prefix("digest "));
    digest.unwrap().to_owned()
}

#[test]
fn commands_are_shown_before_a_person_is_asked_about_them() {
    let stage = untrusted();
    for (answer, is_trusted) in [("n\n", false), ("\n", false), ("y\n", true)] {
        let seen = pseudo_terminal::run(stage.command(["trust"]), answer);
        let (command, question) = (seen.text.find("true  # x"), seen.text.find("May these"));
        assert!(command.is_some() && command < question, "{}", seen.text);
        assert_eq!(stage.json("trust --show")["is_trusted"], is_trusted);
    }
}

#[test]
fn without_a_person_only_the_digest_of_what_is_there_is_trusted() {
    let stage = untrusted();
    let digest = shown_digest(&stage);
    let refused = stage.say("trust");
    assert_eq!(refused.code(), Some(9));
    let hint = format!("or `handoff trust --digest {digest}`");
    assert!(refused.stderr.contains(&hint), "{}", refused.stderr);
    assert_eq!(stage.say("trust --json").code(), Some(9));
    assert_eq!(stage.say("trust --digest 000000000000").code(), Some(4));
    assert_eq!(stage.say("trust --digest 0").code(), Some(2));
    assert_eq!(stage.json("trust --show")["is_trusted"], false);
    stage.run(["trust", "--digest", &digest]).success();
    assert_eq!(stage.json("trust")["is_trusted"], true);
}

#[test]
fn a_check_of_two_lines_is_a_mistake() {
    let stage = stage();
    let checks = "[checks]\ntest = \"\"\"true # x\ntouch ran\"\"\"\n";
    stage.repo.write(".handoff/config.toml", checks);
    let refused = stage.say("trust --show");
    assert_eq!(refused.code(), Some(1));
    assert!(
        refused
            .stderr
            .contains("line 2: `test`: a check is one line")
    );
}

#[test]
fn a_session_cannot_trust() {
    let stage = untrusted();
    let digest = shown_digest(&stage);
    let mut trust = stage.command(["trust", "--digest", &digest]);
    trust.env("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60");
    assert_eq!(trust.output().unwrap().status.code(), Some(9));
    assert_eq!(stage.json("trust --show")["is_trusted"], false);
}

#[test]
fn what_passed_is_proved_for_exactly_this_code() {
    let stage = stage();
    stage.checks("test = 'cat code'\n");
    assert_snapshot!(stage.say("verify").snapshot(), @"
    exit status: 0
    --- stdout ---
    test: never run (cat code)
    ");
    stage.say("verify --run").success();
    let standing = || stage.json("verify")["checks"][0]["standing"].clone();
    assert_eq!(standing(), "passed");
    stage.repo.write("code", "2");
    assert_eq!(standing(), "outdated");
    stage.repo.write("code", "1");
    assert_eq!(standing(), "passed");
}

#[test]
fn what_failed_is_shown_with_its_output_and_has_its_own_exit_code() {
    let stage = stage();
    stage.checks("test = 'echo one; echo two >&2; exit 3'\n");
    assert_snapshot!(stage.say("verify --run").snapshot(), @"
    exit status: 12
    --- stdout ---
    test: failed with exit code 3 (echo one; echo two >&2; exit 3)
    --- stderr ---
    running test: echo one; echo two >&2; exit 3
        one
        two
    ");
    let run = stage.json("verify");
    assert_eq!(run["checks"][0]["last"]["exit_code"], 3);
    assert_eq!(run["checks"][0]["last"]["output"], "one\ntwo");
}

#[test]
fn a_check_that_changes_the_code_proves_nothing() {
    let stage = stage();
    stage.checks("test = 'echo more >> code'\n");
    let verified = stage.say("verify --run");
    assert_eq!(verified.code(), Some(12));
    assert!(
        verified
            .stdout
            .contains("passed, but the code changed while it ran")
    );
}

#[test]
fn a_check_that_hangs_is_ended() {
    let stage = stage();
    stage.checks("test = 'sleep 60'\n");
    let verified = stage.say("verify --run --timeout 100ms");
    assert_eq!(verified.code(), Some(12));
    assert!(verified.stdout.contains("test: took too long"));
}

#[test]
fn an_unknown_check_is_named() {
    let stage = stage();
    stage.checks("test = 'true'\n");
    assert_snapshot!(stage.say("verify lint --run").snapshot(), @"
    exit status: 3
    --- stderr ---
    error: there is no check `lint`
    hint: see which there are: `handoff verify`
    ");
}

#[test]
fn a_step_that_is_done_after_a_check_passed_is_verified() {
    let stage = stage();
    stage.checks("test = 'true'\n");
    stage.say("verify --run").success();
    stage.say("step done 1").success();
    let events = stage.say("events").success().stdout;
    assert!(
        events.contains("tables #3 step done: make the table"),
        "{events}"
    );
    let prompt = stage.say("continue --raw").success().stdout;
    assert!(prompt.contains("- verified by `true`"), "{prompt}");
    stage.say("doctor --audit").success();
}
