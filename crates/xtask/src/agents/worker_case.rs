//! One task by a worker, in the sandbox that it gets by itself: the real agent edits a file, installs a package, runs the tests, and
//! tries what it may not. What it did is judged by running the tests once more.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::Name;
use super::case::Stage;
use super::house::House;
use super::report::{Outcome, Report};
use super::workflow_case::{answer, commit, conclude, handoff, in_house};
use handoff_chores::program;

/// What this case is called.
pub(super) const CASE: &str = "worker";
/// One session, on a machine that is busy.
const LIMIT: &str = "120s";

/// What is there at first: a package beside it, and a test that needs it.
const FILES: [(&str, &str); 5] = [
    (".gitignore", "node_modules/\n"),
    (
        "package.json",
        r#"{ "name": "work", "version": "1.0.0", "dependencies": { "greeter": "file:./greeter" } }"#,
    ),
    (
        "greeter/package.json",
        r#"{ "name": "greeter", "version": "1.0.0" }"#,
    ),
    ("greeter/index.js", "module.exports = () => 'hello';\n"),
    (
        "work.test.js",
        "const test = require('node:test');\n\
         test('greets', () => require('node:assert').equal(require('greeter')(), 'hello'));\n",
    ),
];

/// Ends at the first thing that does not work, without a word: then the task is not done.
const WORK: &str = r#"set -e
npm install --offline --no-audit --no-fund --loglevel=error
node --test
git status --short
git diff --stat
echo text > "$(mktemp)"
: > broken
for it in .claude/settings.json .claude.json .claude/skills/s .codex/config.toml .codex/hooks.json .npmrc .bashrc .gitconfig; do
  if (echo evil >> "$HOME/$it") 2> /dev/null; then echo "$it" >> broken; fi
done
"$HANDOFF" done --summary "It works."
"#;

pub(super) fn play(stage: &Stage<'_>, house: &House, report: &mut Report) {
    let (outcome, took) = program::timed(|| work(stage, house));
    let outcome = match outcome {
        Ok(()) => Outcome::Right(took),
        Err(error) => Outcome::Wrong(format!("{error:#}")),
    };
    let expected = "the task is done in the sandbox, and nothing else is changed";
    conclude(stage, house, (CASE, expected), outcome, report);
}

fn work(stage: &Stage<'_>, house: &House) -> Result<()> {
    for (path, text) in FILES {
        let path = house.project().join(path);
        std::fs::create_dir_all(path.parent().context("it is in the project")?)?;
        std::fs::write(path, text)?;
    }
    commit(house)?;
    let script: PathBuf = house.project().with_file_name("work.sh");
    std::fs::write(&script, WORK)?;
    // Codex edits by its shell.
    let edit = if stage.name == Name::Claude {
        "@@write edited.txt edited ;; "
    } else {
        ""
    };
    let brief = format!("{edit}@@sh sh {} ;; @@lines 1 ;;", script.display());
    let add = [
        "queue",
        "add",
        "fix",
        "--verify",
        "node --test",
        "--brief",
        &brief,
    ];
    answer(&mut handoff(stage, house, &add))?;
    let agent = stage.name.agent();
    let mut bounded = program::program("timeout");
    bounded.arg(LIMIT).arg(stage.binary);
    bounded.args(["worker", "--until-empty", "--agent", &agent]);
    let worked = answer(in_house(&mut bounded, stage, house));
    let shown = answer(&mut handoff(
        stage,
        house,
        &["queue", "show", "fix", "--json"],
    ))?;
    let task: Value = serde_json::from_str(&shown)?;
    ensure!(task["state"] == json!("done"), "{worked:?}: {shown}");
    judge(stage, house, &task)
}

/// What is on the branch of the attempt.
fn judge(stage: &Stage<'_>, house: &House, task: &Value) -> Result<()> {
    let evidence = task["evidence"].as_array().into_iter().flatten();
    let branch = { evidence }.find_map(|it| it["branch"].as_str());
    let branch = branch.context("what was done is on a branch")?;
    let file = |name: &str| {
        let mut git = program::program("git");
        git.arg("-C").arg(house.project());
        answer(git.args(["show", &format!("{branch}:{name}")]))
    };
    let broken = file("broken")?;
    ensure!(broken.is_empty(), "it changed {broken}");
    let records = if stage.name == Name::Claude {
        file("edited.txt")?;
        ".claude/projects"
    } else {
        ".codex/sessions"
    };
    let kept = std::fs::read_dir(house.home().join(records))?.count();
    ensure!(kept > 0, "its conversation is not kept");
    Ok(())
}
