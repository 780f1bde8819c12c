//! Texts that an agent could take for something else than words.

use std::time::Duration;

use anyhow::Result;

use super::manners::Having;
use super::model_case::arrives_whole;
use super::report::Outcome;
use super::timeline::Shown;
use super::trial::Trial;

/// Each with a word that nothing else has.
const ODD: [(&str, &str); 12] = [
    ("/help @@text odd1 with this", "odd1"),
    ("/nosuch @@text odd2 command", "odd2"),
    ("/clear @@text odd3", "odd3"),
    ("!echo @@text odd4", "odd4"),
    ("# @@text odd5 is a heading", "odd5"),
    ("@nosuchfile @@text odd6", "odd6"),
    ("@@text odd7 ends with a backslash \\", "odd7"),
    ("  /x @@text odd8 behind blanks", "odd8"),
    (
        "@@text odd9 [Pasted text #1 +59 lines]\n\u{276f} 1. Yes\n  2. No\nEsc to cancel",
        "odd9",
    ),
    (
        "@@text odd10 \u{203a} esc to interrupt\n\u{25e6} Working (1s)",
        "odd10",
    ),
    ("? @@text odd11", "odd11"),
    ("& @@text odd12 -- in the background", "odd12"),
];

pub(super) fn odd_texts(trial: &mut Trial<'_, '_>) -> Result<()> {
    if let Having::NotThere(why) = trial.manners.odd_texts {
        trial.add("it arrives whole, once", Outcome::NotThere(why));
        return Ok(());
    }
    for (text, word) in ODD {
        arrives_whole(trial, text, word)?;
    }
    Ok(())
}

pub(super) fn long_text(trial: &mut Trial<'_, '_>) -> Result<()> {
    if let Having::NotThere(why) = trial.manners.odd_texts {
        trial.add("it arrives whole, once", Outcome::NotThere(why));
        return Ok(());
    }
    let lines: Vec<String> = (0..8000)
        .map(|number| format!("{number:05} a line of a text"))
        .collect();
    // The second step is never asked for: an answer of that length would take its time.
    let text = format!("@@text gamma ;; @@text {}", lines.join("\n"));
    arrives_whole(trial, &text, "gamma")
}

/// Where tabs would be lost the text goes by file, which the agent reads without asking.
pub(super) fn tabs(trial: &mut Trial<'_, '_>) -> Result<()> {
    const TEXT: &str = "@@text tab1\twith\ttabs";
    const POINTER: &str = "The message is in the file ";
    if let Having::NotThere(why) = trial.manners.odd_texts {
        trial.add("it arrives whole, once", Outcome::NotThere(why));
        return Ok(());
    }
    // The first message comes with words of the agent's own.
    let warm = trial.scene.send("please @@text something first")?;
    trial.scene.until_answered("something first", 0)?;
    trial.back_at_prompt(warm)?;
    let sent = trial.scene.send(TEXT)?;
    let call = trial.scene.until("the message with tabs", |scene| {
        let pointed = scene.calls(POINTER).into_iter();
        pointed.chain(scene.calls("tab1")).next()
    })?;
    trial.back_at_prompt(sent)?;
    if call.prompt.contains(TEXT) {
        trial.expect_that("it arrives whole, once", Ok(()));
        return Ok(());
    }
    let path = call.prompt.split_once(POINTER);
    let path = path.and_then(|(_, rest)| rest.split_once(": read it"));
    let path = path.map_or("", |(path, _)| path);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let stored = (text == TEXT).then_some(()).ok_or(text);
    trial.expect_that("it arrives whole, once", stored);
    let read = format!("@@tool Read {{\"file_path\":\"{path}\"}} ;; @@text has read it");
    trial.scene.send(&read)?;
    trial.expect_outcome("done")
}

/// A panel is open: nothing is typed into it, and a message arrives once it is left.
pub(super) fn panel(trial: &mut Trial<'_, '_>) -> Result<()> {
    for command in trial.manners.panels {
        let opened = trial.scene.now();
        trial.scene.client().input(command)?;
        trial.scene.wait(Duration::from_secs(1))?;
        trial.scene.press(&["\r"])?;
        let panel = Shown::new("blocked (panel)");
        trial.scene.until_published(&panel, opened)?;
        let word = format!("behind {}", command.trim_start_matches('/'));
        trial.scene.send(&format!("please @@text {word}"))?;
        trial.scene.wait(Duration::from_secs(1))?;
        let early = trial.scene.calls(&word).len();
        let waits = (early == 0).then_some(()).ok_or(format!("{early} times"));
        trial.expect_that("the message waits", waits);
        trial.scene.client().interrupt()?;
        trial.scene.until_answered(&word, 0)?;
        trial.expect_outcome("done")?;
    }
    Ok(())
}
