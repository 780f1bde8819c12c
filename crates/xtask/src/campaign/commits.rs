//! Faults of git that several share: a commit that is killed anywhere (D02G), its lock (D15), two who stage
//! in one tree (D16), one who prepared before another committed (D17), and a person who commits
//! while we look (D43).

use std::collections::BTreeSet;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use handoff_testkit::{Fault, Injection, When};

use super::product::Product;
use super::stage::{Findings, Stage, Tier, progress};
use super::sweep::{CALLS, Point, points_in};
use crate::program;

/// Small tiers look at every so many points.
const SAMPLE: usize = 24;

/// The commit that is struck: of one file, beside others' work.
const COMMIT: [&str; 5] = ["safe-commit", "-m", "work", "--", "mine"];

pub(super) fn kills(stage: &mut Stage) -> Result<()> {
    stage.trial("safe-commit", |stage| {
        let bed = Bed::with_a_commit(stage)?;
        sweep(stage, &bed)
    });
    // Known to fail at a few points (`docs/design/0010-git.md`), so it is no part of what every change must pass.
    if stage.tier == Tier::Full {
        stage.trial("worktree of a task", |stage| {
            let bed = Bed::with_a_task(stage)?;
            sweep(stage, &bed)
        });
    }
    Ok(())
}

/// A repository and a home that can be put back, what is done there, and what must be true afterwards.
struct Bed {
    product: Product,
    copy: tempfile::TempDir,
    words: Vec<String>,
    settle: fn(&Product) -> Result<Vec<String>>,
}

impl Bed {
    fn with_a_commit(stage: &Stage) -> Result<Self> {
        let product = stage.product();
        let repo = &product.repo;
        repo.write("mine", "old")
            .write("theirs", "old")
            .write("edited", "old");
        repo.commit("base");
        repo.write("theirs", "staged").git(["add", "theirs"]);
        repo.write("mine", "new").write("edited", "unsaved");
        product.add("first")?;
        Self::save(product, COMMIT.map(str::to_owned).to_vec(), settle_commit)
    }

    fn with_a_task(stage: &Stage) -> Result<Self> {
        let product = stage.product();
        product.add("task")?;
        let script = product.env.work().join("script.toml");
        let text = "[[step]]\nwrite = { path = \"new.txt\", text = \"new\" }\n";
        std::fs::write(&script, text)?;
        let words = ["worker", "--once", "--script", &script.to_string_lossy()];
        let words = words.map(str::to_owned).to_vec();
        Self::save(product, words, settle_task)
    }

    fn save(
        product: Product,
        words: Vec<String>,
        settle: fn(&Product) -> Result<Vec<String>>,
    ) -> Result<Self> {
        let bed = Self {
            product,
            copy: tempfile::tempdir()?,
            words,
            settle,
        };
        for (place, copy) in bed.places() {
            copy_tree(&place, &copy)?;
        }
        Ok(bed)
    }

    fn places(&self) -> [(PathBuf, PathBuf); 2] {
        let copy = self.copy.path();
        [
            (self.product.repo.path().to_owned(), copy.join("repo")),
            (self.product.home().to_owned(), copy.join("home")),
        ]
    }

    fn restore(&self) -> Result<()> {
        self.places()
            .iter()
            .try_for_each(|(place, copy)| copy_tree(copy, place))
    }

    /// Every call of the undisturbed command and of the git that it runs.
    fn points(&self) -> Result<Vec<Point>> {
        let log = self.copy.path().join("trace");
        let mut command = self.product.env.command("strace");
        let trace = format!("trace={}", CALLS.join(","));
        command
            .args(["-f", "-qq", "-y", "-e", &trace, "-o"])
            .arg(&log)
            .arg("--");
        command.arg(self.product.env.binary()).args(&self.words);
        command.current_dir(self.product.repo.path());
        let output = self.product.env.run(command);
        ensure!(
            output.status.success(),
            "cannot trace: {}",
            output.snapshot()
        );
        self.restore()?;
        Ok(points_in(&std::fs::read_to_string(&log)?, Path::is_dir))
    }

