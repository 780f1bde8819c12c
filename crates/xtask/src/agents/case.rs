//! The cases of each agent, in the order in which they are played.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use handoff_process::Size;
use handoff_testkit::ModelServer;
use rustix::process::{Pid, Signal, kill_process};

use super::house::House;
use super::manners::{self, Manners};
use super::report::{Outcome, Report};
use super::scene::{Ground, Scene, Start};
use super::timeline::Shown;
use super::trial::Trial;
use super::{Name, Theme};
use super::{model_case, sandbox_case, script_case, shell_case, worker_case, workflow_case};
use handoff_chores::output;

/// Where an agent is tried.
pub(super) struct Stage<'a> {
    pub(super) name: Name,
    pub(super) binary: &'a Path,
    pub(super) only: Option<&'a str>,
    pub(super) keep: Option<&'a Path>,
    pub(super) size: Size,
    pub(super) theme: Theme,
    /// Where pictures go, if they are wanted.
    pub(super) pictures: Option<&'a Path>,
}

/// One case. It leaves the agent at its prompt.
pub(super) type Act = fn(&mut Trial<'_, '_>) -> Result<()>;

fn cases(name: Name) -> &'static [(&'static str, Act)] {
    match name {
        Name::Bash => &shell_case::CASES,
        Name::Scripted => &script_case::CASES,
        Name::Claude
        | Name::ClaudeQuiet
        | Name::Codex
        | Name::Opencode
        | Name::Gemini
        | Name::Copilot
        | Name::Aider => &model_case::CASES,
    }
}

impl Stage<'_> {
    /// Plays all cases. One that goes wrong ends them: the next would begin in the middle of it.
    pub(super) fn run(&self, report: &mut Report) -> Result<()> {
        let scratch = tempfile::tempdir()?;
        let root = self.keep.map_or(scratch.path().to_owned(), |keep| {
            keep.join(self.name.word())
        });
        let model = ModelServer::start().context("the model does not start")?;
        let house = House::furnish(&root, self.name, &model.url(), self.theme)?;
        output::heading(&self.name.word());
        if ![Some(workflow_case::CASE), Some(worker_case::CASE)].contains(&self.only) {
            self.play_at_terminal(&house, &model, report)?;
        }
        type Play = fn(&Stage<'_>, &House, &mut Report);
        let unattended: [(&str, Play); 2] = [
            (workflow_case::CASE, workflow_case::play),
            (worker_case::CASE, worker_case::play),
        ];
        for (case, play) in unattended {
            if workflow_case::is_for(self.name) && self.is_meant(case) {
                let house = workflow_case::house(self, &root.join(case), &model)?;
                play(self, &house, report);
            }
        }
        Ok(())
    }

    fn is_meant(&self, case: &str) -> bool {
        self.only.is_none_or(|word| case.contains(word))
    }

    /// What is seen of an agent at its terminal, and done there.
    fn play_at_terminal(
        &self,
        house: &House,
        model: &ModelServer,
        report: &mut Report,
    ) -> Result<()> {
        let manners = manners::of(self.name);
        self.play(&manners, house, model, report)?;
        let alone: [(&'static str, Ground, Act); 2] = [
            ("crash", Ground::Project, crash),
            ("sandbox", Ground::Sandbox, sandbox_case::act),
        ];
        for (case, ground, act) in alone {
            let is_there = ground == Ground::Project || !manners.asking.is_empty();
            if is_there && self.is_meant(case) {
                let scene = self.begin(ground, &manners, house, model)?;
                self.play_alone(case, act, &manners, scene, report);
            }
        }
        Ok(())
    }

    fn begin<'a>(
        &self,
        ground: Ground,
        manners: &Manners,
        house: &'a House,
        model: &'a ModelServer,
    ) -> Result<Scene<'a>> {
        let agent = self.name.agent();
        let start = Start {
            binary: self.binary,
            agent: &agent,
            ground,
            size: self.size,
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
            scene: self.begin(Ground::Project, manners, house, model)?,
            report,
            pictures: self.pictures,
            case: "",
        };
        let cases = cases(self.name).iter().copied();
        for (case, act) in cases.chain([("exit", exit as Act)]) {
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

    /// In a session of its own.
    fn play_alone(
        &self,
        case: &'static str,
        act: Act,
        manners: &Manners,
        scene: Scene<'_>,
        report: &mut Report,
    ) {
        let mut trial = Trial {
            name: self.name,
            manners,
            scene,
            report,
            pictures: None,
            case,
        };
        if let Err(error) = act(&mut trial) {
            trial.add(
                "the case goes through",
                Outcome::Wrong(format!("{error:#}")),
            );
        }
        trial.scene.end();
    }
}

fn exit(trial: &mut Trial<'_, '_>) -> Result<()> {
    trial.scene.until_rested()?;
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

/// The agent is killed in the middle of a turn.
fn crash(trial: &mut Trial<'_, '_>) -> Result<()> {
    let began = trial.scene.now();
    model_case::until_ready(trial)?;
    trial.back_at_prompt(began)?;
    if !trial.manners.asking.is_empty() {
        trial.scene.send("please @@slow 20 crashing")?;
        trial.scene.until_asked("crashing", 0)?;
    }
    let killed = trial.scene.now();
    let pid = i32::try_from(trial.scene.pid())?;
    let pid = Pid::from_raw(pid).context("an agent has a process")?;
    kill_process(pid, Signal::KILL)?;
    trial.expect("exited (Signal(9))", killed)?;
    if !trial.manners.asking.is_empty() {
        trial.expect_outcome("exited")?;
    }
    Ok(())
}
