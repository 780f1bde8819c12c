//! D24: the terminal of a person is closed, or the connection drops, while they sit at a session.

use std::fs::File;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use handoff_process::ancestry;
use handoff_testkit::Prefix;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::hostel::{Hostel, patiently, pid};
use super::stage::{Findings, Stage};
use handoff_chores::processor_time::share_of_a_core;

/// What a session that nobody looks at may use of a core, in percent.
const REST: f64 = 1.0;

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.trial("during `run`", |stage| {
        let hostel = Hostel::open(stage.product());
        let words = ["run", "bash", "--id", "mine", "--", "--norc", "--noprofile"];
        close(stage, &hostel, &words)
    });
    stage.trial("during `attach`", |stage| {
        let hostel = Hostel::open(stage.product());
        hostel.bash("mine")?;
        close(stage, &hostel, &["attach", "--id", "mine"])
    });
    Ok(())
}

fn close(stage: &Stage, hostel: &Hostel, words: &[&str]) -> Result<Findings> {
    let mut seat = Seat::take(hostel, words)?;
    seat.until("bash-")?;
    patiently("the shell reads", || {
        Ok((hostel.listed("mine")?["state"] == "prompt").then_some(()))
    })?;
    let Seat { line, mut viewer } = seat;
    drop(line);
    patiently("the viewer ends", || Ok(viewer.try_wait()?))?;
    let mut complaints = vec![];
    let listed = hostel.listed("mine")?;
    if listed["state"] != "prompt" {
        complaints.push(format!("the session is {}", listed["state"]));
    }
    let holder = pid(&listed, "holder_pid")?;
    let processes = hostel.processes()?;
    for pid in &processes {
        if !is_of(holder, *pid) {
            complaints.push(format!("process {pid} belongs to no session"));
        }
    }
    let span = Duration::from_secs(stage.count(2, 60));
    let share = share_of_a_core(&processes, span)?;
    if share > REST {
        complaints.push(format!("it uses {share:.2} % of a core and does nothing"));
    }
    hostel.say(["stop", "--id", "mine"])?;
    complaints.extend(hostel.left()?);
    Ok(Findings {
        count: 1,
        note: format!("{share:.2} % of a core"),
        complaints,
    })
}

/// Whether a process is a holder, what is below it, or the one behind it.
fn is_of(holder: u32, pid: u32) -> bool {
    let above = |pid: u32| ancestry(pid).into_iter().map(|it| it.identity.pid);
    above(pid).any(|it| it == holder) || above(holder).nth(1) == Some(pid)
}

/// A person's terminal with a viewer on it.
struct Seat {
    line: File,
    viewer: Child,
}

impl Seat {
    fn take(hostel: &Hostel, words: &[&str]) -> Result<Self> {
        let line = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&line)?;
        unlockpt(&line)?;
        let path = ptsname(&line, vec![])?;
        let path = path.to_str()?;
        let other_side = || -> Result<Stdio> {
            let file = File::options().read(true).write(true).open(path)?;
            Ok(file.into())
        };
        let mut command = plain(hostel, words);
        command
            .stdin(other_side()?)
            .stdout(other_side()?)
            .stderr(other_side()?);
        let viewer = command.spawn()?;
        Ok(Self {
            line: line.into(),
            viewer,
        })
    }

    /// Reads until this was shown.
    fn until(&mut self, part: &str) -> Result<()> {
        let mut text = String::new();
        let mut buffer = [0; 4096];
        while !text.contains(part) {
            let length = self.line.read(&mut buffer).context(text.clone())?;
            ensure!(length > 0, "the viewer leaves: {text}");
            text.push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
        Ok(())
    }
}

/// The command as a person gives it, in a session with this terminal, which is what a closed one hangs up.
fn plain(hostel: &Hostel, words: &[&str]) -> Command {
    let product = &hostel.product;
    let prefix = Prefix::of(["setsid", "--ctty", "--wait"]);
    let mut command = product.env.command_under(&prefix, product.env.binary());
    command.args(words).current_dir(product.repo.path());
    command.env("TERM", "xterm");
    command
}