    /// Kills whoever comes to this point, and says what is wrong after the next commands.
    fn strike(&self, point: Point) -> Result<Vec<String>> {
        self.restore()?;
        let number = NonZeroU16::new(point.number).expect("calls are counted from 1");
        let prefix = Injection {
            syscalls: &[point.call],
            fault: Fault::Kill,
            when: When::Nth(number),
        }
        .prefix();
        self.product.run_under(&prefix, &self.words);
        let place = |it: String| format!("{} {}: {it}", point.call, point.number);
        let mut complaints = (self.settle)(&self.product)?;
        complaints.extend(leftovers(&self.product));
        Ok(complaints.into_iter().map(place).collect())
    }
}

fn sweep(stage: &Stage, bed: &Bed) -> Result<Findings> {
    let step = stage.count(SAMPLE, 1);
    let first = stage.dice("git").index(step);
    let points: Vec<_> = bed
        .points()?
        .into_iter()
        .skip(first)
        .step_by(step)
        .collect();
    ensure!(!points.is_empty(), "the command made no call at all");
    let mut complaints = vec![];
    for (done, point) in points.iter().enumerate() {
        progress("points", done, points.len());
        complaints.extend(bed.strike(*point)?);
    }
    Ok(Findings {
        count: points.len(),
        note: String::new(),
        complaints,
    })
}

/// After the next command the commit is there or not, others' work is as it was, and committing works.
fn settle_commit(product: &Product) -> Result<Vec<String>> {
    product.add("next")?;
    let mut complaints = vec![];
    let status = product.repo.status();
    let is_there = product.repo.git(["log", "-1", "--format=%s"]) == "work";
    let mut expected = vec![" M edited".to_owned(), "M  theirs".to_owned()];
    if is_there {
        let changes = product.repo.changes_of("HEAD");
        if changes != ["mine"] {
            complaints.push(format!("the commit has {changes:?}"));
        }
    } else {
        expected.insert(1, " M mine".to_owned());
    }
    if status != expected {
        complaints.push(format!(
            "committed: {is_there}, and the tree has {status:?}"
        ));
    }
    product.repo.write("mine", "newer");
    let again = product.run(COMMIT);
    if !again.status.success() {
        complaints.push(format!("cannot commit afterwards: {}", again.snapshot()));
    }
    Ok(complaints)
}

/// After the next worker the task is done, once, and its tree is gone.
fn settle_task(product: &Product) -> Result<Vec<String>> {
    let script = product.env.work().join("script.toml");
    let words = ["worker", "--once", "--script", &script.to_string_lossy()].map(str::to_owned);
    product.run(&words);
    product.run(&words);
    let task = product.answer(["queue", "show", "task"])?;
    let mut complaints = vec![];
    if task["state"] != "done" {
        complaints.push(format!("the task is {}", task["state"]));
    }
    let trees = product.repo.git(["worktree", "list", "--porcelain"]);
    let count = trees
        .lines()
        .filter(|line| line.starts_with("worktree "))
        .count();
    if count != 1 {
        complaints.push(format!("{count} trees are left"));
    }
    Ok(complaints)
}

/// Locks of git, booths of ours, and what `git fsck` says.
fn leftovers(product: &Product) -> Vec<String> {
    let git_dir = product.repo.path().join(".git");
    let mut complaints: Vec<_> = locks(&git_dir)
        .into_iter()
        .map(|path| format!("`{}` is left", path.display()))
        .collect();
    let booths = std::fs::read_dir(git_dir.join("handoff/commits"));
    if booths.is_ok_and(|mut it| it.next().is_some()) {
        complaints.push("a booth is left".to_owned());
    }
    let mut fsck = product.repo.command(["fsck", "--full", "--no-dangling"]);
    match fsck.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => complaints.push(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => complaints.push(error.to_string()),
    }
    complaints
}

/// Ours are never removed; they lie in our own directory.
fn locks(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return vec![];
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths
        .flat_map(|path| match path.is_dir() {
            true if path.ends_with("handoff") && directory.ends_with(".git") => vec![],
            true => locks(&path),
            false if path.extension().is_some_and(|it| it == "lock") => vec![path],
            false => vec![],
        })
        .collect()
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    let mut command = program::program("cp");
    command.arg("-a").arg(from).arg(to);
    ensure!(command.status()?.success(), "cannot copy");
    Ok(())
}

