//! Damage of every kind: whatever the engine finds, the audit finds, and nothing that changes an answer passes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::stage::Stage;

/// A store with something of everything, folded up into one file; its answers, and where it lies.
struct Patient {
    stage: Stage,
    path: PathBuf,
    whole: Vec<u8>,
    answers: Vec<String>,
}

/// So many bits are flipped, and more until a few of them have mattered; about one in four does.
const FLIPS: usize = 24;
const MOST_FLIPS: usize = 240;

const QUESTIONS: [&str; 5] = [
    "queue list --all --json",
    "queue show leased --json",
    "queue show done --json",
    "events --everything --json",
    "package list --json",
];

impl Patient {
    fn new() -> Self {
        let stage = Stage::new();
        stage.repo.commit("first");
        for name in ["leased", "done", "queued", "held"] {
            stage.add(name);
        }
        stage
            .say("queue add waits --brief x --after queued")
            .success();
        // A lease of which as much is left at each look would be another answer.
        stage.say("queue complete done --summary fine").success();
        stage.say("hold held --reason wait").success();
        stage.say("context set colour \"red\"").success();
        stage.say("package create --resume-point x").success();
        stage.claim("leased");
        stage
            .say("queue release leased --fence 1 --reason no")
            .success();
        let path = stage.env.handoff_home().join("handoff.db");
        let mut patient = Self {
            stage,
            path,
            whole: vec![],
            answers: vec![],
        };
        patient.fold_up();
        patient.whole = fs::read(&patient.path).unwrap();
        patient.answers = patient.ask();
        patient
    }

    fn fold_up(&self) {
        let database = Connection::open(&self.path).unwrap();
        let fold = "PRAGMA wal_checkpoint(TRUNCATE)";
        database.query_row(fold, (), |_| Ok(())).unwrap();
    }

    /// With this content, and without a log.
    fn become_like(&self, content: &[u8]) {
        for end in ["-wal", "-shm"] {
            fs::remove_file(format!("{}{end}", self.path.display())).ok();
        }
        fs::write(&self.path, content).unwrap();
    }

    fn ask(&self) -> Vec<String> {
        let told = QUESTIONS.map(|words| {
            let output = self.stage.say(words);
            format!("{:?} {}", output.code(), output.stdout)
        });
        told.into_iter().collect()
    }

    fn is_found(&self) -> bool {
        let audited = self.stage.say("doctor --audit --json");
        let code = audited.code().unwrap();
        assert!([0, 12].contains(&code), "{}", audited.snapshot());
        code == 12
    }

    /// What the engine says by itself.
    fn engine_finds(&self) -> bool {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let found = Connection::open_with_flags(&self.path, flags).and_then(|database| {
            database.query_row("PRAGMA integrity_check", (), |row| row.get::<_, String>(0))
        });
        found.map_or(true, |found| found != "ok")
    }
}

#[test]
fn pages_that_were_zeroed_are_found() {
    let patient = Patient::new();
    let page = usize::from(u16::from_be_bytes([patient.whole[16], patient.whole[17]]));
    let pages = patient.whole.len() / page;
    let mut found = 0;
    // The first of each four: all of them in the campaign.
    for number in (0..pages).step_by(4) {
        let mut damaged = patient.whole.clone();
        damaged[number * page..(number + 1) * page].fill(0);
        patient.become_like(&damaged);
        let by_engine = patient.engine_finds();
        patient.become_like(&damaged);
        let is_found = patient.is_found();
        assert!(is_found || !by_engine, "page {number}");
        found += usize::from(is_found);
    }
    assert!(found > 3, "{found} of {pages}");
    patient.become_like(&patient.whole);
    assert!(!patient.is_found());
}

