//! One agent under trial: what is expected of it, by when, and where the result goes.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use handoff_core::Timestamp;

use super::Name;
use super::manners::Manners;
use super::report::{Outcome, Report, Row};
use super::scene::{LATEST, Scene};
use super::timeline::Shown;
use handoff_chores::output;

/// One agent with its manners, and where its results go.
pub(super) struct Trial<'a, 'b> {
    pub(super) name: Name,
    pub(super) manners: &'a Manners,
    pub(super) scene: Scene<'b>,
    pub(super) report: &'a mut Report,
    pub(super) pictures: Option<&'a Path>,
    pub(super) case: &'static str,
}

impl Trial<'_, '_> {
    pub(super) fn add(&mut self, expected: &str, outcome: Outcome) {
        output::say(&format!("{}: {expected}: {outcome:?}", self.case));
        self.report.add(Row {
            agent: self.name,
            case: self.case,
            expected: expected.to_owned(),
            outcome,
        });
    }

    /// This must be published within the time after its proof.
    pub(super) fn expect(&mut self, state: &str, proof: Timestamp) -> Result<()> {
        let shown = Shown::new(state);
        let deadline = proof + LATEST;
        // Whatever is published later is too late, and only looked at to be told.
        self.scene.until("the time to publish", |scene| {
            (scene.now() > deadline).then_some(())
        })?;
        self.draw(state)?;
        let timeline = self.scene.timeline()?;
        let outcome = match timeline.lag(&shown, proof, LATEST) {
            Some(lag) => Outcome::Right(lag),
            None => {
                let last = timeline.last().map(|(at, state)| {
                    let after = at.duration_since(proof).as_millis();
                    format!("{state} {after} ms after it")
                });
                Outcome::Wrong(format!(
                    "the last that was published is {}",
                    last.unwrap_or_default()
                ))
            }
        };
        self.add(state, outcome);
        Ok(())
    }

    /// Keeps a picture of how that state looks, for those who describe the agent.
    fn draw(&self, state: &str) -> Result<()> {
        let Some(folder) = self.pictures else {
            return Ok(());
        };
        let folder = folder.join(self.name.word());
        std::fs::create_dir_all(&folder)?;
        let name: String = format!("{}-{state}.ansi", self.case)
            .replace(|it: char| !it.is_ascii_alphanumeric() && it != '.', "-");
        Ok(std::fs::write(folder.join(name), self.scene.picture()?)?)
    }

    /// Nothing else may be published between two moments, the time to notice apart.
    pub(super) fn expect_throughout(
        &mut self,
        state: &str,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<()> {
        let strangers = self
            .scene
            .timeline()?
            .strangers(&Shown::new(state), from + LATEST, to);
        let outcome = match strangers.as_slice() {
            [] => Outcome::Right(Duration::ZERO),
            others => Outcome::Wrong(format!("also {others:?}")),
        };
        self.add(&format!("{state} throughout"), outcome);
        Ok(())
    }

    pub(super) fn expect_that(&mut self, what: &str, outcome: Result<(), String>) {
        let outcome = match outcome {
            Ok(()) => Outcome::Right(Duration::ZERO),
            Err(why) => Outcome::Wrong(why),
        };
        self.add(what, outcome);
    }

    /// The turn of the message that was sent last must end like this.
    pub(super) fn expect_outcome(&mut self, expected: &str) -> Result<()> {
        let found = self.scene.until_outcome()?;
        let outcome = if found == expected {
            Ok(())
        } else {
            Err(format!("it is {found}"))
        };
        self.expect_that(&format!("its outcome is {expected}"), outcome);
        Ok(())
    }

    pub(super) fn back_at_prompt(&mut self, since: Timestamp) -> Result<()> {
        self.scene.until_published(&Shown::new("prompt"), since)
    }

    /// The prompt that makes it ask, with this command in it.
    pub(super) fn asking(&self, command: &str) -> String {
        self.manners.asking.replace("COMMAND", command)
    }
}
