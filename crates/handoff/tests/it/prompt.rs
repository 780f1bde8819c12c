//! `handoff start`, `spec`, `design`, `tasks`, `prompt`, and the clipboard.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use insta::assert_snapshot;

use crate::pseudo_terminal;
use crate::stage::Stage;

const GOAL: &str = "# login\n\n## Goal\n\nPeople log in with a passkey.\n";

fn path(stage: &Stage, relative: &str) -> PathBuf {
    stage.repo.path().join(".handoff").join(relative)
}

/// A feature with a goal and no plan.
fn stage() -> Stage {
    let stage = Stage::new();
    stage.say("init login").success();
    fs::write(path(&stage, "current/FEATURE.md"), GOAL).unwrap();
    stage
}

#[test]
fn start_carries_the_goal_and_shows_a_view_beside_it() {
    let stage = stage();
    let started = stage.say("start").success();
    assert!(started.stdout.contains("> People log in with a passkey."));
    assert!(started.stdout.contains("There is no plan yet."));
    let view = started.normalized_stderr();
    assert_snapshot!(view.split(" (built in").next().unwrap(), @"
    handoff start for `login`
      FEATURE.md  written
      SPEC.md     not written yet
      DESIGN.md   not written yet
      STATE.md    not written yet
      SESSION.md  not written yet
      template    default_start_prompt.md
    ");
}

#[test]
fn raw_is_the_bare_prompt() {
    let stage = stage();
    let raw = stage.say("start --raw").success();
    assert_eq!(raw.stderr, "");
    assert_eq!(raw.stdout, stage.say("start").success().stdout);
    assert!(raw.stdout.starts_with("# Work on the feature `login`\n"));
}

#[test]
fn a_goal_that_nobody_wrote_is_refused_but_not_by_prompt() {
    let stage = Stage::new();
    stage.say("init login").success();
    for command in ["start", "spec", "design", "tasks"] {
        stage.say(command).failure(4);
        stage.run(["prompt", command, "--raw"]).success();
    }
    assert_snapshot!(stage.say("spec").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: `FEATURE.md` is as it was made: nobody has written down what is wanted
    hint: say what you want built in `.handoff/features/login/FEATURE.md`, then repeat the command
    hint: the prompt anyway: `handoff prompt spec`
    ");
    fs::remove_file(path(&stage, "current/FEATURE.md")).unwrap();
    assert_snapshot!(stage.say("tasks").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: `FEATURE.md` is missing or empty, so there is no goal to plan for
    hint: say what you want built in `.handoff/features/login/FEATURE.md`, then repeat the command
    hint: the prompt anyway: `handoff prompt tasks`
    ");
}

#[test]
fn start_with_a_plan_begins_its_current_step_and_refuses_what_cannot_be_worked_on() {
    let stage = stage();
    let plan = |steps: &str| {
        let text = format!("# Execution Plan\n\n{steps}");
        fs::write(path(&stage, "current/STATE.md"), text).unwrap();
    };
    plan("- [x] one\n- [>] two\n");
    let started = stage.say("start --raw").success().stdout;
    assert!(
        started.contains("Go on with step 2 of the plan"),
        "{started}"
    );
    plan("- [>] one\n- [>] two\n");
    assert_snapshot!(stage.say("start").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: the plan in `STATE.md` is invalid
    hint: see what is wrong: `handoff validate`
    hint: the prompt anyway: `handoff prompt start`
    ");
    plan("- [x] one\n");
    assert_snapshot!(stage.say("start").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: all steps of the plan are done
    hint: prove it: `handoff verify`; more to do: `handoff step add TEXT`
    hint: put it away when it is finished: `handoff archive <feature>`
    ");
    plan("- [!] one\n  blocked: no key\n");
    assert_snapshot!(stage.say("start").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: all steps that remain are blocked
    hint: see what is missing: `handoff status`
    hint: the prompt anyway: `handoff prompt start`
    ");
}

#[test]
fn prompts_are_documents_for_programs() {
    let stage = stage();
    let document = stage.json("design");
    assert_eq!(document["schema"], "handoff.prompt/1");
    assert_eq!(document["template"]["is_customised"], false);
    assert_eq!(
        document["prompt"],
        stage.say("design --raw").success().stdout
    );
}

#[test]
fn a_customised_template_is_used_and_shown() {
    let stage = stage();
    stage.say("export spec_prompt").success();
    assert!(!stage.say("spec").success().stderr.contains("customised"));
    fs::write(
        path(&stage, "templates/default_spec_prompt.md"),
        "Specify {{feature_name}}!\n",
    )
    .unwrap();
    let spec = stage.say("spec").success();
    assert!(
        spec.stdout.starts_with("Text behind `>` is quoted"),
        "{}",
        spec.stdout
    );
    assert!(spec.stdout.contains("\nSpecify login!\n"));
    assert!(
        spec.stderr.contains("default_spec_prompt.md (customised, "),
        "{}",
        spec.stderr
    );
    let doctor = stage.say("doctor").success().stdout;
    assert!(
        doctor.contains("customised: default_spec_prompt.md ("),
        "{doctor}"
    );
    for (text, expected) in [
        ("", "is empty"),
        ("a\n{{ goal }}\n", "line 2: `goal` is not known here"),
        ("a\n\n{% if %}\n", "line 3: "),
        ("a\u{1b}[2J\n", "line 1: there is a control character"),
    ] {
        fs::write(path(&stage, "templates/default_spec_prompt.md"), text).unwrap();
        let refused = stage.say("spec").failure(1);
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
        stage.say("doctor").failure(12);
    }
}

#[test]
fn the_settings_of_another_tool_are_left_alone_and_said() {
    let stage = stage();
    let foreign = "[project]\nname = \"x\"\n\n[mcp]\nport = 1\n";
    fs::write(path(&stage, "config.toml"), foreign).unwrap();
    let said = stage.say("init search").success().stderr;
    assert!(said.contains("belongs to another tool"), "{said}");
    let spec = stage.say("spec").success();
    assert!(
        spec.stderr
            .contains("belongs to another tool and is left alone"),
        "{}",
        spec.stderr
    );
    assert_eq!(
        fs::read_to_string(path(&stage, "config.toml")).unwrap(),
        foreign
    );
    fs::write(
        path(&stage, "config.toml"),
        "language = \"German\"\nbugdet = 1\n",
    )
    .unwrap();
    let spec = stage.say("spec").success();
    assert!(spec.stdout.contains("Write all prose in German"));
    assert!(
        spec.stderr.contains("line 2: `bugdet` is not a setting"),
        "{}",
        spec.stderr
    );
}

#[test]
fn the_prompt_is_printed_also_where_there_is_no_clipboard() {
    let stage = stage();
    let copied = stage.say("tasks --copy --raw").success();
    assert_eq!(copied.stdout, stage.say("tasks --raw").success().stdout);
    assert!(
        copied
            .stderr
            .starts_with("warning: the prompt is not on the clipboard: ")
    );
    assert_eq!(stage.json("tasks --copy")["is_copied"], false);
}

/// A directory with a program for the clipboard that does this.
fn fake_clipboard(stage: &mut Stage, script: &str) {
    let bin = stage.env.root().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("xclip");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    stage.env.set("PATH", path).set("DISPLAY", ":9");
}

#[test]
fn a_program_of_the_system_takes_the_prompt() {
    let mut stage = stage();
    let clip = stage.env.root().join("clip");
    fake_clipboard(
        &mut stage,
        &format!(
            "test \"$*\" = '-selection clipboard' && cat > {}",
            clip.display()
        ),
    );
    let copied = stage.say("spec --copy").success();
    assert_eq!(fs::read_to_string(&clip).unwrap(), copied.stdout);
    assert!(
        copied
            .stderr
            .ends_with("The prompt is on the clipboard (`xclip`).\n"),
        "{}",
        copied.stderr
    );
    // Nothing but the prompt was asked for.
    assert_eq!(stage.say("spec --copy --raw").success().stderr, "");
    fake_clipboard(&mut stage, "exit 1");
    let refused = stage.say("spec --copy --raw").success();
    assert_eq!(
        refused.stderr,
        "warning: the prompt is not on the clipboard: `xclip` does not take it\n"
    );
}

#[test]
fn over_ssh_the_terminal_takes_the_prompt() {
    let mut stage = stage();
    stage.env.set("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22");
    let seen = pseudo_terminal::run(stage.command(["spec", "--copy"]), "");
    assert_eq!(seen.code, Some(0));
    let prompt = stage.say("spec --raw").success().stdout;
    let encoded = seen
        .text
        .split("\u{1b}]52;c;")
        .nth(1)
        .unwrap()
        .split('\u{7}')
        .next()
        .unwrap();
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, encoded);
    assert_eq!(String::from_utf8(bytes.unwrap()).unwrap(), prompt);
    // Without a terminal there is nobody to ask.
    let piped = stage.say("spec --copy --raw").success();
    assert!(piped.stderr.starts_with("warning:"), "{}", piped.stderr);
}

#[test]
fn prompt_works_without_a_workspace() {
    let stage = Stage::new();
    for kind in ["start", "spec", "design", "tasks", "generate", "context"] {
        let prompt = stage.run(["prompt", kind, "--raw"]).success();
        assert!(prompt.stdout.starts_with("# "), "{}", prompt.stdout);
    }
    stage.say("prompt nonsense").failure(2);
    stage.say("start").failure(3);
    assert!(!stage.repo.path().join(".handoff").exists());
}