#[test]
fn no_flipped_bit_changes_an_answer_unnoticed() {
    let patient = Patient::new();
    // Fixed, so that a failure says which.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    // Most of a small database is empty: only bits are flipped where something is.
    let filled: Vec<_> = (0..patient.whole.len())
        .filter(|it| patient.whole[*it] != 0)
        .collect();
    let mut changed = 0;
    // Ids and times differ each time, and so does what a place holds: it goes on until a few bits have mattered.
    for tried in 1..=MOST_FLIPS {
        let (place, bit) = (filled[next(filled.len())], next(8));
        let mut damaged = patient.whole.clone();
        damaged[place] ^= 1 << bit;
        patient.become_like(&damaged);
        let is_found = patient.is_found();
        patient.become_like(&damaged);
        let is_changed = patient.ask() != patient.answers;
        assert!(is_found || !is_changed, "bit {bit} of byte {place}");
        changed += usize::from(is_changed);
        if tried >= FLIPS && changed > 3 {
            return;
        }
    }
    panic!("{changed} of {MOST_FLIPS} bits changed an answer");
}

/// A log that is gone or damaged looks like one that ended earlier.
#[test]
fn a_log_that_was_lost_or_damaged_is_found() {
    let patient = Patient::new();
    patient.stage.say("queue claim leased").success();
    patient
        .stage
        .say("queue fail leased --fence 2 --reason no")
        .success();
    let wal = PathBuf::from(format!("{}-wal", patient.path.display()));
    let log = fs::read(&wal).unwrap();
    let database = fs::read(&patient.path).unwrap();
    assert!(!patient.is_found());
    patient.become_like(&database);
    assert!(patient.is_found());
    for place in [40, log.len() / 3, log.len() / 2] {
        patient.become_like(&database);
        let mut damaged = log.clone();
        damaged[place] ^= 1;
        fs::write(&wal, damaged).unwrap();
        assert!(patient.is_found(), "{place} of {}", log.len());
    }
    patient.become_like(&database);
    fs::write(&wal, &log).unwrap();
    assert!(!patient.is_found());
}

/// The kinds of what is found, and that each says what is safe and what to do next.
fn kinds(stage: &Stage, code: i32) -> BTreeSet<String> {
    let output = stage.say("doctor --audit --json");
    assert_eq!(output.code(), Some(code), "{}", output.snapshot());
    let document = output.json();
    let faults = document["faults"].as_array().unwrap();
    let text = |it: &Value, field: &str| it[field].as_str().unwrap().to_owned();
    for fault in faults {
        for field in ["what", "safe", "next"] {
            assert!(!text(fault, field).is_empty(), "{fault}");
        }
        let next = text(fault, "next");
        for word in ["rm ", "delete", "reset", "--force", "prune"] {
            assert!(!next.contains(word), "{next}");
        }
    }
    faults.iter().map(|it| text(it, "kind")).collect()
}

#[track_caller]
fn assert_kinds(stage: &Stage, code: i32, expected: &[&str]) {
    let expected: BTreeSet<_> = expected.iter().map(|it| (*it).to_owned()).collect();
    assert_eq!(kinds(stage, code), expected);
}

#[test]
fn each_kind_of_disagreement_has_its_word() {
    let mut patient = Patient::new();
    patient.stage.say("hold --reason wait").success();
    patient.fold_up();
    patient.whole = fs::read(&patient.path).unwrap();
    for (change, kind) in [
        (
            "UPDATE tasks SET body = replace(body, 'Do held.', 'Do evil.')",
            "row_differs",
        ),
        (
            "UPDATE tasks SET rest_ends = 7 WHERE name = 'queued'",
            "column_differs",
        ),
        ("DELETE FROM dependencies", "column_differs"),
        (
            "UPDATE packages SET created_at = created_at + 1",
            "column_differs",
        ),
        (
            "UPDATE holds SET body = replace(body, 'wait', 'stop')",
            "row_differs",
        ),
        (
            "UPDATE context_entries SET body = replace(body, 'red', 'bad')",
            "row_differs",
        ),
        (
            "UPDATE events SET caller = '{\"type\":\"worker\"}' WHERE seq = 2",
            "event_changed",
        ),
        (
            "UPDATE events SET body = replace(body, 'type', 'tyqe') WHERE position = 3",
            "unreadable",
        ),
        (
            "UPDATE events SET at = at - 1 WHERE position = 3",
            "event_changed",
        ),
        (
            "UPDATE tasks SET version = 1, body = replace(body, '\"version\":3', '\"version\":1') WHERE name = 'leased'",
            "row_behind",
        ),
        ("DELETE FROM packages", "row_missing"),
        (
            "DELETE FROM events WHERE seq = 2 AND stream LIKE 'task%'",
            "history",
        ),
    ] {
        patient.become_like(&patient.whole);
        let database = Connection::open(&patient.path).unwrap();
        assert!(database.execute(change, ()).unwrap() > 0, "{change}");
        drop(database);
        let found = kinds(&patient.stage, 12);
        assert!(found.contains(kind), "{change}: {found:?}");
    }
    patient.become_like(&patient.whole);
    assert_kinds(&patient.stage, 0, &[]);
}

