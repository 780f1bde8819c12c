//! What a session meets: a full disk, output that means harm, a directory that is somebody else's.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use handoff_testkit::{Need, Tmpfs, skip_without};

use super::hall::{Hall, pause};

/// What must never reach a terminal as it is: escapes, C1, and what a terminal would obey.
const HARM: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{90}q\u{8}\u{202e}";

fn is_harmless(text: &str) -> bool {
    let is_harmful = |it: char| (it.is_control() && it != '\n' && it != '\t') || it == '\u{202e}';
    !text.contains(is_harmful)
}

#[test]
fn nothing_that_a_session_says_reaches_a_terminal_as_it_is() {
    let hall = Hall::new();
    let print = format!("printf '%s' '{HARM}'; printf '\\033]2;%s\\007' 'title{HARM}'; exec cat");
    let describe = format!("--description=what{HARM}");
    let argument = format!("arg{HARM}");
    let words = ["sh", &describe, "--", "-c", &print, &argument];
    let session = hall.run("harm", &words);
    let log = Path::new(session.text("output_log_path"));
    while fs::metadata(log).unwrap().len() < 20 {
        pause();
    }
    for words in [
        "ps",
        "ps --json",
        "pane --id harm",
        "pane --id harm --json",
        "logs --id harm",
        "logs --id harm --json",
        "events --id harm --snapshot",
        "status --sessions",
    ] {
        let shown = hall.stage.say(words);
        let text = format!("{}{}", shown.stdout, shown.stderr);
        assert!(is_harmless(&text), "{words}: {text:?}");
    }
    for words in [
        ["pane", "--id", HARM],
        ["run", HARM, "--detach"],
        ["recipes", "show", HARM],
        ["skills", "install", HARM],
    ] {
        let refused = hall.stage.run(words);
        assert!(
            is_harmless(&refused.stderr),
            "{words:?}: {:?}",
            refused.stderr
        );
        assert_ne!(refused.code(), Some(0));
    }
    let raw = hall.stage.say("logs --id harm --raw").success().stdout;
    assert!(raw.contains("\u{1b}]0;owned"), "{raw:?}");
}

#[test]
fn a_full_disk_ends_no_session_and_it_can_be_looked_at_and_stopped() {
    if skip_without(&[Need::Root]) {
        return;
    }
    let mut hall = Hall::new();
    let disk = Tmpfs::mount(4 * 1024 * 1024);
    hall.stage.env.set("HANDOFF_HOME", disk.path().join("home"));
    let shell = hall.bash("full");
    disk.fill();
    shell.types("seq 1 5000; echo $((6 * 7))");
    shell.shows("42");
    for (line, state) in [("", "prompt"), ("cat", "busy"), ("\x03", "prompt")] {
        shell.types(line);
        while hall.listed("full")["state"] != state {
            pause();
        }
    }
    hall.stage.say("logs --id full --lines 1").success();
    hall.stage.say("pane --id full").success();
    let agent = shell.agent();
    disk.free();
    shell.types("echo again");
    shell.shows("again");
    let status = shell.client().status().unwrap();
    assert!(
        status.missing > 0 && status.printed > status.missing,
        "{status:?}"
    );
    hall.stage.say("stop --id full").success();
    assert!(agent.ends());
}

#[test]
fn a_session_can_be_stopped_while_the_disk_is_full() {
    if skip_without(&[Need::Root]) {
        return;
    }
    let mut hall = Hall::new();
    let disk = Tmpfs::mount(4 * 1024 * 1024);
    hall.stage.env.set("HANDOFF_HOME", disk.path().join("home"));
    let shell = hall.bash("full");
    let agent = shell.agent();
    disk.fill();
    hall.stage.say("stop --id full").success();
    assert!(agent.ends());
    assert_eq!(hall.listed("full")["state"], "exited");
    disk.free();
    assert_eq!(hall.listed("full")["exit_code"], 0);
}

#[test]
fn a_place_for_sockets_that_leads_elsewhere_is_not_used() {
    let hall = Hall::new();
    let elsewhere = hall.stage.env.work().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let place = hall.stage.env.runtime_dir().join("handoff");
    fs::create_dir_all(hall.stage.env.runtime_dir()).unwrap();
    symlink(&elsewhere, &place).unwrap();
    let session = hall.bash("safe");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    let socket = Path::new(session.text("socket"));
    assert!(
        socket.starts_with(hall.stage.env.handoff_home()),
        "{}",
        socket.display()
    );
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(socket), mode(socket.parent().unwrap())),
        (0o600, 0o700)
    );
}
