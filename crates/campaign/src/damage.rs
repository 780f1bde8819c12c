//! D21: pages of the ledger are zeroed, one after the other, and bits are flipped in it and in its log. Whatever the engine finds,
//! the audit finds, and nothing passes it that changes what `queue list`, `queue show` or `events` answer.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use rusqlite::{Connection, OpenFlags};

use super::product::{Product, exit};
use super::stage::{Findings, Stage, progress};

const QUESTIONS: [&[&str]; 4] = [
    &["queue", "list", "--all"],
    &["queue", "show", "done"],
    &["queue", "show", "again"],
    &["events", "--everything"],
];

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.trial("sqlite: pages zeroed in turn", |stage| {
        zeroed(&Patient::new(stage.product())?, stage.count(5, 1))
    });
    stage.trial("sqlite: bits flipped in the database", |stage| {
        flipped(stage, &Patient::new(stage.product())?, Part::Database)
    });
    stage.trial("sqlite: bits flipped in the log", |stage| {
        flipped(stage, &Patient::new(stage.product())?, Part::Log)
    });
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Database,
    Log,
}

/// A ledger with several kinds of rows, and what it answers.
struct Patient {
    product: Product,
    database: PathBuf,
    log: PathBuf,
    /// The content of the database, and that of its log.
    whole: (Vec<u8>, Vec<u8>),
    answers: Vec<String>,
}

impl Patient {
    fn new(product: Product) -> Result<Self> {
        for name in ["done", "again", "waiting", "held", "last"] {
            product.add(name)?;
        }
        for words in [
            &["queue", "complete", "done", "--summary", "fine"][..],
            &["hold", "held", "--reason", "wait"],
            &["context", "set", "colour", "\"red\""],
            &["package", "create", "--resume-point", "x"],
            &["queue", "claim", "again"],
            &[
                "queue", "release", "again", "--fence", "1", "--reason", "no",
            ],
        ] {
            product.answer(words)?;
        }
        let database = product.home().join("handoff.db");
        let fold = "PRAGMA wal_checkpoint(TRUNCATE)";
        Connection::open(&database)?.query_row(fold, (), |_| Ok(()))?;
        product.answer(["queue", "fail", "last", "--reason", "no"])?;
        let log = product.home().join("handoff.db-wal");
        let whole = (std::fs::read(&database)?, std::fs::read(&log)?);
        let mut patient = Self {
            product,
            database,
            log,
            whole,
            answers: vec![],
        };
        patient.answers = patient.ask();
        ensure!(
            !patient.is_found()?,
            "the audit finds something in a sound ledger"
        );
        Ok(patient)
    }

    fn become_like(&self, database: &[u8], log: &[u8]) -> Result<()> {
        // The index of the log is made anew.
        match std::fs::remove_file(self.database.with_extension("db-shm")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
        std::fs::write(&self.database, database)?;
        Ok(std::fs::write(&self.log, log)?)
    }

    fn ask(&self) -> Vec<String> {
        let told = QUESTIONS.iter().map(|words| {
            let output = self.product.run(*words);
            format!("{:?} {}", output.code(), output.stdout)
        });
        told.collect()
    }

    fn is_found(&self) -> Result<bool> {
        let output = self.product.run(["doctor", "--audit"]);
        let code = output.code().context("`doctor` ends by itself")?;
        let is_known = [exit::DONE, exit::CHECK_FAILED].contains(&code);
        ensure!(is_known, "`doctor` says: {}", output.snapshot());
        Ok(code == exit::CHECK_FAILED)
    }

    fn engine_finds(&self) -> bool {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let found = Connection::open_with_flags(&self.database, flags).and_then(|database| {
            database.query_row("PRAGMA integrity_check", (), |row| row.get::<_, String>(0))
        });
        found.map_or(true, |found| found != "ok")
    }
}

fn zeroed(patient: &Patient, step: usize) -> Result<Findings> {
    let (database, log) = &patient.whole;
    let page = usize::from(u16::from_be_bytes([database[16], database[17]]));
    let pages = database.len() / page;
    let mut findings = Findings::default();
    let (mut by_engine, mut by_audit) = (0, 0);
    for number in (0..pages).step_by(step) {
        progress("pages", number, pages);
        let mut damaged = database.clone();
        damaged[number * page..(number + 1) * page].fill(0);
        patient.become_like(&damaged, log)?;
        let engine_finds = patient.engine_finds();
        patient.become_like(&damaged, log)?;
        let is_found = patient.is_found()?;
        if engine_finds && !is_found {
            let complaint = format!("page {number} of {pages}: only the engine finds it");
            findings.complaints.push(complaint);
        }
        by_engine += usize::from(engine_finds);
        by_audit += usize::from(is_found);
        findings.count += 1;
    }
    findings.note = format!("{by_engine} found by the engine, {by_audit} by the audit");
    Ok(findings)
}

fn flipped(stage: &Stage, patient: &Patient, part: Part) -> Result<Findings> {
    let flips = match part {
        Part::Database => stage.count(20, 300),
        Part::Log => stage.count(10, 100),
    };
    let mut dice = stage.dice(&format!("{part:?}"));
    let (database, log) = &patient.whole;
    let content = match part {
        Part::Database => database,
        Part::Log => log,
    };
    // Most of a small file is empty, and flipping a bit there changes nothing.
    let filled: Vec<usize> = (0..content.len()).filter(|it| content[*it] != 0).collect();
    let mut findings = Findings::default();
    let (mut found, mut changed) = (0, 0);
    for number in 0..flips {
        progress("flips", number, flips);
        let (place, bit) = (filled[dice.index(filled.len())], dice.below(8));
        let mut damaged = content.clone();
        damaged[place] ^= 1 << bit;
        let (database, log) = match part {
            Part::Database => (&damaged, log),
            Part::Log => (database, &damaged),
        };
        patient.become_like(database, log)?;
        let is_found = patient.is_found()?;
        patient.become_like(database, log)?;
        let is_changed = patient.ask() != patient.answers;
        if is_changed && !is_found {
            let complaint = format!("bit {bit} of byte {place} changes an answer and is not found");
            findings.complaints.push(complaint);
        }
        found += usize::from(is_found);
        changed += usize::from(is_changed);
        findings.count += 1;
    }
    findings.note = format!("{found} found, {changed} changed an answer");
    Ok(findings)
}
