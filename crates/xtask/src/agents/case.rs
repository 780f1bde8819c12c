//! The cases: what is done to an agent, what proves its state then, and what must be published.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use handoff_core::Timestamp;
use handoff_testkit::ModelServer;
use rustix::process::{Pid, Signal, kill_process};

use super::Name;
use super::house::House;
use super::manners::{self, Manners};
use super::report::{Outcome, Report, Row};
use super::scene::{LATEST, Scene, Start};
use super::timeline::Shown;
use crate::output;

/// Where an agent is tried.
pub(super) struct Stage<'a> {
    pub(super) name: Name,
    pub(super) binary: &'a Path,
    pub(super) only: Option<&'a str>,
    pub(super) keep: Option<&'a Path>,
}

/// One agent with its manners, and where its results go.
struct Trial<'a, 'b> {
    name: Name,
    manners: &'a Manners,
    scene: Scene<'b>,
    report: &'a mut Report,
    case: &'static str,
}

type Act = fn(&mut Trial<'_, '_>) -> Result<()>;

/// In this order, in one session: each leaves the agent at its prompt.
const CASES: [(&str, Act); 11] = [
    ("start", start),
    ("busy and idle", busy_and_idle),
    ("tool call", tool_call),
    ("permission rejected", rejected),
    ("interrupt", interrupt),
    ("message while busy", while_busy),
    ("several lines", several_lines),
    ("3,000 characters", long_message),
    ("error 400", error_400),
    ("error 429", error_429),
    ("exit", exit),
];

impl Stage<'_> {
    /// Plays all cases. One that goes wrong ends them: the next would begin in the middle of it.
    pub(super) fn run(&self, report: &mut Report) -> Result<()> {
        let scratch = tempfile::tempdir()?;
        let root = self.keep.map_or(scratch.path().to_owned(), |keep| {
            keep.join(self.name.word())
        });
        let model = ModelServer::start().context("the model does not start")?;
        let house = House::furnish(&root, self.name, &model.url())?;
        output::heading(&self.name.word());
        let Some(manners) = manners::of(self.name) else {
            return Ok(());
        };
        self.play(&manners, &house, &model, report)?;
        self.crash(&manners, &house, &model, report)
    }

    fn begin<'a>(
        &self,
        manners: &Manners,
        house: &'a House,
        model: &'a ModelServer,
    ) -> Result<Scene<'a>> {
        let agent = self.name.word();
        let start = Start {
            binary: self.binary,
            agent: &agent,
            arguments: manners
                .arguments
                .iter()
                .map(|it| (*it).to_owned())
                .collect(),
        };
        Scene::begin(&start, house, model)
    }

    fn play(
        &self,
        manners: &Manners,
        house: &House,
        model: &ModelServer,
        report: &mut Report,
    ) -> Result<()> {
        let mut trial = Trial {
            name: self.name,
            manners,
            scene: self.begin(manners, house, model)?,
            report,
            case: "",
        };
        for (case, act) in CASES {
            let is_needed = matches!(case, "start");
            if !is_needed && self.only.is_some_and(|word| !case.contains(word)) {
                continue;
            }
            trial.case = case;
            if let Err(error) = act(&mut trial) {
                trial.add(
                    "the case goes through",
                    Outcome::Wrong(format!("{error:#}")),
                );
                break;
            }
        }
        trial.scene.end();
        Ok(())
    }

    /// In a session of its own: the agent is killed in the middle of a turn.
    fn crash(
        &self,
        manners: &Manners,
        house: &House,
        model: &ModelServer,
        report: &mut Report,
    ) -> Result<()> {
        if self.only.is_some_and(|word| !"crash".contains(word)) {
            return Ok(());
        }
        let mut trial = Trial {
            name: self.name,
            manners,
            scene: self.begin(manners, house, model)?,
            report,
            case: "crash",
        };
        if let Err(error) = crash(&mut trial) {
            trial.add(
                "the case goes through",
                Outcome::Wrong(format!("{error:#}")),
            );
        }
        trial.scene.end();
        Ok(())
    }
}

