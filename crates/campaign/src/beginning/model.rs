//! How `run` starts a warden and its holder, learnt from one that it started: so each can be started by itself.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::process::Command;

use anyhow::{Context as _, Result};
use handoff_core::SessionId;
use handoff_process::mint;
use handoff_testkit::Prefix;

use super::super::hostel::{Hostel, pid};
use super::super::product::Product;

/// The arguments of a warden, but for the name of the program.
pub(super) struct Model(Vec<OsString>);

impl Model {
    /// From a session that is ended again.
    pub(super) fn of_session(hostel: &Hostel) -> Result<Self> {
        let session = hostel.run("born", &["sh", "--", "-c", "exec sleep 1000", "x"])?;
        let holder = pid(&session, "holder_pid")?;
        let arguments = std::fs::read(format!("/proc/{holder}/cmdline"))?;
        let words = arguments.split(|byte| *byte == 0).skip(1);
        let mut words: Vec<OsString> = words
            .map(|word| OsString::from_vec(word.to_vec()))
            .collect();
        // The last one ends with a zero too.
        words.pop();
        let warden = position(&words, "--warden")?;
        words.drain(warden..warden + 2);
        let script = position(&words, "exec sleep 1000")?;
        words[script] = "exit 3".into();
        hostel.say(["stop", "--id", "born", "--timeout", "0"])?;
        Ok(Self(words))
    }

    /// A warden for a new session.
    pub(super) fn warden(&self, product: &Product, prefix: &Prefix) -> Command {
        let mut words = self.0.clone();
        if let Ok(session) = position(&words, "--session") {
            words[session + 1] = SessionId::from_uuid(mint()).to_string().into();
        }
        let mut command = product.env.command_under(prefix, product.env.binary());
        command.current_dir(product.repo.path()).args(words);
        command
    }

    /// A holder for a new session, with us behind it.
    pub(super) fn holder(&self, product: &Product, prefix: &Prefix) -> Command {
        let warden = self.warden(product, prefix);
        let mut words: Vec<OsString> = warden.get_args().map(OsString::from).collect();
        let command = words.iter().position(|word| *word == self.0[0]);
        let behind = ["--warden".into(), std::process::id().to_string().into()];
        let at = command.map_or(words.len(), |it| it + 1);
        words.splice(at..at, behind);
        let mut command = product.env.command(warden.get_program());
        command.current_dir(product.repo.path()).args(words);
        command
    }
}

fn position(words: &[OsString], wanted: &str) -> Result<usize> {
    let found = words.iter().position(|word| word == wanted);
    found.with_context(|| format!("a holder is started with `{wanted}`"))
}
