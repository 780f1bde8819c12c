//! `handoff completion`.

use crate::stage::Stage;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let stage = Stage::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stage.say(&format!("completion {shell}")).success().stdout;
        for word in ["heartbeat", "after-end"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
        assert!(!script.contains("\u{1b}"));
    }
    stage.say("completion tcsh").failure(2);
}

#[test]
fn a_script_is_a_document_too() {
    let stage = Stage::new();
    let document = stage.json("completion bash");
    assert_eq!(document["schema"], "handoff.completion/1");
    assert_eq!(document["shell"], "bash");
    let script = stage.say("completion bash").success().stdout;
    assert_eq!(document["script"], script);
}

#[test]
fn bash_accepts_its_script() {
    let stage = Stage::new();
    let script = stage.say("completion bash").success().stdout;
    let mut bash = stage.env.command("bash");
    bash.arg("-n");
    let checked = stage.env.run_with_input(bash, script.as_bytes()).success();
    assert_eq!(checked.stderr, "");
}

#[test]
fn bash_completes_a_command_with_it() {
    let stage = Stage::new();
    let script = stage.say("completion bash").success().stdout;
    let ask = "\nCOMP_WORDS=(handoff queue hear) COMP_CWORD=2; _handoff handoff hear queue; echo \"${COMPREPLY[@]}\"\n";
    let bash = stage.env.command("bash");
    let answer = stage
        .env
        .run_with_input(bash, (script + ask).as_bytes())
        .success();
    assert_eq!(answer.stdout, "heartbeat\n");
}
