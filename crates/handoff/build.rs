//! Tells the program what it was built for: `upgrade` looks for a release of exactly that.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[expect(
        clippy::disallowed_methods,
        reason = "a build script is told what it builds for by its environment"
    )]
    let target = std::env::var("TARGET").expect("cargo names what it builds for");
    println!("cargo::rustc-env=HANDOFF_TARGET={target}");
}
