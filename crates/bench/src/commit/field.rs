//! One repository in which many commit in one way, and what was measured there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use handoff_testkit::{GitRepo, TestEnv};

use handoff_chores::program::timed;

/// Processes that commit at the same time.
pub(super) const WORKERS: usize = 8;
/// Files besides theirs, so that the index is not a toy.
const FILES: usize = 200;

/// How a commit is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Ours(PathBuf),
    /// The least that keeps two commits apart.
    Floor,
    /// The same for what survives a power cut.
    DurableFloor,
    Plain,
    Fanout(PathBuf),
}

impl Way {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Ours(_) => "ours",
            Self::Floor => "flock and commit --only",
            Self::DurableFloor => "the same, synced",
            Self::Plain => "plain git",
            Self::Fanout(_) => "handoff-fanout",
        }
    }

    /// The program and its words.
    fn words(&self, own: &str) -> (PathBuf, Vec<String>) {
        let flock = |settings: &str| {
            let line = format!("floor.lock git {settings} commit -q --only -m work -- {own}");
            ("flock".into(), split(&line))
        };
        match self {
            Self::Ours(binary) => (
                binary.clone(),
                split(&format!("safe-commit -m work -- {own}")),
            ),
            Self::Floor => flock("--no-pager"),
            Self::DurableFloor => flock("-c core.fsync=objects,reference"),
            Self::Plain => {
                let script = format!("git add {own} && git commit -q -m work");
                ("sh".into(), vec!["-c".to_owned(), script])
            }
            Self::Fanout(program) => (program.clone(), split(&format!("-m work -- {own}"))),
        }
    }
}

fn split(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// One repository, and what was measured in it.
pub(super) struct Field {
    pub(super) way: Way,
    env: TestEnv,
    repo: GitRepo,
    pub(super) waits: Vec<Duration>,
    spent: Duration,
    succeeded: usize,
    /// What each worker committed last, as far as it was told that it had.
    last: Vec<String>,
}

/// What became of one worker's commits.
struct Work {
    waits: Vec<Duration>,
    succeeded: usize,
    last: Option<String>,
}

impl Field {
    pub(super) fn new(way: Way, binary: &Path) -> Self {
        let env = TestEnv::new(binary);
        let repo = env.repo("repo");
        for file in 0..FILES {
            repo.write(format!("src/file-{file}"), "text\n");
        }
        for worker in 0..WORKERS {
            repo.write(own(worker), "").write(noise(worker), "");
        }
        repo.commit("base");
        Self {
            way,
            env,
            repo,
            waits: vec![],
            spent: Duration::ZERO,
            succeeded: 0,
            last: vec![String::new(); WORKERS],
        }
    }

    /// All workers commit so many times each; every second one also stages something of its own in between.
    pub(super) fn play(&mut self, slice: usize, each: usize) -> Result<()> {
        let this = &*self;
        let (works, spent) = timed(|| {
            thread::scope(|scope| {
                let work = |worker| move || this.work(worker, slice, each);
                let threads: Vec<_> = (0..WORKERS).map(|it| scope.spawn(work(it))).collect();
                let ended = threads
                    .into_iter()
                    .map(|it| it.join().expect("it does not panic"));
                ended.collect::<Result<Vec<_>>>()
            })
        });
        self.spent += spent;
        for (worker, work) in works?.into_iter().enumerate() {
            self.waits.extend(work.waits);
            self.succeeded += work.succeeded;
            if let Some(last) = work.last {
                self.last[worker] = last;
            }
        }
        Ok(())
    }

    fn work(&self, worker: usize, slice: usize, each: usize) -> Result<Work> {
        let mut work = Work {
            waits: vec![],
            succeeded: 0,
            last: None,
        };
        for number in 0..each {
            let text = format!("{slice} {number}");
            self.repo.write(own(worker), &text);
            let (program, words) = self.way.words(&own(worker));
            let (status, time) = timed(|| self.quiet(&program, &words).status());
            if status?.success() {
                work.succeeded += 1;
                work.last = Some(text.clone());
            }
            work.waits.push(time);
            if worker % 2 == 1 {
                self.repo.write(noise(worker), &text);
                // It may meet a lock, as it always may.
                let words = ["add".to_owned(), noise(worker)];
                self.quiet(Path::new("git"), &words).status()?;
            }
        }
        Ok(work)
    }

    fn quiet(&self, program: &Path, words: &[String]) -> Command {
        let mut command = self.env.command(program);
        command.current_dir(self.repo.path()).args(words);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// How many commits change anything but one worker's own file.
    pub(super) fn hijacked(&self) -> usize {
        let log = ["log", "--format=%x00", "--name-only", "HEAD"];
        let text = self.repo.git(log);
        let commits = text
            .split('\0')
            .map(|it| it.lines().filter(|line| !line.is_empty()));
        let sizes: Vec<_> = commits
            .map(Iterator::count)
            .filter(|count| *count > 0)
            .collect();
        // The last one is the base, which has them all.
        sizes
            .iter()
            .rev()
            .skip(2)
            .filter(|count| **count > 1)
            .count()
    }

    /// How many workers were told that something is committed which is not.
    pub(super) fn lost(&self) -> usize {
        let is_there = |worker: usize| {
            let found = self.repo.file_of("HEAD", &own(worker));
            found.trim_end() == self.last[worker]
        };
        (0..WORKERS).filter(|worker| !is_there(*worker)).count()
    }

    pub(super) fn commits(&self) -> usize {
        let count = self.repo.git(["rev-list", "--count", "HEAD"]);
        count.parse::<usize>().unwrap_or(0).saturating_sub(2)
    }

    pub(super) fn rate(&self) -> f64 {
        self.succeeded as f64 / self.spent.as_secs_f64()
    }

    pub(super) fn longest(&self) -> Duration {
        self.waits.iter().max().copied().unwrap_or_default()
    }

    /// All of it in one sentence.
    pub(super) fn told(&self) -> String {
        format!(
            "{}: {} of {} commits were made, {:.1} a second; {} of them have files of others, {} were lost again.",
            self.way.name(),
            self.succeeded,
            self.waits.len(),
            self.rate(),
            self.hijacked(),
            self.lost()
        )
    }
}

fn own(worker: usize) -> String {
    format!("own-{worker}")
}

fn noise(worker: usize) -> String {
    format!("noise-{worker}")
}
