//! Building the product, as a chore needs it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::program;

/// Builds the program with this cargo profile, and says where it is.
pub fn build(profile: &str) -> Result<PathBuf> {
    let mut cargo = program::cargo(["build", "--package", "handoff", "--profile", profile]);
    program::run(&mut cargo)?;
    let mut cargo = program::cargo(["metadata", "--format-version=1", "--no-deps"]);
    let metadata: Value = serde_json::from_slice(&cargo.output()?.stdout)?;
    let target = metadata["target_directory"].as_str();
    let target = target.context("cargo knows its target directory")?;
    // The directory of the profile `dev` is older than its name.
    let directory = if profile == "dev" { "debug" } else { profile };
    Ok(Path::new(target).join(directory).join("handoff"))
}
