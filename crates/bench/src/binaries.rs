//! The programs that are measured, built alike.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use toml::Table;

use handoff_chores::{output, program};

/// What `cargo build` says about a thing it made.
#[derive(Debug, Deserialize)]
struct Message {
    executable: Option<PathBuf>,
}

/// The product, as its users have it.
pub(crate) fn handoff(profile: &str) -> Result<PathBuf> {
    install(&build(&["--package", "handoff", "--profile", profile])?)
}

/// Ourselves with the same optimisation as the product: what drains a queue is measured too.
pub(crate) fn own(profile: &str) -> Result<PathBuf> {
    install(&build(&["--package", "bench", "--profile", profile])?)
}

/// `fn main() {}`: what starting any program costs here.
pub(crate) fn empty(profile: &str) -> Result<PathBuf> {
    let directory = program::workspace_root().join("target/bench/empty");
    fs::create_dir_all(directory.join("src"))?;
    fs::write(directory.join("src/main.rs"), "fn main() {}\n")?;
    let manifest = directory.join("Cargo.toml");
    fs::write(&manifest, empty_manifest()?)?;
    let manifest = manifest.to_str().context("the workspace's path is text")?;
    install(&build(&[
        "--manifest-path",
        manifest,
        "--profile",
        profile,
    ])?)
}

/// A copy, as `cargo install` and every package manager make one. What a linker wrote, piece by piece, lies in memory in pieces
/// until it is read from the disk again, and a call takes a fifth longer to find them (docs/design/0005-profiles.md).
pub(super) fn install(built: &Path) -> Result<PathBuf> {
    let profile = built.parent().and_then(Path::file_name);
    let (Some(profile), Some(name)) = (profile, built.file_name()) else {
        bail!("{} is not in the directory of a profile", built.display());
    };
    let directory = program::workspace_root().join("target/bench/installed");
    let directory = directory.join(profile);
    fs::create_dir_all(&directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    let (installed, new) = (directory.join(name), directory.join("new"));
    fs::copy(built, &new).with_context(|| format!("cannot copy {}", built.display()))?;
    fs::rename(&new, &installed)?;
    Ok(installed)
}

/// A package of its own with the profiles of the workspace.
fn empty_manifest() -> Result<String> {
    let text = fs::read_to_string(program::workspace_root().join("Cargo.toml"))?;
    let workspace: Table = toml::from_str(&text)?;
    let mut profiles: Table = workspace
        .into_iter()
        .filter(|(name, _)| name == "profile")
        .collect();
    // It has none of the packages that are built otherwise.
    for (_, profile) in profiles["profile"].as_table_mut().into_iter().flatten() {
        profile.as_table_mut().map(|it| it.remove("package"));
    }
    Ok(format!(
        "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n{}",
        toml::to_string(&profiles)?
    ))
}

/// Builds, and finds the program among what was built, wherever the target directory is.
pub(crate) fn build(args: &[&str]) -> Result<PathBuf> {
    let mut command = program::cargo(["build", "--message-format=json-render-diagnostics"]);
    command.args(args).stderr(Stdio::inherit());
    output::say(&format!("$ cargo build {}", args.join(" ")));
    let built = command.output().context("cannot start cargo")?;
    if !built.status.success() {
        bail!(
            "`cargo build {}` ended with {}",
            args.join(" "),
            built.status
        );
    }
    let messages = String::from_utf8(built.stdout)?;
    executable(&messages)
        .with_context(|| format!("`cargo build {}` made no program", args.join(" ")))
}

/// The last program in the messages: those before it are what it needed.
fn executable(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok()?.executable)
        .next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_the_last_executable() {
        let messages = r#"{"reason":"compiler-artifact","executable":null}
{"reason":"compiler-artifact","executable":"/t/build-script"}
{"reason":"compiler-artifact","executable":"/t/handoff"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages), Some(PathBuf::from("/t/handoff")));
        assert_eq!(executable("{}"), None);
    }

    #[test]
    fn the_empty_program_has_the_profiles_of_the_workspace() {
        let manifest = empty_manifest().unwrap();
        let manifest: Table = toml::from_str(&manifest).unwrap();
        assert!(manifest["profile"].get("release").is_some(), "{manifest:?}");
        assert!(manifest.contains_key("workspace"));
    }
}
