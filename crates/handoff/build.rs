//! Tells the program what it was built for: `upgrade` looks for a release of exactly that.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = variable("TARGET").expect("cargo names what it builds for");
    println!("cargo::rustc-env=HANDOFF_TARGET={target}");
    fix_address();
}

/// A program that may lie anywhere has 28,000 addresses to put right whenever it starts, in 160 pages of which most are looked at
/// by nobody: a quarter of what a call of ours takes (docs/design/0005-profiles.md).
fn fix_address() {
    let is = |name: &str, value: &str| variable(name).as_deref() == Some(value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a build script is told what it builds for by its environment"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
