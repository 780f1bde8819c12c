//! Much output through a session and through tmux, in turns.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::hostel::Hostel;
use crate::Run;
use crate::race::{Lane, race, to_the_end};
use crate::report::{Report, Target};
use crate::samples::times;
use handoff_chores::program::{find_program, timed};

const MEGABYTE: usize = 1_000_000;

pub(super) fn through(binary: &Path, run: &mut Run, report: &mut Report) -> Result<()> {
    let hostel = Hostel::open(binary)?;
    let length = run.scope.choose(10, 100) * MEGABYTE;
    let source = write(hostel.directory(), length)?;
    let has_tmux = find_program("tmux").is_some();
    let tmux = has_tmux.then(|| Tmux::open(&hostel)).transpose()?;
    let mut number = 0;
    let mut lanes = vec![Lane::new("through a session", || {
        number += 1;
        through_us(&hostel, &source, &format!("flood-{number}"))
    })];
    if let Some(tmux) = &tmux {
        lanes.push(Lane::new("through tmux", || tmux.print(&source)));
    }
    let found = race(lanes, run.scope.choose(3, 7), &mut run.order)?;
    if has_tmux {
        let ours = found["through a session"].median();
        let ratio = times(ours, found["through tmux"].median());
        report.figure(
            format!("{} MB of output, against tmux", length / MEGABYTE),
            (ratio, "times"),
            Target::AtMost(1.0),
        );
    }
    report.keep_all(found);
    Ok(())
}

/// Lines as a build prints them.
fn write(directory: &Path, length: usize) -> Result<PathBuf> {
    let path = directory.join("flood.txt");
    let mut file = std::io::BufWriter::new(fs::File::create(&path)?);
    let mut written = 0;
    for number in 0.. {
        let line =
            format!("{number}: compiling the module that does what the one before did not\r\n");
        file.write_all(line.as_bytes())?;
        written += line.len();
        if written >= length {
            break;
        }
    }
    file.flush()?;
    Ok(path)
}

/// From the start of a session to its end. Every byte of what went through it is kept.
fn through_us(hostel: &Hostel, source: &Path, name: &str) -> Result<Duration> {
    let command = print(source);
    let (session, time) = timed(|| -> Result<Value> {
        let words = ["sh", "--log-limit", "0", "--", "-c", &command];
        let session = hostel.run(name, &words)?;
        to_the_end(hostel.handoff(["wait", "--id", name]))?;
        Ok(session)
    });
    let session = session?;
    let log = session["output_log_path"].as_str();
    let log = log.context("a session has a log")?;
    if fs::read(log)? != fs::read(source)? {
        bail!("what went through is not what came out");
    }
    fs::remove_file(log)?;
    Ok(time)
}

/// On a terminal that passes on what it gets, so that it can be compared.
fn print(source: &Path) -> String {
    format!("stty -opost; cat '{}'", source.display())
}

/// A tmux of our own, which is there before and after what is measured.
struct Tmux<'a> {
    hostel: &'a Hostel,
    socket: String,
}

impl<'a> Tmux<'a> {
    fn open(hostel: &'a Hostel) -> Result<Self> {
        let socket = hostel.directory().join("tmux").display().to_string();
        let tmux = Self { hostel, socket };
        to_the_end(tmux.command(&["new-session", "-d", "exec cat"]))?;
        Ok(tmux)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.hostel.program("tmux");
        command.args(["-S", &self.socket]).args(words);
        command
    }

    fn print(&self, source: &Path) -> Result<Duration> {
        let socket = &self.socket;
        let command = format!("{}; tmux -S '{socket}' wait-for -S done", print(source));
        let (done, time) = timed(|| -> Result<Duration> {
            let words = ["new-session", "-d", "-x", "200", "-y", "50", &command];
            to_the_end(self.command(&words))?;
            to_the_end(self.command(&["wait-for", "done"]))
        });
        done.map(|_| time)
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        // It ends with its directory at the latest.
        self.command(&["kill-server"]).status().ok();
    }
}
