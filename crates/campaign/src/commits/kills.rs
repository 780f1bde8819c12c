//! D02G: a commit, and the making of a tree, are killed anywhere.

use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use handoff_testkit::{Fault, Injection, When};

use super::super::product::Product;
use super::super::stage::{Findings, Stage, progress};
use super::super::sweep::{CALLS, Point, points_in};
use super::leftovers;
use handoff_chores::program;

/// Small tiers look at every so many points of a commit, and of a whole attempt, which has many more.
const OF_A_COMMIT: usize = 24;
const OF_AN_ATTEMPT: usize = 120;

/// The commit that is struck: of one file, beside others' work.
const COMMIT: [&str; 5] = ["safe-commit", "-m", "work", "--", "mine"];

pub(crate) fn kills(stage: &mut Stage) -> Result<()> {
    stage.trial("safe-commit", |stage| {
        let bed = Bed::with_a_commit(stage)?;
        sweep(stage, &bed, OF_A_COMMIT)
    });
    stage.trial("worktree of a task", |stage| {
        let bed = Bed::with_a_task(stage)?;
        sweep(stage, &bed, OF_AN_ATTEMPT)
    });
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
        Ok(points_in(
            &std::fs::read_to_string(&log)?,
            &CALLS,
            Path::is_dir,
        ))
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

fn sweep(stage: &Stage, bed: &Bed, sample: usize) -> Result<Findings> {
    let step = stage.count(sample, 1);
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
    // The worker may have lived, and taken the death of its session for trouble with the agent: then the task rests.
    product.run(["unhold", "task"]);
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

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    let mut command = program::program("cp");
    command.arg("-a").arg(from).arg(to);
    ensure!(command.status()?.success(), "cannot copy");
    Ok(())
}
