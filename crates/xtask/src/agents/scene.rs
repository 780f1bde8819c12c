//! A session of one agent, and everything that is known of it from outside.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use handoff_core::time::Clock as _;
use handoff_core::{IdempotencyKey, MessageId, Timestamp};
use handoff_files::Dir;
use handoff_process::{Size, SystemClock};
use handoff_session::journal::{Entry, Event};
use handoff_session::message::{Finish, Order, Progress, TextSense, Urgency};
use handoff_session::outcome::Outcome;
use handoff_session::{Client, Record, inbox, place};
use handoff_testkit::{Call, ModelServer};
use rustix::event::Timespec;

use super::house::House;
use super::timeline::{Shown, Timeline};
use super::witness::Witness;
use handoff_chores::program;

/// A verdict may come this long after what proves it.
pub(super) const LATEST: Duration = Duration::from_millis(500);
/// What an agent may take for anything, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(90);
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
    /// The message that was sent last.
    message: Option<MessageId>,
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// In the project, free.
    Project,
    /// In a worktree of it, held to that by the kernel.
    Sandbox,
}

/// What is started.
pub(super) struct Start<'a> {
    pub(super) binary: &'a Path,
    pub(super) agent: &'a str,
    pub(super) arguments: Vec<String>,
    pub(super) ground: Ground,
    pub(super) size: Size,
}

impl<'a> Scene<'a> {
    pub(super) fn begin(
        start: &Start<'_>,
        house: &'a House,
        model: &'a ModelServer,
    ) -> Result<Self> {
        let mut command = program::program(start.binary);
        command.env_clear().envs(&house.environment);
        command.args(["run", start.agent, "--detach", "--json"]);
        match start.ground {
            Ground::Project => command.current_dir(house.project()),
            Ground::Sandbox => {
                command.current_dir(house.make_tree()?);
                command.args(["--sandbox", "worktree"])
            }
        };
        command.arg("--").args(&start.arguments);
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
        let client = Client::new(&record.socket);
        client.resize(start.size)?;
        Ok(Self {
            house,
            model,
            client,
            witness: Witness::of(&place::transcript(&folder), start.size),
            record,
            folder,
            clock: SystemClock::read()?,
            sent: 0,
            message: None,
        })
    }

    /// What its terminal shows, with colours.
    pub(super) fn picture(&self) -> Result<String> {
        Ok(self.client.screen()?.ansi.join("\n"))
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

    /// Whether a text was on the screen since then.
    pub(super) fn saw(&self, text: &str, since: Timestamp) -> bool {
        self.witness.saw(text, since).is_some()
    }

    pub(super) fn until_seen(&mut self, text: &str, since: Timestamp) -> Result<Timestamp> {
        self.until(text, |scene| scene.witness.saw(text, since))
    }

    /// The one of two texts that is seen first.
    pub(super) fn until_one_seen(
        &mut self,
        texts: [&'static str; 2],
        since: Timestamp,
    ) -> Result<&'static str> {
        self.until("the beginning", |scene| {
            texts
                .into_iter()
                .find(|text| scene.witness.saw(text, since).is_some())
        })
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

    /// What came back to the message that was sent last.
    pub(super) fn until_answer(&mut self) -> Result<String> {
        self.until("the answer", |scene| {
            let letters = inbox::read(&scene.folder).ok()?;
            let mut own = letters
                .iter()
                .filter(|it| Some(it.message.id) == scene.message);
            match own.next()?.progress() {
                Progress::Answered { answer, .. } => Some(answer.text.clone()),
                Progress::Queued { .. }
                | Progress::Written { .. }
                | Progress::Submitted { .. }
                | Progress::Failed { .. }
                | Progress::Expired => None,
            }
        })
    }

    /// How the turn ended of the message that was sent last: a word, and of which kind a failure is.
    pub(super) fn until_outcome(&mut self) -> Result<String> {
        self.until("the outcome", |scene| {
            let letters = inbox::read(&scene.folder).ok()?;
            let mut own = letters
                .iter()
                .filter(|it| Some(it.message.id) == scene.message);
            match own.next()?.progress() {
                Progress::Answered { .. } => Some(Outcome::Answered.word().to_owned()),
                Progress::Failed {
                    lost: Some(lost), ..
                } => {
                    let word = lost.outcome.word();
                    let kind = lost.outcome.error().map(|error| error.kind.word());
                    Some(kind.map_or_else(|| word.to_owned(), |kind| format!("{word} ({kind})")))
                }
                Progress::Failed {
                    because,
                    lost: None,
                } => Some(format!("not taken ({})", because.word())),
                Progress::Queued { .. }
                | Progress::Written { .. }
                | Progress::Submitted { .. }
                | Progress::Expired => None,
            }
        })
    }

    /// Waits until the choice that was made last is told, and whether the agent took it.
    pub(super) fn until_choice_taken(&mut self, since: Timestamp) -> Result<()> {
        let is_taken = self.until("the choice", |scene| {
            let text = std::fs::read_to_string(place::journal(&scene.folder)).ok()?;
            let entries = text
                .lines()
                .filter_map(|line| serde_json::from_str::<Entry>(line).ok());
            let mut later = entries.filter(|entry| entry.ts >= since);
            later.find_map(|entry| {
                if let Event::Answered { is_taken, .. } = entry.event {
                    Some(is_taken)
                } else {
                    None
                }
            })
        })?;
        if is_taken {
            return Ok(());
        }
        bail!(
            "the choice was not taken; on the screen is\n{}",
            self.witness.picture()
        );
    }

    /// How many tokens the last turn has brought forth.
    pub(super) fn until_counted(&mut self) -> Result<u64> {
        self.until("the figures of the turn", |scene| {
            let events = scene.events()?;
            events.iter().rev().find_map(tokens)
        })
    }

    /// Waits until no turn runs.
    pub(super) fn until_rested(&mut self) -> Result<()> {
        self.until("the end of the turn", |scene| {
            let events = scene.events()?;
            let begun = |event: &Event| matches!(event, Event::TurnStarted { .. });
            let ended = |event: &Event| matches!(event, Event::TurnEnded { .. });
            let last = events.iter().rfind(|event| begun(event) || ended(event));
            last.is_none_or(ended).then_some(())
        })
    }

    fn events(&self) -> Option<Vec<Event>> {
        let text = std::fs::read_to_string(place::journal(&self.folder)).ok()?;
        let entries = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Entry>(line).ok());
        Some(entries.map(|entry| entry.event).collect())
    }

    /// Sends a message the way everybody does.
    pub(super) fn send(&mut self, text: &str) -> Result<Timestamp> {
        let now = self.now();
        self.sent += 1;
        let key: IdempotencyKey = format!("case-{}", self.sent).parse()?;
        let sent = self.client.send_message(&Order {
            text: text.to_owned(),
            key,
            finish: Finish::Submit,
            urgency: Urgency::Wait,
            sense: TextSense::Words,
            expires_after: None,
        })?;
        self.message = Some(sent.message);
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

fn tokens(event: &Event) -> Option<u64> {
    if let Event::Usage { usage, .. } = event {
        return Some(usage.output_tokens);
    }
    let Event::TurnEnded { usage, .. } = event else {
        return None;
    };
    usage.map(|usage| usage.output_tokens)
}

fn pause(span: Duration) -> Result<()> {
    rustix::event::poll(&mut [], Some(&Timespec::try_from(span)?))?;
    Ok(())
}
