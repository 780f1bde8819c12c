//! The packages of agents, in the versions that we know.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::Name;
use handoff_chores::program;

/// What is installed for an agent, and where its program is then.
struct Package {
    /// With its version.
    name: &'static str,
    program: &'static str,
    registry: Registry,
}

/// Where packages come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Registry {
    Npm,
    PyPi,
}

fn package(name: Name) -> Option<Package> {
    let (name, program) = match name {
        // Not the package called `claude-code`: that picks a version by the node that is there.
        Name::Claude | Name::ClaudeQuiet => (
            "@anthropic-ai/claude-code-linux-x64@2.1.325",
            "@anthropic-ai/claude-code-linux-x64/claude",
        ),
        Name::Codex => ("@openai/codex@0.166.0", ".bin/codex"),
        Name::Opencode => ("opencode-ai@1.18.33", ".bin/opencode"),
        Name::Gemini => ("@google/gemini-cli@0.61.0", ".bin/gemini"),
        Name::Copilot => ("@github/copilot@1.0.102", ".bin/copilot"),
        Name::Aider => ("aider-chat@0.86.2", "bin/aider"),
        Name::Scripted | Name::Bash => return None,
    };
    let registry = match program.strip_prefix("bin/") {
        Some(_) => Registry::PyPi,
        None => Registry::Npm,
    };
    Some(Package {
        name,
        program,
        registry,
    })
}

/// Installs what is not there yet.
pub(super) fn provide(name: Name) -> Result<()> {
    let Some(package) = package(name) else {
        return Ok(());
    };
    if program_of(name).is_some_and(|program| program.is_file()) {
        return Ok(());
    }
    match package.registry {
        Registry::Npm => from_npm(&package, &folder(name)),
        Registry::PyPi => from_pypi(&package, &folder(name)),
    }
}

fn from_npm(package: &Package, folder: &Path) -> Result<()> {
    if program::find_program("npm").is_none() {
        bail!("there is no npm");
    }
    let mut npm = program::program("npm");
    npm.args([
        "install",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        "--prefix",
    ]);
    npm.arg(folder).arg(package.name);
    program::run(&mut npm).context("npm could not install it")
}

fn from_pypi(package: &Package, folder: &Path) -> Result<()> {
    if program::find_program("python3").is_none() {
        bail!("there is no python3");
    }
    let mut venv = program::program("python3");
    program::run(venv.args(["-m", "venv"]).arg(folder)).context("there is no place for it")?;
    let mut pip = program::program(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    pip.arg(package.name.replace('@', "=="));
    program::run(&mut pip).context("pip could not install it")
}

/// Where its program is, or will be.
pub(super) fn program_of(name: Name) -> Option<PathBuf> {
    let package = package(name)?;
    let folder = folder(name);
    Some(match package.registry {
        Registry::Npm => folder.join("node_modules").join(package.program),
        Registry::PyPi => folder.join(package.program),
    })
}

/// One for each version, so that a new pin installs anew.
fn folder(name: Name) -> PathBuf {
    let version = package(name).and_then(|it| it.name.rsplit_once('@'));
    let version = version.map_or("", |(_, version)| version);
    let root = program::workspace_root().join("target/agents");
    root.join(format!("{}-{version}", name.agent()))
}
