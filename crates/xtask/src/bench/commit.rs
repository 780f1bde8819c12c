//! Many processes commit to one repository: ours beside the least that does the same (`flock` and
//! `git commit --only`) and beside plain git, whose commits take along what others have staged.
//! And what the guard costs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use handoff_testkit::{GitRepo, TestEnv};

use super::race::{Lane, race, to_the_end};
use super::report::{Report, Target};
use super::samples::{Samples, times};
use super::stage::Stage;
use super::{Run, binaries};
use crate::program::timed;

/// Processes that commit at the same time.
const WORKERS: usize = 8;
/// Files besides theirs, so that the index is not a toy.
const FILES: usize = 200;

/// How a commit is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Ours,
    Floor,
    Plain,
}

const WAYS: [Way; 3] = [Way::Ours, Way::Floor, Way::Plain];

/// One repository, and what was measured in it.
struct Field {
    way: Way,
    env: TestEnv,
    repo: GitRepo,
    waits: Vec<Duration>,
    spent: Duration,
    succeeded: usize,
}

pub(super) fn bench(run: &mut Run) -> Result<Report> {
    let binary = binaries::handoff(&run.profile)?;
    let mut fields: Vec<_> = WAYS.iter().map(|way| Field::new(*way, &binary)).collect();
    let slices = run.scope.choose(2, 10);
    let each = 5;
    for slice in 0..slices {
        for place in run.order.shuffle(fields.len()) {
            fields[place].play(&binary, slice, each)?;
        }
    }
    let mut report = run.report("commit");
    judge(&fields, slices * each * WORKERS, &mut report);
    shim(run, &binary, &mut report)?;
    Ok(report)
}

impl Field {
    fn new(way: Way, binary: &Path) -> Self {
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
        }
    }

    /// All workers commit so many times each; every second one also stages something of its own in between.
    fn play(&mut self, binary: &Path, slice: usize, each: usize) -> Result<()> {
        let this = &*self;
        let (results, spent) = timed(|| {
            thread::scope(|scope| {
                let work = |worker| move || this.work(binary, worker, slice, each);
                let threads: Vec<_> = (0..WORKERS).map(|it| scope.spawn(work(it))).collect();
                let ended = threads
                    .into_iter()
                    .map(|it| it.join().expect("it does not panic"));
                ended.collect::<Result<Vec<_>>>()
            })
        });
        self.spent += spent;
        for (waits, succeeded) in results? {
            self.waits.extend(waits);
            self.succeeded += succeeded;
        }
        Ok(())
    }

    fn work(
        &self,
        binary: &Path,
        worker: usize,
        slice: usize,
        each: usize,
    ) -> Result<(Vec<Duration>, usize)> {
        let mut waits = vec![];
        let mut succeeded = 0;
        for number in 0..each {
            let text = format!("{slice} {number}\n");
            self.repo.write(own(worker), &text);
            let (status, time) = timed(|| self.commit(binary, worker).status());
            succeeded += usize::from(status?.success());
            waits.push(time);
            if worker % 2 == 1 {
                self.repo.write(noise(worker), &text);
                // It may meet a lock, as it always may.
                self.quiet("git", &["add", &noise(worker)]).status()?;
            }
        }
        Ok((waits, succeeded))
    }

    fn commit(&self, binary: &Path, worker: usize) -> Command {
        let own = own(worker);
        match self.way {
            Way::Ours => self.quiet(binary, &["safe-commit", "-m", "work", "--", &own]),
            Way::Floor => {
                let words = [
                    "floor.lock",
                    "git",
                    "commit",
                    "-q",
                    "--only",
                    "-m",
                    "work",
                    "--",
                    &own,
                ];
                self.quiet("flock", &words)
            }
            Way::Plain => {
                let script = format!("git add {own} && git commit -q -m work");
                self.quiet("sh", &["-c", &script])
            }
        }
    }

    fn quiet(&self, program: impl AsRef<std::ffi::OsStr>, words: &[&str]) -> Command {
        let mut command = self.env.command(program);
        command.current_dir(self.repo.path()).args(words);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// How many commits change anything but one worker's own file.
    fn hijacked(&self) -> usize {
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

    fn commits(&self) -> usize {
        let count = self.repo.git(["rev-list", "--count", "HEAD"]);
        count.parse::<usize>().unwrap_or(0).saturating_sub(2)
    }

    fn rate(&self) -> f64 {
        self.succeeded as f64 / self.spent.as_secs_f64()
    }

    fn longest(&self) -> Duration {
        self.waits.iter().max().copied().unwrap_or_default()
    }
}

fn own(worker: usize) -> String {
    format!("own-{worker}")
}

fn noise(worker: usize) -> String {
    format!("noise-{worker}")
}

fn judge(fields: &[Field], asked: usize, report: &mut Report) {
    let [ours, floor, plain] = fields else {
        unreachable!("there are three ways");
    };
    report.figure(
        format!("commits of ours that landed, of {asked}"),
        (ours.commits() as f64, "commits"),
        Target::AtLeast(asked as f64),
    );
    report.figure(
        "commits of ours with a file of somebody else",
        (ours.hijacked() as f64, "commits"),
        Target::AtMost(0.0),
    );
    report.figure(
        "commits a second, beside `flock` and `git commit --only`",
        (ours.rate() / floor.rate(), "times"),
        Target::AtLeast(0.7),
    );
    report.figure(
        "longest wait, beside the floor's longest",
        (times(ours.longest(), floor.longest()), "times"),
        Target::AtMost(2.0),
    );
    report.remark(format!(
        "Ours makes {:.1} commits a second, the floor {:.1}; plain git {:.1}, {} of {asked} succeed and {} of them take along files of others.",
        ours.rate(),
        floor.rate(),
        plain.rate(),
        plain.succeeded,
        plain.hijacked()
    ));
    for field in fields {
        report.keep(
            format!("{:?}", field.way),
            Samples::of(field.waits.iter().copied()),
        );
    }
}

/// `git status` through the guard, beside git itself and an empty program.
fn shim(run: &mut Run, binary: &Path, report: &mut Report) -> Result<()> {
    let stage = Stage::set(binary, None)?;
    let empty = binaries::empty(&run.profile)?;
    stage.say(["git-guard", "install"])?;
    let guard: PathBuf = stage.state().join("guard/bin/git");
    ensure!(guard.exists(), "the guard is not where it should be");
    let status = |program: &Path| {
        let mut command = stage.program(program);
        command.arg("status").env("HANDOFF_ROLE", "sub-task");
        to_the_end(command)
    };
    let lanes = vec![
        Lane::new("git status", || status(Path::new("git"))),
        Lane::new("guarded git status", || status(&guard)),
        Lane::new("empty program", || to_the_end(stage.program(&empty))),
    ];
    let measured = race(lanes, run.scope.choose(50, 200), &mut run.order)?;
    let median = |name: &str| measured[name].median().as_secs_f64() * 1000.0;
    let above = median("guarded git status") - median("git status") - median("empty program");
    report.figure(
        "what the guard adds to `git status`, above one empty exec",
        (above, "ms"),
        Target::AtMost(0.5),
    );
    report.keep_all(measured);
    Ok(())
}
