//! Sessions of a product, and the processes that belong to them: all of these carry a mark in their environment, wherever they
//! went.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use handoff_process::mint;
use handoff_session::Client;
use serde_json::Value;

use super::product::Product;
use handoff_chores::processor_time::pause;

/// The variable that marks them.
const MARK: &str = "CAMPAIGN_MARK";
/// How long something that must happen may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks.
const MOMENT: Duration = Duration::from_millis(20);

/// A product with sessions, which end with it.
pub(super) struct Hostel {
    pub(super) product: Product,
    mark: Vec<u8>,
}

impl Hostel {
    pub(super) fn open(mut product: Product) -> Self {
        let mark = mint().simple().to_string();
        product.env.set(MARK, &mark);
        let mark = format!("{MARK}={mark}").into_bytes();
        Self { product, mark }
    }

    /// Starts a session in the background, and says what is known of it.
    pub(super) fn run(&self, name: &str, words: &[&str]) -> Result<Value> {
        let start = ["run", "--detach", "--id", name];
        self.product.answer(start.iter().chain(words))
    }

    /// A shell that says nothing but what it is told to, and reads.
    pub(super) fn bash(&self, name: &str) -> Result<Value> {
        let session = self.run(name, &["bash", "--", "--norc", "--noprofile"])?;
        let is_ready = || Ok((self.listed(name)?["state"] == "prompt").then_some(()));
        patiently("the shell reads", is_ready)?;
        Ok(session)
    }

    /// How a session is listed; nothing if it is not.
    pub(super) fn listed(&self, name: &str) -> Result<Value> {
        let list = self.product.answer(["ps", "--ended"])?;
        let sessions = list["sessions"].as_array().context("a list of sessions")?;
        let newest = sessions.iter().rev().find(|it| it["name"] == name);
        Ok(newest.cloned().unwrap_or_default())
    }

    /// Every process that has the mark.
    pub(super) fn processes(&self) -> Result<Vec<u32>> {
        let mut found = vec![];
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            // One that has ended has no environment any more.
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            if environment
                .split(|byte| *byte == 0)
                .any(|it| it == self.mark)
            {
                found.push(pid);
            }
        }
        Ok(found)
    }

    /// Complains of what still runs after a while.
    pub(super) fn left(&self) -> Result<Vec<String>> {
        let none = || Ok(self.processes()?.is_empty().then_some(()));
        match patiently("nothing is left", none) {
            Ok(()) => Ok(vec![]),
            Err(_) => self
                .processes()
                .map(|left| left.iter().map(|pid| shown(*pid)).collect()),
        }
    }

    /// A way to ask the holder of a session.
    pub(super) fn client(session: &Value) -> Result<Client> {
        let socket = session["socket"]
            .as_str()
            .context("a session has a socket")?;
        Ok(Client::new(socket))
    }

    /// Runs what must work.
    pub(super) fn say<A: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = A>) -> Result<Value> {
        self.product.answer(words)
    }

    /// A file in the repository.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.product.repo.path().join(name)
    }
}

impl Drop for Hostel {
    fn drop(&mut self) {
        let list = self.product.answer(["ps"]).unwrap_or_default();
        for session in list["sessions"].as_array().into_iter().flatten() {
            let name = session["name"].as_str().unwrap_or_default();
            self.product.run(["stop", "--id", name, "--timeout", "0"]);
        }
    }
}

/// The number of a process that a document names.
pub(super) fn pid(session: &Value, field: &str) -> Result<u32> {
    let number = session[field].as_u64().context("a session has processes")?;
    Ok(u32::try_from(number)?)
}

/// Looks until there is something, but not for ever.
pub(super) fn patiently<T>(what: &str, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let mut waited = Duration::ZERO;
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if waited > PATIENCE {
            bail!("it does not come to pass that {what}");
        }
        pause(MOMENT);
        waited += MOMENT;
    }
}

fn shown(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).replace('\0', " ");
    format!("process {pid} is left: {words}")
}
