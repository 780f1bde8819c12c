//! D20: the disk under the state directory has no byte left, or hardly one.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result};
use handoff_testkit::{Prefix, Tmpfs};

use super::door::Door;
use super::hostel::Hostel;
use super::product::{Product, exit, expect_code};
use super::stage::{Findings, Stage, progress};
use handoff_chores::program;

const DISK: u64 = 8 * 1024 * 1024;
const PAGE: u64 = 4096;
const LONGEST_WAIT: Duration = Duration::from_secs(2);

const READERS: [&[&str]; 6] = [
    &["queue", "list"],
    &["queue", "list", "--all"],
    &["queue", "show", "leased"],
    &["events"],
    &["doctor"],
    &["doctor", "--audit"],
];

const SESSION_READERS: [&[&str]; 5] = [
    &["ps"],
    &["status", "--sessions"],
    &["logs", "--id", "full"],
    &["pane", "--id", "full"],
    &["events", "--id", "full", "--snapshot"],
];

const WRITERS: [&[&str]; 4] = [
    &["queue", "add", "more", "--brief", "x"],
    &["queue", "claim", "ready"],
    &["queue", "heartbeat", "leased", "--fence", "1"],
    &["queue", "complete", "leased", "--fence", "1"],
];

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.trial("readers, nobody else there", |stage| {
        full(stage, Company::None, read)
    });
    stage.trial("readers, beside a follower", |stage| {
        full(stage, Company::Follower, read)
    });
    stage.trial("readers, without a shared-memory file", |stage| {
        full(stage, Company::None, |disk, product| {
            // As a copy from elsewhere has none, and as another program that reads the file leaves it.
            std::fs::remove_file(product.home().join("handoff.db-shm"))?;
            read_full(disk, product)
        })
    });
    stage.trial("writers, nobody else there", |stage| {
        full(stage, Company::None, write)
    });
    stage.trial("writers, beside a follower", |stage| {
        full(stage, Company::Follower, write)
    });
    stage.trial("the first command", first_use);
    stage.trial("a few pages left", few_pages_left);
    stage.trial("a session", session);
    Ok(())
}

/// Who has the store open while the disk fills up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Company {
    None,
    Follower,
}

fn on_disk(stage: &Stage) -> (Tmpfs, Product) {
    let disk = Tmpfs::mount(DISK);
    let mut product = stage.product();
    product.use_store(&Door::Sqlite(disk.path().join("home")));
    (disk, product)
}

fn full(
    stage: &Stage,
    company: Company,
    harm: fn(&Tmpfs, &Product) -> Result<Findings>,
) -> Result<Findings> {
    let (disk, product) = on_disk(stage);
    product.add("leased")?;
    product.answer(["queue", "claim", "leased", "--ttl", "1h"])?;
    product.add("ready")?;
    let mut follower = None;
    if company == Company::Follower {
        let mut command = product.command(&Prefix::none(), ["events", "--follow"]);
        let mut child = command
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()?;
        wait_for_line(&mut child)?;
        follower = Some(child);
    }
    let findings = harm(&disk, &product);
    if let Some(mut child) = follower {
        child.kill()?;
        child.wait()?;
    }
    findings
}

/// It has the store open once it has shown the first event.
fn wait_for_line(child: &mut std::process::Child) -> Result<()> {
    use std::io::BufRead as _;
    let stdout = child.stdout.take().context("its output is piped")?;
    let mut line = String::new();
    std::io::BufReader::new(stdout).read_line(&mut line)?;
    Ok(())
}

fn read(disk: &Tmpfs, product: &Product) -> Result<Findings> {
    product.events()?;
    read_full(disk, product)
}

fn read_full(disk: &Tmpfs, product: &Product) -> Result<Findings> {
    disk.fill();
    let mut complaints = Vec::new();
    for words in READERS {
        let output = product.run(words);
        complaints.extend(expect_code(&output, &words.join(" "), &[exit::DONE]));
    }
    disk.free();
    complaints.extend(product.audit()?);
    Ok(Findings {
        count: READERS.len(),
        complaints,
        ..Findings::default()
    })
}