impl Trial<'_, '_> {
    fn add(&mut self, expected: &str, outcome: Outcome) {
        output::say(&format!("{}: {expected}: {outcome:?}", self.case));
        self.report.add(Row {
            agent: self.name,
            case: self.case,
            expected: expected.to_owned(),
            outcome,
        });
    }

    /// This must be published within the time after its proof.
    fn expect(&mut self, state: &str, proof: Timestamp) -> Result<()> {
        let shown = Shown::new(state);
        let deadline = proof + LATEST;
        // Whatever is published later is too late, and only looked at to be told.
        self.scene.until("the time to publish", |scene| {
            (scene.now() > deadline).then_some(())
        })?;
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

    /// Nothing else may be published between two moments, the time to notice apart.
    fn expect_throughout(&mut self, state: &str, from: Timestamp, to: Timestamp) -> Result<()> {
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

    fn expect_that(&mut self, what: &str, outcome: Result<(), String>) {
        let outcome = match outcome {
            Ok(()) => Outcome::Right(Duration::ZERO),
            Err(why) => Outcome::Wrong(why),
        };
        self.add(what, outcome);
    }

    fn back_at_prompt(&mut self, since: Timestamp) -> Result<()> {
        self.scene.until_published(&Shown::new("prompt"), since)
    }

    /// The prompt that makes it ask, with this command in it.
    fn asking(&self, command: &str) -> String {
        self.manners.asking.replace("COMMAND", command)
    }
}

fn start(trial: &mut Trial<'_, '_>) -> Result<()> {
    let began = trial.scene.now();
    if let Some((question, yes)) = trial.manners.trust {
        let seen = trial.scene.until_seen(question, began)?;
        trial.expect("blocked (trust)", seen)?;
        trial.scene.press(yes)?;
    }
    let seen = trial.scene.until_seen(trial.manners.ready, began)?;
    trial.expect("prompt", seen)
}

fn busy_and_idle(trial: &mut Trial<'_, '_>) -> Result<()> {
    trial.scene.send("please @@slow 3 first")?;
    let call = trial.scene.until_asked("first", 0)?;
    trial.expect("busy", call.asked_at)?;
    let answered = trial.scene.until_answered("first", 0)?;
    trial.expect("prompt", answered)?;
    trial.expect_throughout("busy", call.asked_at, answered)
}

fn tool_call(trial: &mut Trial<'_, '_>) -> Result<()> {
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

fn modified(file: &Path) -> Option<Timestamp> {
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
    let gone = trial.scene.until_gone(trial.manners.question, pressed)?;
    trial.expect("prompt", gone)?;
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
    trial.expect("prompt", seen)
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

fn arrives_whole(trial: &mut Trial<'_, '_>, text: &str, word: &str) -> Result<()> {
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

fn exit(trial: &mut Trial<'_, '_>) -> Result<()> {
    let stopped = trial.scene.client().stop(Duration::from_secs(20))?;
    let by = stopped.by.unwrap_or_default();
    let way = if by == "exit_keys" {
        Ok(())
    } else {
        Err(format!("by {by}"))
    };
    trial.expect_that("it leaves by its own words", way);
    trial
        .scene
        .until_published(&Shown::new("exited (Code(0))"), trial.scene.now())
}

fn crash(trial: &mut Trial<'_, '_>) -> Result<()> {
    let began = trial.scene.now();
    trial.scene.until_seen(trial.manners.ready, began)?;
    trial.back_at_prompt(began)?;
    trial.scene.send("please @@slow 20 crashing")?;
    trial.scene.until_asked("crashing", 0)?;
    let killed = trial.scene.now();
    let pid = i32::try_from(trial.scene.pid())?;
    let pid = Pid::from_raw(pid).context("an agent has a process")?;
    kill_process(pid, Signal::KILL)?;
    trial.expect("exited (Signal(9))", killed)
}
