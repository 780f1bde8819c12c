//! Faults of git that several share: a commit that is killed anywhere (D02G), its lock (D15), two who stage
//! in one tree (D16), one who prepared before another committed (D17), roles (D18) and owners (D19) that are
//! tried, a person who commits while we look (D43), and one who prunes (D46).

mod crowd;
mod kills;
mod owners;
mod person;
mod pruning;
mod roles;

use std::path::{Path, PathBuf};

pub(super) use self::crowd::{lock, staging};
pub(super) use self::kills::kills;
pub(super) use self::owners::owners;
pub(super) use self::person::{looking, stale};
pub(super) use self::pruning::pruning;
pub(super) use self::roles::roles;
use super::product::Product;

/// Locks of git, booths of ours, and what `git fsck` says.
fn leftovers(product: &Product) -> Vec<String> {
    let git_dir = product.repo.path().join(".git");
    let mut complaints: Vec<_> = locks(&git_dir)
        .into_iter()
        .map(|path| format!("`{}` is left", path.display()))
        .collect();
    let booths = std::fs::read_dir(git_dir.join("handoff/commits"));
    if booths.is_ok_and(|mut it| it.next().is_some()) {
        complaints.push("a booth is left".to_owned());
    }
    let mut fsck = product.repo.command(["fsck", "--full", "--no-dangling"]);
    match fsck.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => complaints.push(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => complaints.push(error.to_string()),
    }
    complaints
}

/// Ours are never removed; they lie in our own directory.
fn locks(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return vec![];
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths
        .flat_map(|path| match path.is_dir() {
            true if path.ends_with("handoff") && directory.ends_with(".git") => vec![],
            true => locks(&path),
            false if path.extension().is_some_and(|it| it == "lock") => vec![path],
            false => vec![],
        })
        .collect()
}

fn hook(product: &Product, body: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = product.repo.path().join(".git/hooks/pre-commit");
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("the repository is there");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("the hook is there");
}
