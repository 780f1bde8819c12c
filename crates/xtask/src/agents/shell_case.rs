//! What is done to a shell.

use std::time::Duration;

use anyhow::Result;

use super::case::Act;
use super::model_case::modified;
use super::trial::Trial;

/// In this order, in one session: each leaves the shell at its prompt.
pub(super) const CASES: [(&str, Act); 5] = [
    ("start", start),
    ("busy and idle", busy_and_idle),
    ("interrupt", interrupt),
    ("message while busy", while_busy),
    ("3,000 characters", long_message),
];

fn start(trial: &mut Trial<'_, '_>) -> Result<()> {
    let began = trial.scene.now();
    let seen = trial.scene.until_seen(trial.manners.ready, began)?;
    trial.expect("prompt", seen)
}

fn busy_and_idle(trial: &mut Trial<'_, '_>) -> Result<()> {
    let project = trial.scene.house.project();
    let (begun, ended) = (project.join("begun"), project.join("ended"));
    trial.scene.send("touch begun; sleep 1; touch ended")?;
    let from = trial
        .scene
        .until("the command begins", |_| modified(&begun))?;
    trial.expect("busy", from)?;
    let to = trial
        .scene
        .until("the command ends", |_| modified(&ended))?;
    trial.expect("prompt", to)?;
    trial.expect_throughout("busy", from, to)
}

fn interrupt(trial: &mut Trial<'_, '_>) -> Result<()> {
    let begun = trial.scene.house.project().join("sleeping");
    trial.scene.send("touch sleeping; sleep 30")?;
    let from = trial
        .scene
        .until("the command begins", |_| modified(&begun))?;
    trial.expect("busy", from)?;
    let pressed = trial.scene.now();
    trial.scene.client().interrupt()?;
    let seen = trial.scene.until_seen("^C", pressed)?;
    trial.expect("prompt", seen)
}

/// Several lines as well: a shell runs them one by one.
fn while_busy(trial: &mut Trial<'_, '_>) -> Result<()> {
    let project = trial.scene.house.project();
    let (first, lines) = (project.join("first"), project.join("lines"));
    trial.scene.send("touch first; sleep 1")?;
    trial
        .scene
        .until("the command begins", |_| modified(&first))?;
    trial
        .scene
        .send("echo one >> lines\necho two >> lines; touch done")?;
    trial
        .scene
        .until("both lines ran", |_| modified(&project.join("done")))?;
    let sent = trial.scene.now();
    trial.back_at_prompt(sent)?;
    let text = std::fs::read_to_string(lines)?;
    let once = if text == "one\ntwo\n" {
        Ok(())
    } else {
        Err(format!("as {text:?}"))
    };
    trial.expect_that("two lines arrive, once each", once);
    Ok(())
}

fn long_message(trial: &mut Trial<'_, '_>) -> Result<()> {
    let file = trial.scene.house.project().join("long");
    let words: Vec<String> = (0..500).map(|number| format!("w{number:04}")).collect();
    let text = words.join(" ");
    trial
        .scene
        .send(&format!("echo {text} >> long; touch whole"))?;
    let whole = trial.scene.house.project().join("whole");
    let done = trial
        .scene
        .until("the command runs", |_| modified(&whole))?;
    trial.expect("prompt", done)?;
    trial.scene.wait(Duration::from_millis(200))?;
    let written = std::fs::read_to_string(file)?;
    let arrived = if written.trim_end() == text {
        Ok(())
    } else {
        Err(format!("as {written:?}"))
    };
    trial.expect_that("it arrives whole, once", arrived);
    Ok(())
}
