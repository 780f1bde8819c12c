//! D40 to D42: packages from people who mean harm, and secrets that want to be sealed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use handoff_core::Digest;
use handoff_testkit::Output;
use serde_json::Value;

use super::product::{Product, exit, expect_code};
use super::stage::{Findings, Stage};

const MIB: usize = 1024 * 1024;
/// What a refusal may take, in bytes of memory.
const MEMORY: &str = "--data=67108864";

/// A package of the protocol with this in its place, as anybody can write one.
fn protocol(entries: &str, rest: &str) -> String {
    format!(
        r#"{{"id":"hof-1","sessionId":"s","cloneId":"c","createdAt":"2026-02-20T10:00:00Z","sourcePhase":"a","targetPhase":"b",
        "context":{{"entries":{entries},"size":1}},
        "checkpoint":{{"phase":"a","step":1,"totalSteps":2,"status":"paused","resumePoint":"p"}},
        "metadata":{{"version":"1.0","createdBy":"system","reason":"manual"}}{rest}}}"#
    )
}

pub(super) fn hostile(stage: &mut Stage) -> Result<()> {
    stage.trial("hostile files", |stage| refused(&stage.product()));
    Ok(())
}

fn hostile_files() -> Vec<(&'static str, Vec<u8>)> {
    let deep =
        |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    let value = |value: &str| format!(r#"[{{"key":"a","value":{}}}]"#, Value::from(value));
    let header = r#"{"format":"handoff-package","version":2,"key":""#;
    let text = |text: String| text.into_bytes();
    vec![
        ("empty", vec![]),
        ("zeros", vec![0; MIB]),
        ("no json", b"hello".to_vec()),
        ("not text", vec![0xff; 1000]),
        ("deep list", text(deep("[", "]"))),
        ("deep object", text(deep("{\"a\":", "}"))),
        ("deep entries", text(protocol(&deep("[", "]"), ""))),
        ("deep value", text(protocol(&value(&deep("[", "]")), ""))),
        (
            "key twice in a value",
            text(protocol(&value(r#"{"a":1,"a":2}"#), "")),
        ),
        ("field twice", text(protocol("[]", r#","id":"hof-2""#))),
        (
            "key twice",
            text(protocol(
                r#"[{"key":"a","value":"1"},{"key":"a","value":"2"}]"#,
                "",
            )),
        ),
        ("no value", text(protocol(&value("undefined"), ""))),
        (
            "path as id",
            text(protocol("[]", "").replace("hof-1", "../../\u{7}x")),
        ),
        (
            "bad time",
            text(protocol("[]", "").replace("2026-02-20T10", "2026-02-30T10")),
        ),
        ("long", text(protocol("[]", &" ".repeat(25 * MIB)))),
        (
            "endless header",
            text(format!("{header}{}", "a".repeat(9000))),
        ),
        ("half a header", text(header.to_owned())),
        (
            "a header alone",
            text(format!("{header}{}\"}}\n", "0".repeat(64))),
        ),
    ]
}

fn refused(product: &Product) -> Result<Findings> {
    product.answer(["context", "set", "a", "1"])?;
    let before = (product.events()?.len(), listing(product));
    let mut findings = Findings::default();
    for (what, bytes) in hostile_files() {
        let path = product.env.work().join("hostile.hof");
        fs::write(&path, bytes)?;
        let output = bounded(product, &["package", "import", &path.to_string_lossy()]);
        let codes = [exit::DAMAGED, exit::USAGE, 1];
        findings
            .complaints
            .extend(expect_code(&output, what, &codes));
        findings.count += 1;
    }
    if (product.events()?.len(), listing(product)) != before {
        findings.complaints.push("something was written".to_owned());
    }
    Ok(findings)
}

/// With no more memory than a refusal may take.
fn bounded(product: &Product, words: &[&str]) -> Output {
    let mut command = product.env.command("prlimit");
    command.arg(MEMORY).arg(product.env.binary());
    command.arg("--json").args(words);
    product.run_bounded(&command)
}

fn listing(product: &Product) -> Vec<PathBuf> {
    let packages = product.home().join("packages");
    let projects = fs::read_dir(packages).into_iter().flatten().flatten();
    let files = projects.flat_map(|it| fs::read_dir(it.path()).into_iter().flatten().flatten());
    let mut files: Vec<_> = files.map(|it| it.path()).collect();
    files.sort();
    files
}

pub(super) fn tampered(stage: &mut Stage) -> Result<()> {
    stage.trial("tampered with", |stage| {
        all_refused(&stage.product(), &stage.product())
    });
    Ok(())
}

/// Changed by somebody who can compute a digest, but has not the key.
fn variants(sealed: &str) -> Result<Vec<(&'static str, String)>> {
    let (header, payload) = sealed.split_once('\n').context("a header is a line")?;
    let changed = payload.replace("step 3", "step 9");
    let digest = |text: &str| Digest::of(text.as_bytes()).to_string();
    let rehashed = header.replace(&digest(payload), &digest(&changed));
    let expiry = header.find("\"expiresAt\":\"").context("it expires")?;
    let later = format!("{}2999{}", &header[..expiry + 13], &header[expiry + 17..]);
    let signature = header.find(",\"signature\"").context("it is signed")?;
    let unsigned = format!("{}}}", &header[..signature]);
    let key = header.find("\"key\":\"").context("it has a key")? + 7;
    let foreign = format!(
        "{}{}{}",
        &header[..key],
        "ab".repeat(32),
        &header[key + 64..]
    );
    Ok(vec![
        ("payload, with its digest", format!("{rehashed}\n{changed}")),
        ("payload alone", format!("{header}\n{changed}")),
        ("expiry", format!("{later}\n{payload}")),
        ("signature stripped", format!("{unsigned}\n{payload}")),
        ("another key", format!("{foreign}\n{payload}")),
        (
            "cut",
            format!("{header}\n{}", &payload[..payload.len() - 1]),
        ),
        ("longer", format!("{header}\n{payload} ")),
    ])
}

fn all_refused(product: &Product, other: &Product) -> Result<Findings> {
    product.answer(["context", "set", "a", "1"])?;
    let words = ["package", "create", "--resume-point", "step 3"];
    let made = product.answer(words)?;
    let id = made["id"].as_str().context("a package has an id")?;
    let file = made["path"].as_str().context("it lies in a file")?;
    let sealed = fs::read_to_string(file)?;
    let mut findings = Findings::default();
    let mut reasons: BTreeMap<String, &str> = BTreeMap::new();
    for (what, text) in variants(&sealed)? {
        let path = other.env.work().join("tampered.hof");
        fs::write(&path, text)?;
        let output = other.run(["package", "import", &path.to_string_lossy()]);
        findings
            .complaints
            .extend(expect_code(&output, what, &[exit::DAMAGED]));
        let said: Value = serde_json::from_str(&output.stdout)?;
        reasons.insert(said["causes"].to_string(), what);
        findings.count += 1;
    }
    // Whoever changes what is signed, or whose name stands there, breaks the same signature.
    if reasons.len() < findings.count - 2 {
        findings
            .complaints
            .push(format!("too few reasons: {reasons:?}"));
    }
    other.answer(["package", "import", file])?;
    let stranger = other.run(["package", "receive", id]);
    findings
        .complaints
        .extend(expect_code(&stranger, "a stranger's", &[9]));
    let brief = product.answer(["package", "create", "--ttl", "1ms"])?;
    let brief = brief["id"].as_str().context("a package has an id")?;
    let late = product.run(["package", "receive", brief]);
    findings
        .complaints
        .extend(expect_code(&late, "expired", &[exit::CONFLICT]));
    findings.complaints.extend(other.audit()?);
    findings.count += 2;
    Ok(findings)
}

pub(super) fn secrets(stage: &mut Stage) -> Result<()> {
    stage.trial("planted secrets", |stage| unsealed(&stage.product()));
    Ok(())
}

/// Made here, so that no scanner takes this file for a leak.
fn planted() -> Vec<String> {
    let mixed = |count: usize| "aB3dE5gH7jK9".repeat(8)[..count].to_owned();
    let upper = |count: usize| "A1B2C3D4".repeat(8)[..count].to_owned();
    let hex = |count: usize| "0123456789abcdef".repeat(5)[..count].to_owned();
    let prefixes = [
        ("ghp_", 36),
        ("github_pat_", 60),
        ("glpat-", 20),
        ("xoxb-", 30),
        ("sk-ant-", 40),
        ("sk-proj-", 48),
        ("sk_live_", 24),
        ("AIza", 35),
        ("GOCSPX-", 28),
        ("npm_", 36),
        ("pypi-AgE", 60),
        ("hf_", 34),
        ("dckr_pat_", 27),
        ("DB_PASSWORD=", 12),
        ("Authorization: Bearer ", 24),
    ];
    let mut all: Vec<_> = prefixes
        .iter()
        .map(|(prefix, count)| format!("{prefix}{}", mixed(*count)))
        .collect();
    all.push(format!("AKIA{}", upper(16)));
    all.push(format!("SK{}", hex(32)));
    all.push(format!("dapi{}", hex(32)));
    all.push(format!("postgres://me:{}@db/x", mixed(12)));
    all.push(format!(
        "it is: -----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
        mixed(60)
    ));
    all
}

fn unsealed(product: &Product) -> Result<Findings> {
    let mut findings = Findings::default();
    let mut heard = String::new();
    product.answer(["context", "set", "a", "1"])?;
    for (number, secret) in planted().iter().enumerate() {
        product.answer(["context", "set", "notes", secret, "--text"])?;
        let attached = format!("file{number}.txt");
        product.repo.write(&attached, format!("first\n{secret}\n"));
        let by_context = product.run(["package", "create"]);
        product.answer(["context", "rm", "notes"])?;
        let by_option = product.run(["package", "create", "--decision", secret]);
        let by_file = product.run(["package", "create", "--attach", &attached]);
        for output in [by_context, by_option, by_file] {
            let what = format!("secret {number}");
            findings
                .complaints
                .extend(expect_code(&output, &what, &[1]));
            heard.push_str(&output.stdout);
            heard.push_str(&output.stderr);
            findings.count += 1;
        }
        let value = secret
            .rsplit(['=', ' ', ':', '\n', '@'])
            .find(|it| it.len() >= 10);
        if heard.contains(value.unwrap_or(secret)) {
            findings
                .complaints
                .push(format!("secret {number} was told"));
        }
    }
    for name in [".env", "id_ed25519", ".netrc", "server.pem"] {
        product.repo.write(name, "A=1\n");
        let output = product.run(["package", "create", "--attach", name]);
        findings.complaints.extend(expect_code(&output, name, &[1]));
        findings.count += 1;
    }
    let listed = product.answer(["package", "list"])?;
    if listed["packages"]
        .as_array()
        .is_none_or(|it| !it.is_empty())
    {
        findings.complaints.push("a package was sealed".to_owned());
    }
    Ok(findings)
}
