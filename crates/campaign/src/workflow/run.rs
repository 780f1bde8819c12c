//! A project, its agents, and the run that they are in.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};
use handoff_testkit::kata::{Cheat, Kata, Tree, Troupe};
use serde_json::Value;

use super::super::product::Product;

/// The name of the run.
const NAME: &str = "calc";
/// A machine that is busy needs more time than one command gets.
const MOST_COMMANDS: usize = 30;

/// A project in which a run can begin.
pub(super) struct Project {
    pub(super) product: Product,
    script: PathBuf,
}

impl Project {
    /// With agents that cheat in these ways before they are honest.
    pub(super) fn new(mut product: Product, kata: &Kata, cheats: &[Cheat]) -> Self {
        let troupe = Troupe::engage(&mut product.env, kata, cheats);
        kata.lay(&product.repo);
        Self {
            product,
            script: troupe.script(),
        }
    }

    /// Has sessions work outside of a sandbox, where they have more ways to cheat.
    pub(super) fn take_down_walls(&self) -> Result<()> {
        let directory = self.product.env.config_home().join("handoff");
        std::fs::create_dir_all(&directory)?;
        let config = "[sandbox]\ndefault = \"none\"\n";
        Ok(std::fs::write(directory.join("config.toml"), config)?)
    }

    /// The words that begin the run.
    pub(super) fn begin(&self) -> Vec<OsString> {
        self.words("workflow run tdd --goal Sums. --name calc --script")
    }

    /// The words that go on with it.
    pub(super) fn go_on(&self) -> Vec<OsString> {
        self.words("workflow resume calc --script")
    }

    fn words(&self, words: &str) -> Vec<OsString> {
        let words = words.split(' ').map(OsString::from);
        words.chain([self.script.clone().into()]).collect()
    }

    /// The run, if it has begun.
    pub(super) fn status(&self) -> Result<Option<Value>> {
        let output = self.product.run(["workflow", "status"]);
        ensure!(output.status.success(), "must work: {}", output.snapshot());
        let runs: Value = serde_json::from_str(&output.stdout)?;
        let runs = runs["runs"].as_array().context("a list of runs")?;
        let run = runs.iter().find(|it| it["name"] == NAME);
        Ok(run.cloned())
    }

    /// What was proved, phase by phase.
    pub(super) fn proofs(&self) -> Result<Vec<String>> {
        let run = self.status()?.context("the run has begun")?;
        let steps = run["steps"].as_array().context("a run has steps")?;
        let told = steps.iter();
        let told = told.map(|it| format!("{} {}", it["phase"], it["outcome"]).replace('"', ""));
        Ok(told.collect())
    }

    /// What is at the end of its branch.
    pub(super) fn tree(&self) -> Tree {
        let (repo, branch) = (&self.product.repo, "refs/heads/handoff/calc");
        let files = repo.files_of(branch).into_iter();
        let files = files.map(|path| (path.clone(), repo.file_of(branch, &path)));
        files.fold(Tree::default(), |tree, (path, text)| tree.with(&path, text))
    }

    /// What git shows of its proofs, in their order.
    pub(super) fn marks(&self) -> Vec<String> {
        let refs = self.product.repo.refs();
        let marks = { refs.keys() }.filter_map(|it| it.strip_prefix("refs/handoff/run/calc/"));
        marks.map(str::to_owned).collect()
    }

    /// What happened to the run.
    pub(super) fn log(&self) -> Result<Vec<Value>> {
        let output = self.product.run(["workflow", "log", NAME]);
        ensure!(output.status.success(), "must work: {}", output.snapshot());
        let lines = output.stdout.lines().map(serde_json::from_str);
        Ok(lines.collect::<Result<_, _>>()?)
    }

    /// Every text that a session of it began with, in the order of the sessions.
    pub(super) fn prompts(&self) -> Result<Vec<String>> {
        let sessions = std::fs::read_dir(self.product.home().join("sessions"))?;
        let sessions = sessions.map(|it| Ok(it?.path().join("prompt.md")));
        let mut sessions = sessions.collect::<Result<Vec<_>>>()?;
        sessions.sort();
        let texts = sessions.iter().map(std::fs::read_to_string);
        Ok(texts.collect::<Result<_, _>>()?)
    }

    /// Begins, and goes on as often as the time of one command is over.
    ///
    /// # Errors
    /// When the run does not come to its end, or a command does not that brought it there.
    pub(super) fn to_the_end(&self) -> Result<()> {
        let mut output = self.product.run(self.begin());
        for _ in 0..MOST_COMMANDS {
            let run = self.status()?.unwrap_or_default();
            if run["state"] != "working" {
                let is_good = run["state"] == "done" && output.status.success();
                ensure!(is_good, "it came to {run}: {}", output.snapshot());
                return Ok(());
            }
            output = self.product.run(self.go_on());
        }
        bail!("it never comes to its end: {}", output.snapshot())
    }
}
