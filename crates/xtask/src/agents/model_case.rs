//! What is done to an agent that talks to a model.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use handoff_core::Timestamp;
use handoff_session::control::Reply;
use handoff_session::dialog::Wish;

use super::case::Act;
use super::manners::Having;
use super::report::Outcome;
use super::text_case;
use super::timeline::Shown;
use super::trial::Trial;

/// In this order, in one session: each leaves the agent at its prompt.
pub(super) const CASES: [(&str, Act); 16] = [
    ("start", start),
    ("busy and idle", busy_and_idle),
    ("tool call", tool_call),
    ("permission rejected", rejected),
    ("permission answered", answered),
    ("interrupt", interrupt),
    ("message while busy", while_busy),
    ("several lines", several_lines),
    ("3,000 characters", long_message),
    ("60 lines of an answer", long_answer),
    ("odd texts", text_case::odd_texts),
    ("panel", text_case::panel),
    ("odd texts: tabs", text_case::tabs),
    ("odd texts: 200 kB", text_case::long_text),
    ("error 400", error_400),
    ("error 429", error_429),
];

pub(super) fn start(trial: &mut Trial<'_, '_>) -> Result<()> {
    let mut began = trial.scene.now();
    if let Some(trust) = trial.manners.trust {
        let seen = trial.scene.until_seen(trust.question, began)?;
        trial.expect("blocked (trust)", seen)?;
        began = trial.scene.press(trust.yes)?;
        // Some show where one types above the question too.
        match trust.answered {
            None => trial.scene.until_gone(trust.question, began)?,
            Some(text) => trial.scene.until_seen(text, began)?,
        };
    }
    let seen = trial.scene.until_seen(trial.manners.ready, began)?;
    trial.expect("prompt", seen)
}

/// The second time. Some ask again whether the directory is trusted.
pub(super) fn until_ready(trial: &mut Trial<'_, '_>) -> Result<()> {
    let began = trial.scene.now();
    let ready = trial.manners.ready;
    if let Some(trust) = trial.manners.trust {
        let seen = trial.scene.until_one_seen([ready, trust.question], began)?;
        if seen == trust.question {
            trial
                .scene
                .until_published(&Shown::new("blocked (trust)"), began)?;
            trial.scene.press(trust.yes)?;
        }
    }
    trial.scene.until_seen(ready, began).map(drop)
}

fn busy_and_idle(trial: &mut Trial<'_, '_>) -> Result<()> {
    trial.scene.send("please @@slow 3 first")?;
    let call = trial.scene.until_asked("first", 0)?;
    trial.expect("busy", call.asked_at)?;
    let answered = trial.scene.until_answered("first", 0)?;
    trial.expect("prompt", answered)?;
    trial.expect_throughout("busy", call.asked_at, answered)?;
    let text = trial.scene.until_answer()?;
    let words: Vec<String> = (0..12).map(|number| format!("word{number}")).collect();
    let said = format!("first {} end-of-slow", words.join(" "));
    trial.expect_that("the answer is what was said", is_said(&text, &said));
    trial.expect_outcome("done")?;
    figures(trial)
}

/// Read from a screen an answer is broken into rows, and has the agent's mark in front.
fn is_said(answer: &str, said: &str) -> Result<(), String> {
    let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_alone = answer.len() <= said.len() + 60 && !answer.contains("@@");
    if answer.matches(said).count() == 1 && is_alone {
        Ok(())
    } else {
        Err(format!("as {answer:?}"))
    }
}

fn figures(trial: &mut Trial<'_, '_>) -> Result<()> {
    match trial.manners.figures {
        Having::There => {
            let tokens = trial.scene.until_counted()?;
            let is_plausible = (1..1000).contains(&tokens);
            let counted = is_plausible.then_some(()).ok_or(format!("{tokens} tokens"));
            trial.expect_that("its tokens are counted", counted);
        }
        Having::NotThere(why) => trial.add("its tokens are counted", Outcome::NotThere(why)),
    }
    Ok(())
}

fn long_answer(trial: &mut Trial<'_, '_>) -> Result<()> {
    trial.scene.send("please @@lines 60")?;
    let text = trial.scene.until_answer()?;
    let lines: Vec<String> = (1..=60)
        .map(|number| format!("line {number} of output"))
        .collect();
    trial.expect_that("the answer is whole", is_said(&text, &lines.join(" ")));
    Ok(())
}

fn tool_call(trial: &mut Trial<'_, '_>) -> Result<()> {
    if let Having::NotThere(why) = trial.manners.tools {
        trial.add("busy", Outcome::NotThere(why));
        return Ok(());
    }
    let project = trial.scene.house.project();
    let (begun, ended) = (project.join("begun"), project.join("ended"));
    let command = format!(
        "touch {}; sleep 2; touch {}",
        begun.display(),
        ended.display()
    );
    let sent = trial.scene.send(&trial.asking(&command))?;
    let seen = trial.scene.until_seen(trial.manners.question, sent)?;
    trial.expect("blocked (permission)", seen)?;
    let accept = trial.manners.accept;
    trial.scene.press(&[accept])?;
    let from = trial.scene.until("the tool begins", |_| modified(&begun))?;
    trial.expect("busy", from)?;
    let to = trial.scene.until("the tool ends", |_| modified(&ended))?;
    trial.expect_throughout("busy", from, to)?;
    let answered = trial.scene.until_answered("begun", 1)?;
    trial.expect("prompt", answered)
}

pub(super) fn modified(file: &Path) -> Option<Timestamp> {
    let modified = std::fs::metadata(file).ok()?.modified().ok()?;
    Timestamp::try_from(modified).ok()
}

