//! D18: a sub-task tries to change what is not its own, by git and past it.

use std::collections::BTreeMap;

use anyhow::Result;
use handoff_testkit::Output;

use super::super::product::Product;
use super::super::stage::{Findings, Stage};

/// Refused by the guard or by the hooks, for `sh` in the tree that all use. `$GIT` is the real git, by its path.
const REFUSED: [&str; 12] = [
    "git commit -m x",
    "git -C . commit -m x",
    "git -c a.b=c commit -m x",
    "git --no-pager commit -m x",
    "git -c alias.x=commit x -m x",
    "git stash",
    "\"$GIT\" commit -m x",
    "\"$GIT\" commit --no-verify -m x",
    "\"$GIT\" update-ref refs/heads/main $(\"$GIT\" commit-tree -p HEAD -m x $(\"$GIT\" write-tree))",
    "\"$GIT\" stash",
    "env -u HANDOFF_ROLE -u HANDOFF_SESSION \"$GIT\" commit -m x",
    "env -i HOME=\"$HOME\" \"$GIT\" -c user.name=x -c user.email=x commit -m x",
];

/// Past the hooks, and told at the next look. Each leaves the refs in another place than the one before.
const TOLD: [&str; 4] = [
    "\"$GIT\" -c core.hooksPath=/dev/null commit --allow-empty -m x",
    "\"$GIT\" rev-parse HEAD > .git/refs/heads/by-hand",
    "\"$GIT\" rev-parse HEAD^ > .git/refs/heads/by-hand",
    "rm .git/refs/heads/by-hand",
];

/// The same by a library that knows nothing of hooks, where there is one.
const BY_LIBGIT2: &str = "/usr/bin/python3 -c \"
import pygit2
repo, who = pygit2.Repository('.'), pygit2.Signature('x', 'x@x')
repo.create_commit('refs/heads/main', who, who, 'x', repo.head.peel().tree_id, [repo.head.target])
\"";

pub(crate) fn roles(stage: &mut Stage) -> Result<()> {
    stage.trial("refused", |stage| {
        let product = guarded(stage)?;
        let before = picture(&product);
        let told = REFUSED.iter().filter_map(|script| {
            attack(&product, script);
            (picture(&product) != before).then(|| format!("`{script}` works"))
        });
        Ok(Findings {
            count: REFUSED.len(),
            note: String::new(),
            complaints: told.collect(),
        })
    });
    stage.trial("told", |stage| {
        let product = guarded(stage)?;
        let libgit2 = handoff_testkit::Need::Libgit2.is_met();
        let scripts = TOLD.iter().chain(libgit2.then_some(&BY_LIBGIT2));
        let mut findings = Findings::default();
        for script in scripts {
            findings.count += 1;
            attack(&product, script);
            findings.complaints.extend(untold(&product, script));
        }
        Ok(findings)
    });
    Ok(())
}

/// A tree with something staged, in which a session of a sub-task is watched.
fn guarded(stage: &Stage) -> Result<Product> {
    let product = stage.product();
    product.repo.write("theirs", "old").commit("base");
    product
        .repo
        .write("theirs", "staged")
        .git(["add", "theirs"]);
    product.answer(["git-guard", "install"])?;
    product.answer(["hooks", "install"])?;
    product.answer(["hooks", "watch", "attacker"])?;
    Ok(product)
}

fn attack(product: &Product, script: &str) -> Output {
    let real = product.repo.git(["--exec-path"]) + "/git";
    let guard = product.home().join("guard/bin");
    let script = format!("PATH={}:$PATH\n{script}", guard.display());
    let mut command = product.env.command("sh");
    command.current_dir(product.repo.path());
    command.env("HANDOFF_ROLE", "sub-task").env("GIT", real);
    product.env.run({
        command.args(["-c", &script]);
        command
    })
}

/// All refs, what is staged, and the stash.
fn picture(product: &Product) -> BTreeMap<String, String> {
    let mut found = product.repo.refs();
    let staged = product.repo.git(["diff", "--cached", "--no-ext-diff"]);
    found.insert("staged".to_owned(), staged);
    found
}

/// It must be told once, and not again.
fn untold(product: &Product, script: &str) -> Vec<String> {
    let foreign = || {
        let told = product.run(["hooks", "status"]);
        let told: serde_json::Value = serde_json::from_str(&told.stdout).unwrap_or_default();
        told["foreign"].as_array().map_or(0, Vec::len)
    };
    match (foreign(), foreign()) {
        (1, 0) => vec![],
        (first, then) => vec![format!(
            "`{script}` is told {first} times, and then {then} times"
        )],
    }
}