#[test]
fn packages_are_compared_with_their_files() {
    let stage = Stage::new();
    stage.repo.commit("first");
    let made = stage.json("package create --resume-point x");
    let path = PathBuf::from(made["path"].as_str().unwrap());
    assert_kinds(&stage, 0, &[]);
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replace("resume", "resumf")).unwrap();
    assert_kinds(&stage, 12, &["package_changed"]);
    fs::remove_file(&path).unwrap();
    assert_kinds(&stage, 12, &["package_missing"]);
    fs::write(&path, &whole).unwrap();
    let unknown = path.with_file_name("hof-pkg_0192f0c47d0a7c3e9f5b2a1c3d4e5f60.json");
    fs::write(unknown, &whole).unwrap();
    assert_kinds(&stage, 0, &["package_unknown"]);
}

#[test]
fn results_and_baselines_are_compared_with_the_repository() {
    let stage = Stage::new();
    stage.repo.commit("first");
    stage.add("fix");
    let script = "[[step]]\nwrite = { path = \"new.txt\", text = \"new\\n\" }\n";
    let script = stage.script("agent.toml", script);
    let words = ["worker", "--once", "--script", script.to_str().unwrap()];
    stage.run(words).success();
    assert_eq!(stage.state("fix"), "done");
    stage.say("baseline set main").success();
    assert_kinds(&stage, 0, &[]);
    let refs = stage.repo.refs();
    let branch = refs
        .keys()
        .find(|it| it.starts_with("refs/heads/handoff/"))
        .unwrap();
    stage.repo.git(["update-ref", "-d", branch]);
    assert_kinds(&stage, 0, &["result_unnamed"]);
    let found = stage.json("doctor --audit");
    let next = found["faults"][0]["next"].as_str().unwrap();
    let command = next.split('`').nth(1).unwrap();
    let words = command.strip_prefix("git ").unwrap();
    stage.repo.git(words.split(' '));
    assert_kinds(&stage, 0, &[]);
    stage.repo.git(["update-ref", "-d", branch]);
    stage
        .repo
        .git(["reflog", "expire", "--expire=now", "--all"]);
    fs::remove_dir_all(stage.repo.path().join(".git/handoff/packs")).ok();
    for pack in fs::read_dir(stage.repo.path().join(".git/objects/pack")).unwrap() {
        let pack = pack.unwrap().path();
        if pack.extension().is_some_and(|it| it == "keep") {
            fs::remove_file(pack).unwrap();
        }
    }
    stage.repo.git(["gc", "-q", "--prune=now"]);
    assert_kinds(&stage, 0, &["result_missing"]);
    stage
        .repo
        .git(["update-ref", "-d", "refs/handoff/baseline/main"]);
    assert_kinds(&stage, 0, &["baseline_ref", "result_missing"]);
}

#[test]
fn a_repository_of_another_ledger_is_found() {
    let stage = Stage::new();
    stage.add("a");
    let home = stage.env.work().join("other");
    let mut other = stage.command(["doctor", "--audit", "--json"]);
    other.env("HANDOFF_HOME", home);
    let found = stage.env.run(other).failure(12).json();
    assert_eq!(found["faults"][0]["kind"], "other_store");
}
