//! D19: two want the same file by different names, and one commits what it does not own.

use anyhow::{Context as _, Result};

use super::super::product::{Product, exit, expect_code};
use super::super::stage::{Findings, Stage};

/// The code for what a caller has no right to.
const FORBIDDEN: i32 = 9;

/// Other names for what lies below `src/`, which somebody has.
const OVERLAPPING: [&str; 9] = [
    "src",
    "src/",
    "./src/a.rs",
    "src/a.rs",
    "src/*.rs",
    "s?c/a.rs",
    "**/*.rs",
    "*/a.rs",
    "src/sub/module",
];
/// They are no paths of a repository, and no task can own them.
const NO_PATHS: [&str; 6] = [
    "src/../src/a.rs",
    "../src",
    "/src/a.rs",
    ".git/config",
    "src/.GIT/config",
    "src//../a.rs",
];
/// What an owner of `src/` is not allowed to commit: another file, a link and what lies behind it, another case, another
/// repository, and one end of a rename.
const NOT_OWNED: [&[&str]; 6] = [
    &["other"],
    &["link"],
    &["link/a.rs"],
    &["SRC/a.rs"],
    &["module"],
    &["src/moved", "moved"],
];

pub(crate) fn owners(stage: &mut Stage) -> Result<()> {
    stage.trial("claims that overlap", |stage| {
        let product = stage.product();
        product.answer(["queue", "add", "first", "--brief", "x", "--own", "src/"])?;
        product.answer(["queue", "claim", "first"])?;
        let mut findings = Findings::default();
        for (number, pattern) in OVERLAPPING.iter().enumerate() {
            let name = format!("other-{number}");
            product.answer(["queue", "add", &name, "--brief", "x", "--own", pattern])?;
            let claim = product.run(["queue", "claim", &name]);
            let complaint = expect_code(&claim, pattern, &[exit::CONFLICT]);
            findings.complaints.extend(complaint);
            findings.count += 1;
        }
        for pattern in NO_PATHS {
            let add = product.run(["queue", "add", "none", "--brief", "x", "--own", pattern]);
            let complaint = expect_code(&add, pattern, &[exit::USAGE]);
            findings.complaints.extend(complaint);
            findings.count += 1;
        }
        Ok(findings)
    });
    stage.trial("commits outside of the claim", |stage| {
        let mut product = stage.product();
        lay_out(&product)?;
        become_owner(&mut product)?;
        let head = product.repo.head();
        let mut findings = Findings::default();
        for paths in NOT_OWNED {
            let words = ["safe-commit", "-m", "x", "--"];
            let commit = product.run(words.iter().chain(paths));
            let codes = [FORBIDDEN, exit::USAGE, exit::CONFLICT];
            findings
                .complaints
                .extend(expect_code(&commit, &paths.join(" "), &codes));
            findings.count += 1;
        }
        if product.repo.head() != head {
            findings
                .complaints
                .push("something was committed".to_owned());
        }
        product.answer(["safe-commit", "-m", "x", "--", "src/a.rs"])?;
        Ok(findings)
    });
    Ok(())
}

/// A file of its own, one of another case, a link, a repository within, and a rename across the border.
fn lay_out(product: &Product) -> Result<()> {
    let repo = &product.repo;
    for path in ["src/a.rs", "SRC/a.rs", "other", "moved"] {
        repo.write(path, "old");
    }
    std::os::unix::fs::symlink("src", repo.path().join("link"))?;
    repo.commit("base");
    for path in ["src/a.rs", "SRC/a.rs", "other"] {
        repo.write(path, "new");
    }
    std::fs::rename(repo.path().join("moved"), repo.path().join("src/moved"))?;
    std::fs::remove_file(repo.path().join("link"))?;
    std::os::unix::fs::symlink("SRC", repo.path().join("link"))?;
    repo.git(["init", "--quiet", "module"]);
    Ok(())
}

/// From here on it is a session that works on a task which owns `src/`.
fn become_owner(product: &mut Product) -> Result<()> {
    product.answer(["queue", "add", "mine", "--brief", "x", "--own", "src/"])?;
    let claim = product.answer(["queue", "claim", "mine"])?;
    let id = claim["task"]["id"].as_str().context("a task has an id")?;
    let fence = claim["task"]["lease"]["fence"].to_string();
    for (name, value) in [
        ("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60"),
        ("HANDOFF_TASK", "mine"),
        ("HANDOFF_TASK_ID", id),
        ("HANDOFF_FENCE", &fence),
    ] {
        product.env.set(name, value);
    }
    Ok(())
}
