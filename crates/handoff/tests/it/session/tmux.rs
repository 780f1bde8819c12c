//! Sessions in windows of tmux.

use handoff_testkit::{Need, skip_without};

use super::hall::{Hall, pause};

/// A hall with a tmux of its own, which ends with it.
struct Gallery {
    hall: Hall,
}

impl Gallery {
    fn new() -> Self {
        let mut hall = Hall::new();
        // The address of its socket is short, however long the path of the test is.
        let place = tempfile::Builder::new().prefix("tm").tempdir_in("/tmp");
        let place = place.unwrap().keep();
        hall.stage.env.set("TMUX_TMPDIR", place);
        Self { hall }
    }

    fn tmux(&self, words: &[&str]) -> handoff_testkit::Output {
        let mut command = self.hall.stage.env.command("tmux");
        command.args(words);
        self.hall.stage.env.run(command)
    }

    /// Starts a shell in a window, and says where that is.
    #[track_caller]
    fn open(&self, words: &str) -> String {
        let words = format!("run bash {words} --json -- --norc --noprofile");
        let started = self.hall.stage.say(&words).success().json();
        started["tmux_target"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn shows(&self, target: &str, part: &str) {
        let shown = || self.tmux(&["capture-pane", "-p", "-t", target]).stdout;
        let is_there = (0..2000).any(|_| {
            pause();
            shown().contains(part)
        });
        assert!(is_there, "{target} does not show {part:?}: {}", shown());
    }
}

impl Drop for Gallery {
    fn drop(&mut self) {
        let place = self.hall.stage.env.command("true");
        let place = place.get_envs().find(|(name, _)| *name == "TMUX_TMPDIR");
        let place = place.and_then(|(_, value)| value.map(std::ffi::OsStr::to_owned));
        self.tmux(&["kill-server"]);
        std::fs::remove_dir_all(place.unwrap()).ok();
    }
}

#[test]
fn a_session_outside_tmux_gets_a_window_and_so_does_the_next() {
    if skip_without(&[Need::Tmux]) {
        return;
    }
    let gallery = Gallery::new();
    let first = gallery.open("--id one --tmux");
    let second = gallery.open("--id two --tmux cx-p1");
    let names = gallery.tmux(&["list-windows", "-t", "handoff", "-F", "#W"]);
    assert_eq!(names.success().stdout, "one\ncx-p1\n");
    gallery.tmux(&["send-keys", "-t", &second, "echo $((6*7))", "Enter"]);
    gallery.shows(&second, "42");
    gallery.tmux(&["kill-window", "-t", &first]).success();
    assert_eq!(gallery.hall.listed("one")["state"], "prompt");
    gallery.tmux(&["kill-server"]).success();
    let living = gallery.hall.stage.json("ps");
    assert_eq!(living["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_session_that_is_started_in_tmux_gets_a_window_beside() {
    if skip_without(&[Need::Tmux]) {
        return;
    }
    let mut gallery = Gallery::new();
    let words = [
        "new-session",
        "-d",
        "-s",
        "mine",
        "-x",
        "90",
        "-y",
        "20",
        "-P",
        "-F",
        "#{socket_path},#{pid},0",
    ];
    let inside = gallery.tmux(&words).success().stdout;
    let pane = gallery
        .tmux(&["list-panes", "-t", "mine", "-F", "#D"])
        .success()
        .stdout;
    gallery
        .hall
        .stage
        .env
        .set("TMUX", inside.trim())
        .set("TMUX_PANE", pane.trim());
    let target = gallery.open("--id here --tmux");
    assert!(target.starts_with("mine:"), "{target}");
    gallery.tmux(&[
        "send-keys",
        "-t",
        &target,
        "echo pane=$HANDOFF_PARENT_PANE size=$(stty size)",
        "Enter",
    ]);
    gallery.shows(&target, &format!("pane={} size=", pane.trim()));
}

#[test]
fn without_tmux_nothing_is_started() {
    let mut hall = Hall::new();
    hall.stage.env.set("PATH", "/nowhere");
    let refused = hall.stage.say("run /bin/sh --tmux --id x");
    assert_eq!(refused.code(), Some(3), "{}", refused.stderr);
    let refused = hall.stage.run(["run", "/bin/sh", "--tmux", "#(touch x)"]);
    assert_eq!(refused.code(), Some(2), "{}", refused.stderr);
    assert_eq!(hall.stage.say("pane --id x").code(), Some(3));
}
