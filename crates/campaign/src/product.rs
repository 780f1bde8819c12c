//! The real binary, in a repository and a home of its own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use handoff_core::ProjectId;
use handoff_testkit::{GitRepo, Output, Prefix, TestEnv};
use serde_json::Value;

use super::door::Door;

/// Exit codes as the product documents them; a campaign must not ask the product for them.
pub(super) mod exit {
    pub(crate) const DONE: i32 = 0;
    pub(crate) const USAGE: i32 = 2;
    pub(crate) const CONFLICT: i32 = 4;
    pub(crate) const UNAVAILABLE: i32 = 5;
    pub(crate) const LEASE_LOST: i32 = 6;
    pub(crate) const OUTCOME_UNKNOWN: i32 = 7;
    pub(crate) const NO_SPACE: i32 = 8;
    pub(crate) const DAMAGED: i32 = 10;
    pub(crate) const CHECK_FAILED: i32 = 12;
    pub(crate) const INTERNAL: i32 = 70;
    pub(crate) const PANIC: i32 = 101;
    pub(crate) const TIMED_OUT: i32 = 124;
}

/// Longer than any command is told to wait.
const LONGEST_RUN: &str = "60s";

#[derive(Debug)]
pub(super) struct Product {
    pub(super) env: TestEnv,
    pub(super) repo: GitRepo,
    home: PathBuf,
}

impl Product {
    pub(super) fn new(binary: &Path) -> Self {
        let env = TestEnv::new(binary);
        let repo = env.repo("repo");
        let home = env.handoff_home();
        Self { env, repo, home }
    }

    pub(super) fn use_store(&mut self, door: &Door) {
        match door {
            Door::Sqlite(home) => {
                self.home.clone_from(home);
                self.env.set("HANDOFF_HOME", home);
            }
            Door::Postgres(url) => {
                self.env.set("HANDOFF_STORE", url);
            }
        }
    }

    /// The state directory.
    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    pub(super) fn command<A: AsRef<OsStr>>(
        &self,
        prefix: &Prefix,
        words: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = self.env.command_under(prefix, self.env.binary());
        command.current_dir(self.repo.path());
        command.arg("--json").args(words);
        command
    }

    pub(super) fn run<A: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = A>) -> Output {
        self.run_under(&Prefix::none(), words)
    }

    pub(super) fn run_under<A: AsRef<OsStr>>(
        &self,
        prefix: &Prefix,
        words: impl IntoIterator<Item = A>,
    ) -> Output {
        self.run_bounded(&self.command(prefix, words))
    }

    /// Runs to the end, but not for ever: a command that hangs is a finding, not the end of the campaign. `timeout`
    /// ends by the signal that ended the program, or with a code of its own.
    pub(super) fn run_bounded(&self, command: &Command) -> Output {
        let mut bounded = self.env.command("timeout");
        bounded.args(["--signal=KILL", LONGEST_RUN]);
        bounded.arg(command.get_program()).args(command.get_args());
        bounded.current_dir(self.repo.path());
        self.env.run(bounded)
    }

    /// Runs what must work.
    pub(super) fn answer<A: AsRef<OsStr>>(
        &self,
        words: impl IntoIterator<Item = A>,
    ) -> Result<Value> {
        let output = self.run(words);
        ensure!(output.status.success(), "must work: {}", output.snapshot());
        Ok(serde_json::from_str(&output.stdout)?)
    }

    pub(super) fn add(&self, name: &str) -> Result<Value> {
        self.answer(["queue", "add", name, "--brief", "do it"])
    }

    /// Every event of the store, one a line.
    pub(super) fn events(&self) -> Result<Vec<Value>> {
        let output = self.run(["events", "--everything"]);
        ensure!(output.status.success(), "must work: {}", output.snapshot());
        let lines = output.stdout.lines().map(serde_json::from_str);
        Ok(lines.collect::<Result<_, _>>()?)
    }

    pub(super) fn project(&self) -> Result<ProjectId> {
        let queue = self.answer(["queue", "list"])?;
        let project = queue["project"].as_str();
        Ok(project.context("a queue has a project")?.parse()?)
    }

    /// What `doctor --audit` complains about.
    pub(super) fn audit(&self) -> Result<Vec<String>> {
        let output = self.run(["doctor", "--audit"]);
        let document: Value = serde_json::from_str(&output.stdout)
            .with_context(|| format!("`doctor` says: {}", output.snapshot()))?;
        let findings = document["findings"].as_array();
        let findings = findings.context("`doctor` has findings")?;
        let audited = findings.iter().any(|finding| finding["what"] == "audit");
        let bad = findings.iter().filter(|it| it["verdict"] == "bad");
        let mut complaints: Vec<String> = bad.map(|it| format!("doctor: {it}")).collect();
        if !audited {
            complaints.push("`doctor` made no audit".to_owned());
        }
        Ok(complaints)
    }
}

/// Complains when a command did not end with one of these codes.
pub(super) fn expect_code(output: &Output, what: &str, codes: &[i32]) -> Option<String> {
    let is_expected = output.code().is_some_and(|code| codes.contains(&code));
    (!is_expected).then(|| format!("{what}: wanted exit {codes:?}, got {}", output.snapshot()))
}
