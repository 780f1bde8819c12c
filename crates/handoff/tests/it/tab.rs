//! An agent in a tab that a worker opens, and that answers or does not.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use handoff_files::Watch;

use crate::stage::{Background, PATIENCE, Stage};

/// A stage on which a tab is a file that says what it was told.
fn stage(timeout: &str) -> (Stage, PathBuf) {
    let stage = Stage::new();
    let opened = stage.env.work().join("opened");
    fs::create_dir(&opened).unwrap();
    let script = "printf '%s\\n' \"$@\" > new && mv new opened/tab";
    stage.configure(&format!(
        "[worker]\nagent = \"tab\"\ntab_timeout = \"{timeout}\"\n\
         tab = [\"sh\", \"-c\", {script:?}, \"sh\", \"{{fence}}\", \"{{worktree}}\", \"{{prompt_file}}\", \"{{prompt}}\"]\n",
        script = format!("cd {:?} && {script}", stage.env.work()),
    ));
    stage.add("fix");
    (stage, opened)
}

fn begun(stage: &Stage, words: &[&str]) -> Background {
    stage.start(["worker"].iter().chain(words).map(OsStr::new))
}

/// What the tab was told, line by line.
fn told(opened: &Path) -> Vec<String> {
    let mut watch = Watch::on_directories(&[opened]).unwrap();
    let tab = opened.join("tab");
    while !tab.exists() {
        watch.wait(Some(PATIENCE)).unwrap();
    }
    let text = fs::read_to_string(tab).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn what_is_done_in_a_tab_is_judged_like_everything_else() {
    let (stage, opened) = stage("1m");
    let mut worker = begun(&stage, &["--once"]);
    let told = told(&opened);
    let [fence, worktree, prompt_file, prompt] = &told[..] else {
        panic!("{told:?}");
    };
    assert!(fs::read_to_string(prompt_file).unwrap().contains("Do fix."));
    let answer = format!("handoff done --task fix --fence {fence}");
    assert!(prompt.contains(&answer), "{prompt}");
    // Somebody else is not heard, and neither is a tab of yesterday.
    stage.say("done --task fix --fence 7").failure(6);
    stage.say("done --task fix").failure(2);
    stage.say("heartbeat --task fix --fence 1").success();
    fs::write(Path::new(worktree).join("new.txt"), "new\n").unwrap();
    stage
        .run([
            "done",
            "--task",
            "fix",
            "--fence",
            fence,
            "--summary",
            "In a tab.",
        ])
        .success();
    assert_eq!(worker.line(), "fix is done");
    assert_eq!(worker.code(), Some(0));
    let task = stage.json("queue show fix");
    assert_eq!(
        (&task["state"], &task["said"]),
        (&"done".into(), &"In a tab.".into())
    );
    let branch = task["evidence"].as_array().unwrap().iter();
    let branch = branch.into_iter().find_map(|it| it["branch"].as_str());
    assert_eq!(stage.repo.changes_of(branch.unwrap()), ["new.txt"]);
    stage.say("done --task fix --fence 1").failure(4);
    stage.say("doctor --audit").success();
}

#[test]
fn a_tab_that_never_answers_puts_its_task_off() {
    let (stage, opened) = stage("1ms");
    let mut worker = begun(&stage, &["--once"]);
    told(&opened);
    let line = worker.line();
    assert!(line.starts_with("fix is resting until "), "{line}");
    assert!(line.contains("no tab has answered"), "{line}");
    assert_eq!(worker.code(), Some(12));
    let task = stage.json("queue show fix");
    assert_eq!(
        (&task["setbacks"], &task["state"]),
        (&1.into(), &"resting".into())
    );
}

#[test]
fn without_a_tab_to_open_the_task_is_put_off_too() {
    let (stage, _) = stage("1m");
    stage.configure("[worker]\nagent = \"tab\"\n");
    let worker = begun(&stage, &["--once"]);
    let line = worker.line();
    assert!(line.contains("`[worker] tab` names nothing"), "{line}");
    stage.say("tab-agent").failure(1);
}
