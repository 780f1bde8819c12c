//! D47: backups under load, of which some are killed, and put back elsewhere: the same ledger, up to the moment of the copy.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use handoff_core::{Envelope, Event, TaskEvent};
use handoff_testkit::{Fault, Injection, Output, Prefix, When};

use super::crew::{Crew, Site};
use super::dice::Dice;
use super::door::{Door, Ledger};
use super::product::{Product, exit, expect_code};
use super::stage::{Findings, Stage, progress};

const WORKERS: usize = 3;
const ADDERS: usize = 2;
/// Calls at which somebody is killed: what changes names, and what makes them last.
const CALLS: [&str; 3] = ["fsync", "renameat2", "unlinkat"];

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.trial("sqlite: under load, with kills, put back", |stage| {
        let rounds = stage.count(3, 100);
        let mut dice = stage.dice("rounds");
        let (mut findings, mut events, mut kills) = (Findings::default(), 0, 0);
        for number in 0..rounds {
            progress("rounds", number, rounds);
            let mut round = Round::new(stage)?;
            let complaints = round.play(&mut dice)?;
            findings.complaints.extend(
                complaints
                    .into_iter()
                    .map(|it| format!("round {number}: {it}")),
            );
            events += round.events;
            kills += round.kills;
        }
        findings.count = rounds;
        findings.note = format!("{events} events came back, {kills} commands were killed");
        Ok(findings)
    });
    Ok(())
}

/// A ledger that others work with, a backup of it, and where that is put back.
struct Round {
    product: Product,
    scratch: tempfile::TempDir,
    events: usize,
    kills: usize,
}

impl Round {
    fn new(stage: &Stage) -> Result<Self> {
        Ok(Self {
            product: stage.product(),
            scratch: tempfile::tempdir()?,
            events: 0,
            kills: 0,
        })
    }

    fn play(&mut self, dice: &mut Dice) -> Result<Vec<String>> {
        self.product.add("first")?;
        let made = self
            .product
            .answer(["package", "create", "--resume-point", "x"])?;
        let package = made["id"]
            .as_str()
            .context("a package has an id")?
            .to_owned();
        let door = Door::Sqlite(self.product.home().to_owned());
        let project = self.product.project()?;
        let site = Site::of_project(door.clone(), project, self.scratch.path())?;
        let mut crew = Crew::new();
        for number in 0..WORKERS {
            crew.join(site.part("work", &format!("w{number}")))?;
        }
        for number in 0..ADDERS {
            crew.join(site.part("add", &format!("a{number}")))?;
        }
        crew.hear_of(10 + dice.below(40))?;
        crew.kill_and_restart(dice.index(WORKERS + ADDERS))?;
        let told = Ledger::read(&door)?.events.len();
        let backup = self.scratch.path().join("backup");
        let mut complaints = self.back_up(&backup, dice)?;
        crew.kill_all()?;
        let restored = self.scratch.path().join("restored");
        complaints.extend(self.restore(&backup, &restored, dice)?);
        let (live, back) = (
            Ledger::read(&door)?,
            Ledger::read(&Door::Sqlite(restored.clone()))?,
        );
        complaints.extend(back.faults.iter().cloned());
        complaints.extend(differences(&live.events, &back.events, told));
        self.events += back.events.len();
        let words = ["package", "show", &package];
        let shown = self.run_in(&restored, &Prefix::none(), &words);
        complaints.extend(expect_code(&shown, "package show", &[exit::DONE]));
        Ok(complaints)
    }

    fn run_in(&self, home: &Path, prefix: &Prefix, words: &[&str]) -> Output {
        let home = format!("HANDOFF_HOME={}", home.display());
        let prefix = Prefix::of(["env".to_owned(), home]).around(prefix.clone());
        self.product.run_under(&prefix, words)
    }

    /// One that was killed has no manifest, or all of the backup.
    fn back_up(&mut self, to: &Path, dice: &mut Dice) -> Result<Vec<String>> {
        let directory = to.to_str().context("a path of ours is text")?;
        let home = self.product.home().to_owned();
        let mut complaints = vec![];
        for _ in 0..dice.below(3) {
            self.run_in(&home, &struck(dice), &["backup", directory, "--yes"]);
            self.kills += 1;
            if to.join("manifest.json").exists() {
                break;
            }
            let check = self.run_in(&home, &Prefix::none(), &["restore", "--check", directory]);
            if check.code() == Some(exit::DONE) {
                complaints.push("an unfinished backup passed for one".to_owned());
            }
        }
        if !to.join("manifest.json").exists() {
            let made = self.run_in(&home, &Prefix::none(), &["backup", directory, "--yes"]);
            complaints.extend(expect_code(&made, "backup", &[exit::DONE]));
        }
        let check = self.run_in(&home, &Prefix::none(), &["restore", "--check", directory]);
        complaints.extend(expect_code(&check, "restore --check", &[exit::DONE]));
        Ok(complaints)
    }

    /// One that was killed has put back all of it or nothing.
    fn restore(&mut self, from: &Path, home: &Path, dice: &mut Dice) -> Result<Vec<String>> {
        let directory = from.to_str().context("a path of ours is text")?;
        let mut complaints = vec![];
        for _ in 0..dice.below(3) {
            self.run_in(home, &struck(dice), &["restore", directory, "--yes"]);
            self.kills += 1;
            if is_there(home) {
                let audited = self.run_in(home, &Prefix::none(), &["doctor", "--audit"]);
                complaints.extend(expect_code(&audited, "a killed restore", &[exit::DONE]));
            }
        }
        let restored = self.run_in(home, &Prefix::none(), &["restore", directory, "--yes"]);
        complaints.extend(expect_code(&restored, "restore", &[exit::DONE]));
        let audited = self.run_in(home, &Prefix::none(), &["doctor", "--audit"]);
        complaints.extend(expect_code(&audited, "doctor --audit", &[exit::DONE]));
        Ok(complaints)
    }
}

/// A ledger that counts: a note says so before it has its name.
fn is_there(home: &Path) -> bool {
    let names: [PathBuf; 2] = ["handoff.db", "handoff.replacement"].map(|it| home.join(it));
    names.iter().any(|it| it.exists())
}

fn struck(dice: &mut Dice) -> Prefix {
    let call = CALLS[dice.index(CALLS.len())];
    let number = 1 + u16::try_from(dice.below(24)).expect("a small number fits");
    let injection = Injection {
        syscalls: &[call],
        fault: Fault::Kill,
        when: When::nth(number),
    };
    injection.prefix_of_one()
}

/// What came back is what was there, from the first event on; of what had been there when the backup began, nothing is missing.
fn differences(live: &[Envelope], back: &[Envelope], told: usize) -> Vec<String> {
    let is_restored = |it: &Envelope| matches!(it.event, Event::Task(TaskEvent::Restored { .. }));
    let saved = back.iter().take_while(|it| !is_restored(it)).count();
    let mut complaints = vec![];
    if live.get(..saved) != Some(&back[..saved]) {
        complaints.push(format!(
            "the first {saved} events are not those that were there"
        ));
    }
    if !back[saved..].iter().all(is_restored) {
        complaints.push("something else than restored came behind the backup".to_owned());
    }
    if saved < told {
        complaints.push(format!(
            "{told} events were acknowledged, {saved} came back"
        ));
    }
    complaints
}
