//! How soon a message is in the child, above what no durable program can do without.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::hostel::Hostel;
use crate::race::{Lane, race, to_the_end};
use crate::report::{Report, Target};
use crate::samples::milliseconds;
use crate::{Run, binaries};
use handoff_chores::program::timed;

pub(crate) fn bench(run: &mut Run) -> Result<Report> {
    let binary = binaries::handoff(&run.profile)?;
    let hostel = Hostel::open(&binary)?;
    let mut shell = Shell::start(&hostel)?;
    let path = hostel.directory().join("appended");
    let mut appended = OpenOptions::new().create(true).append(true).open(path)?;
    let lanes = vec![
        Lane::new("version", || to_the_end(hostel.handoff(["version"]))),
        Lane::new("fdatasync", || append(&mut appended)),
        Lane::new("send", || shell.hears(&hostel)),
    ];
    let times = race(lanes, run.scope.choose(30, 300), &mut run.order)?;
    let median = |lane: &str| milliseconds(times[lane].median());
    let above = median("send") - median("version") - median("fdatasync");
    let mut report = run.report("send");
    report.figure(
        "`send` to the text in a shell, above start-up and one fdatasync",
        (above, "ms"),
        Target::AtMost(3.0),
    );
    report.keep_all(times);
    Ok(report)
}

/// A shell that repeats what it is told into a pipe, and the end of that pipe.
struct Shell {
    pipe: BufReader<File>,
    told: u64,
}

impl Shell {
    fn start(hostel: &Hostel) -> Result<Self> {
        let path = hostel.directory().join("pipe");
        make_pipe(hostel, &path)?;
        hostel.run("shell", &["bash", "--", "--norc", "--noprofile"])?;
        // Both sides at once: opening one waits for the other.
        let open = format!("exec 3>{}", path.display());
        hostel.say(["send", "--id", "shell", "--no-wait", "--message", &open])?;
        let pipe = BufReader::new(File::open(&path)?);
        Ok(Self { pipe, told: 0 })
    }

    /// From the start of the sender to the word of the shell.
    fn hears(&mut self, hostel: &Hostel) -> Result<Duration> {
        self.told += 1;
        let text = format!("echo {} >&3", self.told);
        let words = ["send", "--id", "shell", "--no-wait", "--message", &text];
        let mut command = hostel.handoff(words);
        command.stdout(std::process::Stdio::null());
        let (heard, time) = timed(|| -> Result<_> {
            let sender = command.spawn()?;
            let mut line = String::new();
            self.pipe.read_line(&mut line)?;
            Ok((sender, line))
        });
        let (mut sender, line) = heard.context("the shell says nothing")?;
        sender.wait()?;
        hostel.say(["wait", "--id", "shell", "--until", "idle"])?;
        if line.trim() != self.told.to_string() {
            bail!("the shell says {line:?} and not {}", self.told);
        }
        Ok(time)
    }
}

fn make_pipe(hostel: &Hostel, path: &Path) -> Result<()> {
    let status = hostel.program("mkfifo").arg(path).status()?;
    if !status.success() {
        bail!("cannot make a pipe");
    }
    Ok(())
}

/// About what a message takes on the disk.
fn append(file: &mut File) -> Result<Duration> {
    let (done, time) = timed(|| file.write_all(&[7; 512]).and_then(|()| file.sync_data()));
    done?;
    Ok(time)
}
