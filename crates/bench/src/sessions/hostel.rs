//! A repository with sessions in it, all of which end with the benchmark.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::stage::Stage;

pub(super) struct Hostel {
    stage: Stage,
}

impl Hostel {
    pub(super) fn open(binary: &Path) -> Result<Self> {
        let stage = Stage::set(binary, None)?;
        Ok(Self { stage })
    }

    pub(super) fn directory(&self) -> &Path {
        self.stage.directory()
    }

    pub(super) fn handoff<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        self.stage.handoff(args)
    }

    pub(super) fn program(&self, name: &str) -> Command {
        self.stage.program(name)
    }

    pub(super) fn say<const N: usize>(&self, args: [&str; N]) -> Result<()> {
        self.stage.say(args)
    }

    /// Starts a session in the background, and says what is known of it.
    pub(super) fn run(&self, name: &str, words: &[&str]) -> Result<Value> {
        let start = ["run", "--detach", "--json", "--id", name];
        self.json(start.iter().chain(words))
    }

    fn json<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<Value> {
        let output = self.handoff(args).output()?;
        if !output.status.success() {
            bail!("it fails: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// The holders of all sessions and their wardens.
    pub(super) fn processes(&self) -> Result<Vec<u32>> {
        let list = self.json(["ps", "--json"])?;
        let sessions = list["sessions"].as_array().context("a list of sessions")?;
        let mut processes = vec![];
        for session in sessions {
            let holder = pid(session)?;
            processes.extend([holder, parent(holder)?]);
        }
        Ok(processes)
    }
}

/// The process that holds a session.
pub(super) fn pid(session: &Value) -> Result<u32> {
    let pid = session["holder_pid"]
        .as_u64()
        .context("a session has a holder")?;
    Ok(u32::try_from(pid)?)
}

fn parent(pid: u32) -> Result<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    Ok(line.context("a process has a parent")?.trim().parse()?)
}

impl Drop for Hostel {
    fn drop(&mut self) {
        let Ok(list) = self.json(["ps", "--json"]) else {
            return;
        };
        for session in list["sessions"].as_array().into_iter().flatten() {
            let name = session["name"].as_str().unwrap_or_default();
            // What cannot be stopped is ended with its holder, when the machine is.
            self.say(["stop", "--id", name, "--timeout", "0"]).ok();
        }
    }
}
