//! Processes that play parts, and what the conductor does to them: kill, stop, continue, start again.
//!
//! Only processes that were started here, and are not yet waited for, are ever signalled.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use handoff_core::ProjectId;
use handoff_testkit::Prefix;
use rustix::process::{Pid, Signal, kill_process};

use super::door::{Door, fresh_project};

/// A part that says nothing for so long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The place of a crew: a store, and a directory outside of it for histories.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) door: Door,
    pub(super) project: ProjectId,
    outside: PathBuf,
}

impl Site {
    pub(super) fn new(door: Door, outside: &Path) -> Result<Self> {
        Self::of_project(door, fresh_project(), outside)
    }

    pub(super) fn of_project(door: Door, project: ProjectId, outside: &Path) -> Result<Self> {
        std::fs::create_dir_all(outside.join("histories"))?;
        // Made here, so that a crew that comes to nothing can still be read.
        door.open()?;
        Ok(Self {
            door,
            project,
            outside: outside.to_owned(),
        })
    }

    pub(super) fn histories(&self) -> PathBuf {
        self.outside.join("histories")
    }

    /// Lets the parts come to an end.
    pub(super) fn announce_end(&self) -> Result<()> {
        Ok(std::fs::write(self.end(), "")?)
    }

    fn end(&self) -> PathBuf {
        self.outside.join("end")
    }

    /// The words of a part that works here under a name of its own.
    pub(super) fn part(&self, part: &str, name: &str) -> Vec<String> {
        let (history, end) = (self.histories().join(name), self.end());
        let (door, project) = (self.door.to_string(), self.project.to_string());
        let words = [
            "part",
            part,
            "--door",
            &door,
            "--project",
            &project,
            "--history",
            &history.to_string_lossy(),
            "--end",
            &end.to_string_lossy(),
        ];
        words.map(str::to_owned).to_vec()
    }
}

#[derive(Debug)]
struct Member {
    words: Vec<String>,
    prefix: Prefix,
    child: Child,
}

/// What a member said.
#[derive(Debug)]
pub(super) enum News {
    Line(String),
    /// It said its last.
    Ended,
}

/// Members are known by the order they joined in.
#[derive(Debug)]
pub(super) struct Crew {
    members: Vec<Member>,
    news: Receiver<(usize, u32, News)>,
    reporter: Sender<(usize, u32, News)>,
}

impl Crew {
    pub(super) fn new() -> Self {
        let (reporter, news) = mpsc::channel();
        Self {
            members: Vec::new(),
            news,
            reporter,
        }
    }

    pub(super) fn join(&mut self, words: Vec<String>) -> Result<usize> {
        self.join_under(Prefix::none(), words)
    }

    pub(super) fn join_under(&mut self, prefix: Prefix, words: Vec<String>) -> Result<usize> {
        let number = self.members.len();
        let child = start(&prefix, &words, number, &self.reporter)?;
        self.members.push(Member {
            words,
            prefix,
            child,
        });
        Ok(number)
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// The next thing that a living member says. Words of a killed one that were still on the way count, its end
    /// does not.
    pub(super) fn hear(&mut self) -> Result<(usize, News)> {
        loop {
            let (number, pid, news) = match self.news.recv_timeout(PATIENCE) {
                Ok(heard) => heard,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    bail!("nobody said anything for {PATIENCE:?}")
                }
            };
            let is_stale = self.members[number].child.id() != pid;
            match news {
                News::Ended if is_stale => {}
                News::Line(_) | News::Ended => return Ok((number, news)),
            }
        }
    }

    /// Hears of so many things that were done, and says who did the last. A member that ends before it was told
    /// to is an error.
    pub(super) fn hear_of(&mut self, count: u64) -> Result<usize> {
        let (mut heard, mut last) = (0, 0);
        while heard < count {
            match self.hear()? {
                (number, News::Ended) => {
                    bail!("{} ended by itself", self.members[number].words.join(" "))
                }
                (number, News::Line(line)) if line != "Nothing" => {
                    (heard, last) = (heard + 1, number);
                }
                (_, News::Line(_)) => {}
            }
        }
        Ok(last)
    }

    /// Hears the lines of one member until one of them is as wished.
    pub(super) fn hear_from(
        &mut self,
        member: usize,
        is_wished: impl Fn(&str) -> bool,
    ) -> Result<String> {
        loop {
            match self.hear()? {
                (number, News::Line(line)) if number == member && is_wished(&line) => {
                    return Ok(line);
                }
                (number, News::Ended) if number == member => bail!("member {number} ended"),
                (_, News::Line(_) | News::Ended) => {}
            }
        }
    }

    /// Kills it; its successor goes on with the same history.
    pub(super) fn kill_and_restart(&mut self, number: usize) -> Result<()> {
        let words = self.members[number].words.clone();
        self.kill_and_replace(number, words)
    }

    /// Kills it; another one takes its place.
    pub(super) fn kill_and_replace(&mut self, number: usize, words: Vec<String>) -> Result<()> {
        self.kill(number)?;
        let member = &mut self.members[number];
        member.child = start(&member.prefix, &words, number, &self.reporter)?;
        member.words = words;
        Ok(())
    }

    pub(super) fn kill(&mut self, number: usize) -> Result<()> {
        let child = &mut self.members[number].child;
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    pub(super) fn kill_all(&mut self) -> Result<()> {
        (0..self.len()).try_for_each(|number| self.kill(number))
    }

    pub(super) fn signal(&self, number: usize, signal: Signal) -> Result<()> {
        // The child is not waited for, so its number is still its own.
        Ok(kill_process(
            Pid::from_child(&self.members[number].child),
            signal,
        )?)
    }

    /// No member executes another instruction of its own; a system call in flight may still go on.
    pub(super) fn freeze(&self) -> Result<()> {
        (0..self.len()).try_for_each(|number| self.signal(number, Signal::STOP))
    }

    /// Waits until all have come to their end, and says who did not end well.
    pub(super) fn wait(&mut self) -> Result<Vec<String>> {
        let mut living = self.len();
        while living > 0 {
            if let (_, News::Ended) = self.hear()? {
                living -= 1;
            }
        }
        let mut complaints = Vec::new();
        for member in &mut self.members {
            let status = member.child.wait()?;
            if !status.success() {
                complaints.push(format!("`{}` ended with {status}", member.words.join(" ")));
            }
        }
        Ok(complaints)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        // Those that were waited for are not signalled again.
        self.kill_all().ok();
    }
}

fn start(
    prefix: &Prefix,
    words: &[String],
    number: usize,
    reporter: &Sender<(usize, u32, News)>,
) -> Result<Child> {
    // By its process and not by its name: cargo may have replaced the file since we were started.
    let this = format!("/proc/{}/exe", std::process::id());
    let mut command: Command = prefix.command(this);
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    let lines = BufReader::new(child.stdout.take().context("its output is piped")?).lines();
    let (reporter, pid) = (reporter.clone(), child.id());
    std::thread::spawn(move || {
        let spoken = lines.map_while(Result::ok).map(News::Line);
        for news in spoken.chain([News::Ended]) {
            // Nobody listens any more when the crew is gone.
            if reporter.send((number, pid, news)).is_err() {
                return;
            }
        }
    });
    Ok(child)
}
