//! What the agent does to files, processes and time.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::tempdir;

use crate::process::Process;
use crate::stage::Stage;

#[test]
fn files_are_written_appended_and_deleted() {
    let stage = Stage::new();
    fs::write(stage.path().join("old.txt"), "").unwrap();
    let script = "
        [[step]]
        write = { path = 'src/deep/lib.rs', text = 'fn main() { let x = 1; }' }
        [[step]]
        write = { path = 'log', text = 'much longer than what follows' }
        [[step]]
        write = { path = 'log', text = '1' }
        [[step]]
        append = { path = 'log', text = ',{attempt}' }
        [[step]]
        delete = 'old.txt'
    ";
    assert_eq!(stage.play(script).ending(), "finished");
    assert_eq!(stage.read("src/deep/lib.rs"), "fn main() { let x = 1; }");
    assert_eq!(stage.read("log"), "1,1");
    assert!(!stage.path().join("old.txt").exists());
}

#[test]
fn symbolic_links_do_not_lead_out() {
    let outside = tempdir().unwrap();
    let target = outside.path().join("precious");
    fs::write(&target, "kept").unwrap();
    let stage = Stage::new();
    symlink(outside.path(), stage.path().join("directory")).unwrap();
    symlink(&target, stage.path().join("file")).unwrap();
    for step in [
        "write = { path = 'directory/precious', text = 'lost' }",
        "append = { path = 'directory/new/file', text = 'lost' }",
        "delete = 'directory/precious'",
        "write = { path = 'file', text = 'lost' }",
    ] {
        let ending = stage.play(&format!("[[step]]\n{step}")).ending();
        assert!(
            ending.starts_with("failed with 1: step 1"),
            "{step}: {ending}"
        );
    }
    assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn commands_run_in_the_working_directory_with_the_agents_output() {
    let stage = Stage::new().with_variable("WHO", "you");
    let script = "
        [[step]]
        run = ['sh', '-c', 'echo $WHO; echo error >&2; touch here; cat', '{attempt}']
    ";
    let played = stage.play_with("not for the command", script);
    assert_eq!(played.text(), "you\nerror\n");
    assert!(stage.path().join("here").exists());
}

#[test]
fn a_command_that_fails_ends_the_agent_unless_it_may() {
    let played = Stage::new().play("[[step]]\nrun = ['sh', '-c', 'exit 4']");
    assert_eq!(
        played.ending(),
        "failed with 1: step 1 (`run`, line 1): `sh -c exit 4` failed with exit status: 4"
    );
    let played = Stage::new().play("[[step]]\nrun = ['false']\nmay_fail = true");
    assert_eq!(played.ending(), "finished");
    let played = Stage::new().play("[[step]]\nrun = ['no-such-program']\nmay_fail = true");
    assert!(
        played.ending().ends_with("cannot start `no-such-program`"),
        "{}",
        played.ending()
    );
}

#[test]
fn git_is_run() {
    let stage = Stage::new()
        .with_variable("GIT_CONFIG_GLOBAL", "/dev/null")
        .with_variable("GIT_CONFIG_NOSYSTEM", "1");
    let played = stage.play("[[step]]\ngit = ['init', '--quiet', '--template=']");
    assert_eq!(played.ending(), "finished", "{}", played.text());
    assert!(stage.path().join(".git/HEAD").exists());
}

#[test]
fn steps_are_repeated_and_grouped() {
    let script = "
        [[step]]
        repeat = 2
        [[step.steps]]
        print = '{round}'
        [[step.steps]]
        steps = [{ print = '-' }, { print = '{round} ' }]
    ";
    assert_eq!(Stage::new().play(script).text(), "1-1 2-1 ");
}

#[test]
fn a_script_can_depend_on_the_attempt() {
    let script = "
        [[step]]
        when = { env = 'HANDOFF_ATTEMPT', is = '2' }
        print = 'second'
        [[step]]
        when = { var = 'attempt', is = '1' }
        exit = 9
    ";
    assert_eq!(Stage::new().play(script).ending(), "exited with 9");
    let played = Stage::new()
        .with_variable("HANDOFF_ATTEMPT", "2")
        .play(script);
    assert_eq!(
        (played.text(), played.ending()),
        ("second".to_owned(), "finished".to_owned())
    );
}

#[test]
fn waiting_for_a_file_ends_when_it_is_there() {
    let script = "
        [[step]]
        print = 'waiting'
        [[step]]
        wait_for = 'go'
        [[step]]
        spin = '1ms'
        [[step]]
        wait = '1ms'
        [[step]]
        exit = 6
    ";
    let mut process = Process::start(Stage::new(), script);
    process.until("waiting");
    fs::write(process.stage.path().join("go"), "").unwrap();
    assert_eq!(process.end().code(), Some(6));
}

#[test]
fn waiting_for_a_file_gives_up_after_its_timeout() {
    let ending = Stage::new()
        .play("[[step]]\nwait_for = '/no/go'\ntimeout = '3ms'")
        .ending();
    assert_eq!(
        ending,
        "failed with 4: step 1 (`wait_for`, line 1): waited 3ms for the file `/no/go` in vain"
    );
}
