//! D39: names that want to be paths, options, refs, shell or terminal commands.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::product::{Product, exit, expect_code};
use super::stage::{Findings, Stage};

/// None of these is a name. NUL is missing, as no argument can hold it.
const HOSTILE: [&str; 44] = [
    "",
    " ",
    ".",
    "..",
    "../x",
    "../../x",
    "..%2fx",
    "/tmp/x",
    "/etc/passwd",
    "a/b",
    "a/../b",
    "a//b",
    "./a",
    "a\\b",
    ".git",
    ".hidden",
    "a.",
    "a..b",
    "a.lock",
    "a\n",
    "a\nb",
    "a\r",
    "a\tb",
    "a b",
    " a",
    "A",
    "CON",
    "café",
    "cafe\u{301}",
    "a\u{202e}b",
    "a\u{200b}b",
    "\u{1b}[31ma",
    "a\u{7}",
    "a\u{9b}31m",
    "$(touch x)",
    "`touch x`",
    "a;touch x",
    "a|b",
    "*",
    "~root",
    "refs/heads/main",
    "a@{1}",
    "a^b",
    "a:b",
];

const COMMANDS: [fn(OsString) -> Vec<OsString>; 6] = [
    |name| words(&["queue", "add", "--brief", "x"], "--", name),
    |name| words(&["queue", "show"], "--", name),
    |name| words(&["queue", "claim"], "--", name),
    |name| words(&["queue", "complete"], "--", name),
    |name| words(&["queue", "cancel", "--yes"], "--", name),
    |name| words(&["dump", "--next", "x"], "--task", name),
];

fn words(start: &[&str], before: &str, name: OsString) -> Vec<OsString> {
    let start = start.iter().copied().map(OsString::from);
    start.chain([before.into(), name]).collect()
}

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.trial("refused", |stage| refused(&stage.product()));
    stage.trial("kept apart", |stage| kept_apart(&stage.product()));
    Ok(())
}

fn corpus() -> Vec<OsString> {
    let long = ["a".repeat(65), "a".repeat(300), "a".repeat(100_000)];
    let options = ["-rf", "--output=x", "--upload-pack=touch"];
    let texts = HOSTILE.iter().chain(&options).map(OsString::from);
    let bytes = [vec![0xff, 0xfe], b"a\xc3".to_vec()];
    let bytes = bytes.into_iter().map(OsString::from_vec);
    texts.chain(long.map(OsString::from)).chain(bytes).collect()
}

fn refused(product: &Product) -> Result<Findings> {
    product.add("first")?;
    let (outside, events) = (everything_but_state(product)?, product.events()?);
    let mut findings = Findings::default();
    for name in corpus() {
        for command in COMMANDS {
            let words = command(name.clone());
            let shown = format!("{:.60}", format!("{words:?}"));
            let output = product.run(&words);
            findings
                .complaints
                .extend(expect_code(&output, &shown, &[exit::USAGE]));
            findings.count += 1;
        }
    }
    let after = everything_but_state(product)?;
    let made = after.symmetric_difference(&outside);
    let made = made.map(|path| format!("appeared or vanished: {}", path.display()));
    findings.complaints.extend(made);
    if product.events()? != events {
        findings
            .complaints
            .push("a refused name changed the ledger".to_owned());
    }
    findings.complaints.extend(product.audit()?);
    Ok(findings)
}

/// Names that a careless mapping would fold into one.
fn kept_apart(product: &Product) -> Result<Findings> {
    let names = ["a.b", "a-b", "a_b", "ab", "con", "nul", "0"];
    for name in names {
        product.add(name)?;
    }
    let mut complaints = Vec::new();
    let mut ids = BTreeSet::new();
    for name in names {
        let task = product.answer(["queue", "show", name])?;
        if task["name"] != name {
            complaints.push(format!("{name} is {}", task["name"]));
        }
        ids.insert(task["id"].to_string());
    }
    if ids.len() != names.len() {
        complaints.push(format!("{} tasks for {} names", ids.len(), names.len()));
    }
    Ok(Findings {
        count: names.len(),
        complaints,
        ..Findings::default()
    })
}

/// All paths of the sandbox except what the product may make: its state, and its part of the git directory.
fn everything_but_state(product: &Product) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mark = product.repo.path().join(".git/handoff");
    let allowed = [product.home(), mark.as_path()];
    walk(product.env.root(), &allowed, &mut found)?;
    Ok(found)
}

fn walk(directory: &Path, allowed: &[&Path], found: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        if allowed.contains(&path.as_path()) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            walk(&path, allowed, found)?;
        }
        found.insert(path);
    }
    Ok(())
}