fn write(disk: &Tmpfs, product: &Product) -> Result<Findings> {
    let before = product.events()?;
    disk.fill();
    let mut complaints = Vec::new();
    for words in WRITERS {
        let (output, took) = program::timed(|| product.run(words));
        complaints.extend(expect_code(&output, &words.join(" "), &[exit::NO_SPACE]));
        if took > LONGEST_WAIT {
            complaints.push(format!("{}: took {took:?}", words.join(" ")));
        }
    }
    disk.free();
    if product.events()? != before {
        complaints.push("a refused command changed something".to_owned());
    }
    for words in WRITERS {
        let output = product.run(words);
        complaints.extend(expect_code(&output, &words.join(" "), &[exit::DONE]));
    }
    complaints.extend(product.audit()?);
    Ok(Findings {
        count: WRITERS.len(),
        complaints,
        ..Findings::default()
    })
}

fn first_use(stage: &Stage) -> Result<Findings> {
    let (disk, product) = on_disk(stage);
    disk.fill();
    let add = || product.run(["queue", "add", "one", "--brief", "x"]);
    let refused = expect_code(&add(), "on a full disk", &[exit::NO_SPACE]);
    disk.free();
    let done = expect_code(&add(), "with space again", &[exit::DONE]);
    let mut complaints: Vec<String> = refused.into_iter().chain(done).collect();
    complaints.extend(product.audit()?);
    Ok(Findings {
        count: 1,
        complaints,
        ..Findings::default()
    })
}

/// A session goes on, can be looked at and stopped; what must be kept is refused; and its end is on record.
fn session(stage: &Stage) -> Result<Findings> {
    let (disk, product) = on_disk(stage);
    let hostel = Hostel::open(product);
    hostel.bash("full")?;
    disk.fill();
    let mut complaints = Vec::new();
    let mut expect = |words: &[&str], code: i32| {
        let (output, took) = program::timed(|| hostel.product.run(words));
        complaints.extend(expect_code(&output, &words.join(" "), &[code]));
        if took > LONGEST_WAIT {
            complaints.push(format!("{}: took {took:?}", words.join(" ")));
        }
    };
    expect(
        &["send", "--id", "full", "--message", "echo 1"],
        exit::NO_SPACE,
    );
    for words in SESSION_READERS {
        expect(words, exit::DONE);
    }
    expect(&["stop", "--id", "full"], exit::DONE);
    expect(&["logs", "--id", "full"], exit::DONE);
    disk.free();
    let listed = hostel.listed("full")?;
    if listed["state"] != "exited" {
        complaints.push(format!("its end is not on record: {}", listed["state"]));
    }
    complaints.extend(hostel.left()?);
    Ok(Findings {
        count: SESSION_READERS.len() + 3,
        complaints,
        ..Findings::default()
    })
}

/// Space runs out in the middle of something: each add says so or is there, and what follows works.
fn few_pages_left(stage: &Stage) -> Result<Findings> {
    let all = 64;
    let step = stage.count(8, 1);
    let mut findings = Findings::default();
    for pages in (0..all).step_by(step) {
        progress("pages left", pages, all);
        let complaints = with_pages_left(stage, pages as u64)?;
        let here = complaints
            .into_iter()
            .map(|it| format!("{pages} pages left: {it}"));
        findings.complaints.extend(here);
        findings.count += 1;
    }
    Ok(findings)
}

fn with_pages_left(stage: &Stage, pages: u64) -> Result<Vec<String>> {
    let (disk, product) = on_disk(stage);
    product.add("first")?;
    disk.fill();
    leave(&disk.path(), pages)?;
    let mut complaints = Vec::new();
    let mut acknowledged = vec!["first".to_owned()];
    // More than 64 pages hold, so that the last ones always meet a full disk.
    for number in 0..40 {
        let name = format!("t-{number}");
        let output = product.run(["queue", "add", &name, "--brief", &"x".repeat(8000)]);
        if output.status.success() {
            acknowledged.push(name);
            continue;
        }
        let codes = [exit::NO_SPACE, exit::OUTCOME_UNKNOWN];
        complaints.extend(expect_code(&output, &name, &codes));
        if number > acknowledged.len() + 3 {
            break;
        }
    }
    disk.free();
    for name in acknowledged {
        let shown = product.run(["queue", "show", &name]);
        complaints.extend(expect_code(&shown, "an acknowledged task", &[exit::DONE]));
    }
    product.add("last")?;
    complaints.extend(product.audit()?);
    Ok(complaints)
}

/// Gives pages back from what fills the disk.
fn leave(disk: &Path, pages: u64) -> Result<()> {
    let filler = std::fs::OpenOptions::new()
        .write(true)
        .open(disk.join("filler"))?;
    let length = filler.metadata()?.len();
    Ok(filler.set_len(length.saturating_sub(pages * PAGE))?)
}