/// D15: never two at once, and who is killed is in nobody's way, even if what it started lives on.
pub(super) fn lock(stage: &mut Stage) -> Result<()> {
    stage.trial("six contenders", |stage| {
        let product = crowded(stage, 6);
        let marker = product.env.work().join("inside");
        let overlap = product.env.work().join("overlap");
        // Whoever is inside finds nobody else there.
        let body = format!(
            "mkdir {0} 2>/dev/null || echo x >> {1}\nrmdir {0}",
            marker.display(),
            overlap.display()
        );
        hook(&product, &body);
        let rounds = stage.count(5, 400);
        let mut complaints = crowd(&product, 6, rounds)?;
        if overlap.exists() {
            complaints.push("two were inside at once".to_owned());
        }
        complaints.extend(leftovers(&product));
        Ok(Findings {
            count: rounds * 6,
            note: String::new(),
            complaints,
        })
    });
    stage.trial("a holder is killed, its hook lives on", |stage| {
        let product = crowded(stage, 2);
        let rounds = stage.count(2, 20);
        let longest = (0..rounds).try_fold(Duration::ZERO, |longest, _| {
            Ok::<_, anyhow::Error>(longest.max(after_a_kill(&product)?))
        })?;
        let is_late = longest > NEXT_HOLDER;
        Ok(Findings {
            count: rounds,
            note: format!("the next one was done after {longest:.1?} at most"),
            complaints: is_late
                .then(|| "the next one waited".to_owned())
                .into_iter()
                .collect(),
        })
    });
    Ok(())
}

/// The next one is done within this time, its own commit included.
const NEXT_HOLDER: Duration = Duration::from_secs(1);

/// Kills one in the middle of its hook, and says how long the next one took.
fn after_a_kill(product: &Product) -> Result<Duration> {
    let reached = product.env.work().join("reached");
    std::fs::remove_file(&reached).ok();
    hook(
        product,
        &format!("rm \"$0\"\necho > {}\nexec sleep 30", reached.display()),
    );
    product.repo.write(own(1), product.repo.head());
    product.repo.write(own(0), product.repo.head() + "0");
    let mut first = quiet(product, ["safe-commit", "-m", "work", "--", &own(0)]).spawn()?;
    while !reached.exists() {
        ensure!(first.try_wait()?.is_none(), "the first one ended by itself");
        thread::yield_now();
    }
    first.kill()?;
    first.wait()?;
    let mut second = quiet(product, ["safe-commit", "-m", "work", "--", &own(1)]);
    let (status, took) = program::timed(|| second.status());
    ensure!(status?.success(), "the next one failed");
    Ok(took)
}

/// D16: two stage and commit in one tree.
pub(super) fn staging(stage: &mut Stage) -> Result<()> {
    stage.trial("two in one tree", |stage| {
        let product = crowded(stage, 2);
        let rounds = stage.count(10, 200);
        let mut complaints = crowd(&product, 2, rounds)?;
        let mixed = mixed(&product);
        if mixed > 0 {
            complaints.push(format!("{mixed} commits have files of both"));
        }
        complaints.extend(leftovers(&product));
        Ok(Findings {
            count: rounds * 2,
            note: format!(
                "{} commits",
                product.repo.git(["rev-list", "--count", "HEAD"])
            ),
            complaints,
        })
    });
    Ok(())
}

