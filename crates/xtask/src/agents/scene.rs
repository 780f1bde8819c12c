//! A session of one agent, and everything that is known of it from outside.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use handoff_core::time::Clock as _;
use handoff_core::{IdempotencyKey, Timestamp};
use handoff_files::Dir;
use handoff_process::SystemClock;
use handoff_session::message::{Finish, Order, Urgency};
use handoff_session::{Client, Record, place};
use handoff_testkit::{Call, ModelServer};
use rustix::event::Timespec;

use super::house::House;
use super::timeline::{Shown, Timeline};
use super::witness::Witness;
use crate::program;

/// A verdict may come this long after what proves it.
pub(super) const LATEST: Duration = Duration::from_millis(500);
/// What an agent may take for anything, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(40);
/// Between two looks of ours.
const INTERVAL: Duration = Duration::from_millis(5);

/// A session under observation.
pub(super) struct Scene<'a> {
    pub(super) house: &'a House,
    pub(super) model: &'a ModelServer,
    client: Client,
    record: Record,
    folder: PathBuf,
    witness: Witness,
    clock: SystemClock,
    sent: usize,
}

/// What is started.
pub(super) struct Start<'a> {
    pub(super) binary: &'a Path,
    pub(super) agent: &'a str,
    pub(super) arguments: Vec<String>,
}

impl<'a> Scene<'a> {
    pub(super) fn begin(
        start: &Start<'_>,
        house: &'a House,
        model: &'a ModelServer,
    ) -> Result<Self> {
        let mut command = program::program(start.binary);
        command
            .env_clear()
            .envs(&house.environment)
            .current_dir(house.project());
        command
            .args(["run", start.agent, "--detach", "--json", "--"])
            .args(&start.arguments);
        let output = command.stdin(Stdio::null()).output()?;
        if !output.status.success() {
            bail!(
                "it does not start: {}",
                String::from_utf8_lossy(&output.stdout)
            );
        }
        let document: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let id = document["id"].as_str().context("a session has an id")?;
        let folder = house.state().join("sessions").join(id);
        let record = Record::read(&Dir::open(&folder)?)?.context("a session has a record")?;
        Ok(Self {
            house,
            model,
            client: Client::new(&record.socket),
            witness: Witness::of(&place::transcript(&folder)),
            record,
            folder,
            clock: SystemClock::read()?,
            sent: 0,
        })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now().wall
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn pid(&self) -> u32 {
        self.record.child.pid
    }

    pub(super) fn timeline(&self) -> Result<Timeline> {
        Timeline::read(&place::journal(&self.folder))
    }

    /// Waits until something is so, and says since when at the latest.
    pub(super) fn until<T>(
        &mut self,
        what: &str,
        mut look: impl FnMut(&Self) -> Option<T>,
    ) -> Result<T> {
        let end = self.now() + PATIENCE;
        loop {
            let now = self.now();
            self.witness.look(now)?;
            if let Some(found) = look(self) {
                return Ok(found);
            }
            if now > end {
                bail!(
                    "waited in vain for {what}; on the screen is\n{}",
                    self.witness.picture()
                );
            }
            pause(INTERVAL)?;
        }
    }

    pub(super) fn until_seen(&mut self, text: &str, since: Timestamp) -> Result<Timestamp> {
        self.until(text, |scene| scene.witness.saw(text, since))
    }

    pub(super) fn until_gone(&mut self, text: &str, since: Timestamp) -> Result<Timestamp> {
        self.until(text, |scene| scene.witness.missed(text, since))
    }

    pub(super) fn until_published(&mut self, state: &Shown, since: Timestamp) -> Result<()> {
        let what = format!("the state {state}");
        self.until(&what, |scene| {
            let timeline = scene.timeline().ok()?;
            let is_now = timeline.last().is_some_and(|(_, last)| last == state);
            (is_now || timeline.has_since(state, since)).then_some(())
        })
    }

    /// The call of the model with this in its prompt, once it has come; the number counts from zero.
    pub(super) fn until_asked(&mut self, word: &str, number: usize) -> Result<Call> {
        let what = format!("call {number} of the model with {word}");
        self.until(&what, |scene| scene.calls(word).into_iter().nth(number))
    }

    pub(super) fn until_answered(&mut self, word: &str, number: usize) -> Result<Timestamp> {
        let what = format!("the answer to call {number} of the model with {word}");
        self.until(&what, |scene| scene.calls(word).get(number)?.answered_at)
    }

    /// The calls that belong to turns, with this in their prompt.
    pub(super) fn calls(&self, word: &str) -> Vec<Call> {
        let calls = self.model.calls().into_iter();
        calls
            .filter(|call| call.is_turn && call.prompt.contains(word))
            .collect()
    }

    /// Sends a message the way everybody does.
    pub(super) fn send(&mut self, text: &str) -> Result<Timestamp> {
        let now = self.now();
        self.sent += 1;
        let key: IdempotencyKey = format!("case-{}", self.sent).parse()?;
        self.client.send_message(&Order {
            text: text.to_owned(),
            key,
            finish: Finish::Submit,
            urgency: Urgency::Wait,
            expires_after: None,
        })?;
        Ok(now)
    }

    /// Presses keys, one after the other.
    pub(super) fn press(&mut self, keys: &[&str]) -> Result<Timestamp> {
        let mut now = self.now();
        for key in keys {
            now = self.now();
            self.client.input(key)?;
            pause(Duration::from_millis(150))?;
        }
        Ok(now)
    }

    pub(super) fn wait(&mut self, span: Duration) -> Result<()> {
        let end = self.now() + span;
        self.until("time", |scene| (scene.now() >= end).then_some(()))
    }

    /// Ends what is left of it.
    pub(super) fn end(self) {
        // A session that has ended already is what most cases leave.
        self.client.stop(Duration::ZERO).ok();
    }
}

fn pause(span: Duration) -> Result<()> {
    rustix::event::poll(&mut [], Some(&Timespec::try_from(span)?))?;
    Ok(())
}
