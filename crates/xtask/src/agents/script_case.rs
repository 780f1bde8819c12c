//! What is done to the scripted agent. It says what it does itself, as Claude Code and Codex do.

use anyhow::Result;

use super::case::Act;
use super::model_case::modified;
use super::trial::Trial;

/// What it plays: a prompt, work, a question, and a prompt again.
pub(super) const SCRIPT: &str = r#"
[[step]]
osc = "7501;state=idle"
[[step]]
message = "ready> "
as = "first"
[[step]]
osc = "7501;state=working"
[[step]]
write = { path = "begun", text = "{first}" }
[[step]]
wait = "1s"
[[step]]
write = { path = "asked", text = "x" }
[[step]]
osc = "7501;state=blocked:kind=permission"
[[step]]
ask = "May I?"
choices = ["Yes", "No"]
[[step]]
osc = "7501;state=error"
[[step]]
write = { path = "failed", text = "x" }
[[step]]
message = "ready> "
as = "second"
[[step]]
osc = "7501;state=working"
[[step]]
write = { path = "second", text = "{second}" }
[[step]]
osc = "7501;state=done"
[[step]]
message = "ready> "
"#;

/// In this order, in one session.
pub(super) const CASES: [(&str, Act); 3] = [
    ("start", start),
    ("busy and permission", busy_and_permission),
    ("error and the next message", error),
];

fn start(trial: &mut Trial<'_, '_>) -> Result<()> {
    let began = trial.scene.now();
    let seen = trial.scene.until_seen(trial.manners.ready, began)?;
    trial.expect("prompt", seen)
}

fn busy_and_permission(trial: &mut Trial<'_, '_>) -> Result<()> {
    let project = trial.scene.house.project();
    let (begun, asked) = (project.join("begun"), project.join("asked"));
    trial.scene.send("line one\nline two")?;
    let from = trial.scene.until("the work begins", |_| modified(&begun))?;
    trial.expect("busy", from)?;
    let to = trial
        .scene
        .until("the question comes", |_| modified(&asked))?;
    trial.expect_throughout("busy", from, to)?;
    trial.expect("blocked (permission)", to)?;
    let text = std::fs::read_to_string(begun)?;
    let whole = if text == "line one\nline two" {
        Ok(())
    } else {
        Err(format!("as {text:?}"))
    };
    trial.expect_that("two lines arrive whole", whole);
    Ok(())
}

fn error(trial: &mut Trial<'_, '_>) -> Result<()> {
    let project = trial.scene.house.project();
    let failed = project.join("failed");
    trial.scene.press(&["1\r"])?;
    let at = trial.scene.until("the error", |_| modified(&failed))?;
    trial.expect("blocked (error)", at)?;
    trial.scene.send("go on")?;
    let second = trial
        .scene
        .until("the second message", |_| modified(&project.join("second")))?;
    trial.expect("prompt", second)
}
