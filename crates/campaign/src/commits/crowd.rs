//! D15 and D16: many commit and stage in one tree.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::super::product::Product;
use super::super::stage::{Findings, Stage};
use super::{hook, leftovers};
use handoff_chores::program;

/// D15: never two at once, and who is killed is in nobody's way, even if what it started lives on.
pub(crate) fn lock(stage: &mut Stage) -> Result<()> {
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
pub(crate) fn staging(stage: &mut Stage) -> Result<()> {
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