/// D17: one who prepared before another committed takes nothing back.
pub(super) fn stale(stage: &mut Stage) -> Result<()> {
    stage.trial("prepared before another's commit", |stage| {
        let product = stage.product();
        let repo = &product.repo;
        repo.write("a", "old").write("b", "old");
        repo.commit("base");
        let mut complaints = vec![];
        let rounds = stage.count(3, 50);
        for round in 0..rounds {
            let text = format!("{round}");
            // The hook is where another commits, after all was prepared; plain git, as people use it.
            hook(&product, &format!(
                "rm \"$0\"\nunset GIT_INDEX_FILE\necho {text} > b; echo {text} > new-{text}\ngit add b new-{text} && git commit -q -m theirs"
            ));
            repo.write("a", &text);
            product.answer(["safe-commit", "-m", "mine", "--", "a"])?;
            for (path, what) in [("a", "a"), ("b", "b"), (&*format!("new-{text}"), "new")] {
                if repo.file_of("HEAD", path).trim_end() != text {
                    complaints.push(format!("round {round}: {what} was taken back"));
                }
            }
        }
        Ok(Findings {
            count: rounds,
            note: String::new(),
            complaints,
        })
    });
    Ok(())
}

/// D43: a person commits while we look; they never meet a lock of ours.
pub(super) fn looking(stage: &mut Stage) -> Result<()> {
    stage.trial("a person commits while we look", |stage| {
        let product = stage.product();
        product.answer(["init", "feature"])?;
        let commits = stage.count(20, 200);
        let mut complaints = vec![];
        thread::scope(|scope| -> Result<()> {
            let (product, (sender, ended)) = (&product, std::sync::mpsc::channel::<()>());
            scope.spawn(move || {
                let is_over =
                    || ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected);
                while !is_over() {
                    product.run(["status"]);
                    product.run(["worktree", "list"]);
                }
            });
            for number in 0..commits {
                product.repo.write("file", format!("{number}"));
                let mut command =
                    product
                        .repo
                        .command(["commit", "-q", "-a", "--allow-empty", "-m", "x"]);
                let output = command.output()?;
                if !output.status.success() {
                    complaints.push(String::from_utf8_lossy(&output.stderr).into_owned());
                }
            }
            drop(sender);
            Ok(())
        })?;
        Ok(Findings {
            count: commits,
            note: String::new(),
            complaints,
        })
    });
    Ok(())
}

fn hook(product: &Product, body: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = product.repo.path().join(".git/hooks/pre-commit");
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("the repository is there");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("the hook is there");
}

fn crowded(stage: &Stage, workers: usize) -> Product {
    let product = stage.product();
    for worker in 0..workers {
        product
            .repo
            .write(own(worker), "")
            .write(format!("staged-{worker}"), "");
    }
    product.repo.commit("base");
    product
}

fn own(worker: usize) -> String {
    format!("own-{worker}")
}

/// All commit their own file again and again, and stage another one with plain git in between.
fn crowd(product: &Product, workers: usize, rounds: usize) -> Result<Vec<String>> {
    thread::scope(|scope| {
        let work = |worker| move || member(product, worker, rounds);
        let threads: Vec<_> = (0..workers).map(|it| scope.spawn(work(it))).collect();
        let ended = threads
            .into_iter()
            .map(|it| it.join().expect("nobody panics"));
        let complaints = ended.collect::<Result<Vec<_>>>()?;
        Ok(complaints.into_iter().flatten().collect())
    })
}

fn member(product: &Product, worker: usize, rounds: usize) -> Result<Vec<String>> {
    let (path, staged) = (own(worker), format!("staged-{worker}"));
    let mut complaints = vec![];
    for round in 0..rounds {
        product.repo.write(&path, format!("{round}"));
        let output = quiet(product, ["safe-commit", "-m", "work", "--", &path]).output()?;
        if !output.status.success() {
            complaints.push(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        product.repo.write(&staged, format!("{round}"));
        // It may meet a lock of another git.
        product.repo.command(["add", &staged]).output()?;
    }
    Ok(complaints)
}

fn quiet<const N: usize>(product: &Product, words: [&str; N]) -> Command {
    let mut command = product.env.command(product.env.binary());
    command.current_dir(product.repo.path()).args(words);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// How many commits change files of more than one, or what is only staged.
fn mixed(product: &Product) -> usize {
    let text = product
        .repo
        .git(["log", "--format=%x00", "--name-only", "--grep=work"]);
    let commits = text.split('\0').map(|it| {
        let names = it.lines().filter(|line| !line.is_empty());
        names.collect::<BTreeSet<_>>()
    });
    commits.filter(|names| names.len() > 1).count()
}
