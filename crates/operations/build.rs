//! Builds the guard, which the program carries within itself and writes out on `git-guard install`.
//!
//! The guard is a program of its own because it is started for every `git` of a session, and ours takes too long to start. It
//! is built by the compiler itself: cargo has no stable way to put one program into another.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = variable("TARGET").expect("cargo names what it builds for");
    let source = PathBuf::from(needed("CARGO_MANIFEST_DIR")).join("../guard/src");
    println!("cargo::rerun-if-changed={}", source.display());
    build_guard(&source, &target);
}

fn build_guard(source: &Path, target: &str) {
    let out = PathBuf::from(needed("OUT_DIR"));
    let library = out.join("libhandoff_guard.rlib");
    let mut first = compiler(target);
    first.args(["--crate-type=lib", "--crate-name=handoff_guard", "-o"]);
    finish(first.arg(&library).arg(source.join("lib.rs")));
    let mut second = compiler(target);
    second.args(["--crate-type=bin", "--crate-name=git", "--extern"]);
    let library = format!("handoff_guard={}", library.display());
    finish(
        second
            .args([&library, "-o"])
            .arg(out.join("git-guard"))
            .arg(source.join("main.rs")),
    );
}

/// Nobody reads a trace of a program this small, and a short one is quicker to load.
fn compiler(target: &str) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "a build script starts the compiler"
    )]
    let mut command = Command::new(needed("RUSTC"));
    command.args(["--edition=2024", "--cap-lints=allow", "--target", target]);
    command.args(["-Copt-level=3", "-Cpanic=abort", "-Cstrip=symbols"]);
    if let Some(linker) = variable("RUSTC_LINKER") {
        command.arg(format!("-Clinker={linker}"));
    }
    let flags = variable("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    command.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    command
}

fn finish(command: &mut Command) {
    let status = command.status().expect("the compiler can be started");
    assert!(status.success(), "the guard cannot be built: {command:?}");
}

fn needed(name: &str) -> String {
    variable(name).unwrap_or_else(|| panic!("cargo sets {name} for build scripts"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a build script is told what it builds for by its environment"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