fn rejected(trial: &mut Trial<'_, '_>) -> Result<()> {
    let refused = trial.scene.house.project().join("refused");
    let sent = trial
        .scene
        .send(&trial.asking(&format!("touch {}", refused.display())))?;
    let seen = trial.scene.until_seen(trial.manners.question, sent)?;
    trial.expect("blocked (permission)", seen)?;
    let reject = trial.manners.reject;
    let pressed = trial.scene.press(&[reject])?;
    let gone = match trial.manners.refused {
        None => trial.scene.until_gone(trial.manners.question, pressed)?,
        Some(text) => trial.scene.until_seen(text, pressed)?,
    };
    trial.expect("prompt", gone)?;
    let made = if refused.exists() {
        Err("it was done all the same".to_owned())
    } else {
        Ok(())
    };
    trial.expect_that("the tool is not called", made);
    trial.expect_outcome(trial.manners.rejected)
}

/// Answered as `answer --choose no` does it.
fn answered(trial: &mut Trial<'_, '_>) -> Result<()> {
    let refused = trial.scene.house.project().join("answered");
    let sent = trial
        .scene
        .send(&trial.asking(&format!("touch {}", refused.display())))?;
    trial
        .scene
        .until_published(&Shown::new("blocked (permission)"), sent)?;
    // Right after it is published: it may not be painted yet.
    let dialog = trial.scene.until("a dialog that can be read", |scene| {
        scene.client().asking().ok()?.dialog
    })?;
    let found = dialog.find(&Wish::No);
    let choice = found.clone().unwrap_or_default();
    let found = found.map(drop).map_err(|error| error.to_string());
    trial.expect_that("one of the choices is a no", found);
    trial.scene.client().reply(&Reply { dialog, choice })?;
    trial.scene.until_choice_taken(sent)?;
    trial.back_at_prompt(sent)?;
    let made = if refused.exists() {
        Err("it was done all the same".to_owned())
    } else {
        Ok(())
    };
    trial.expect_that("the tool is not called", made);
    Ok(())
}

fn interrupt(trial: &mut Trial<'_, '_>) -> Result<()> {
    trial.scene.send("please @@slow 30 stopme")?;
    let call = trial.scene.until_asked("stopme", 0)?;
    trial.expect("busy", call.asked_at)?;
    // Something of the answer is there, so that the prompt stays where it is.
    trial.scene.wait(Duration::from_secs(1))?;
    let pressed = trial.scene.now();
    trial.scene.client().interrupt()?;
    let seen = trial.scene.until_seen(trial.manners.interrupted, pressed)?;
    trial.expect("prompt", seen)?;
    trial.expect_outcome("interrupted")
}

fn while_busy(trial: &mut Trial<'_, '_>) -> Result<()> {
    trial.scene.send("please @@slow 3 long-one")?;
    trial.scene.until_asked("long-one", 0)?;
    trial.scene.send("please @@text the second message")?;
    let sent = trial.scene.until_answered("long-one", 0)?;
    trial.scene.until_answered("the second message", 0)?;
    trial.back_at_prompt(sent)?;
    let count = trial.scene.calls("the second message").len();
    let once = if count == 1 {
        Ok(())
    } else {
        Err(format!("{count} times"))
    };
    trial.expect_that("both arrive, once each", once);
    Ok(())
}

fn several_lines(trial: &mut Trial<'_, '_>) -> Result<()> {
    arrives_whole(
        trial,
        "@@text alpha one\nalpha two\n\nalpha four",
        "alpha one",
    )
}

fn long_message(trial: &mut Trial<'_, '_>) -> Result<()> {
    let words: Vec<String> = (0..500).map(|number| format!("w{number:04}")).collect();
    let text = format!("@@text beta {}", words.join(" "));
    arrives_whole(trial, &text, "beta ")
}

pub(super) fn arrives_whole(trial: &mut Trial<'_, '_>, text: &str, word: &str) -> Result<()> {
    let sent = trial.scene.send(text)?;
    let call = trial.scene.until_asked(word, 0)?;
    trial.scene.until_answered(word, 0)?;
    trial.back_at_prompt(sent)?;
    let count = trial.scene.calls(word).len();
    let arrived = match (call.prompt.contains(text), count) {
        (true, 1) => Ok(()),
        (true, count) => Err(format!("{count} times")),
        (false, _) => Err(format!("as {:?}", call.prompt)),
    };
    trial.expect_that("it arrives whole, once", arrived);
    Ok(())
}

fn error_400(trial: &mut Trial<'_, '_>) -> Result<()> {
    let (text, state) = trial.manners.error;
    let sent = trial.scene.send("please @@err 400")?;
    let seen = trial.scene.until_seen(text, sent)?;
    trial.expect(state, seen)?;
    trial.expect_outcome("failed (request)")?;
    // Whoever has met an error listens to the next message.
    trial.scene.send("please @@text after the error")?;
    let answered = trial.scene.until_answered("after the error", 0)?;
    trial.expect("prompt", answered)
}

fn error_429(trial: &mut Trial<'_, '_>) -> Result<()> {
    trial.scene.send("please @@err 429")?;
    let again = trial.scene.until_asked("@@err 429", 1)?;
    trial.expect("busy", again.asked_at)?;
    let pressed = trial.scene.now();
    trial.scene.client().interrupt()?;
    trial.back_at_prompt(pressed)?;
    trial.expect_outcome("interrupted")?;
    // The text may jump back into the box; the next message must not be glued to it.
    trial.scene.send("please @@text after the limit")?;
    let call = trial.scene.until_asked("after the limit", 0)?;
    let alone = if call.prompt.contains("429") {
        Err(format!("as {:?}", call.prompt))
    } else {
        Ok(())
    };
    trial.expect_that("the next message stands alone", alone);
    let answered = trial.scene.until_answered("after the limit", 0)?;
    trial.expect("prompt", answered)
}
