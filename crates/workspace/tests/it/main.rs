//! The workspace on a real file system.

#![expect(
    clippy::unwrap_used,
    reason = "clippy spares test functions only; a helper that cannot set the stage fails the test too"
)]

mod life;
mod stage;
mod switching;

#[test]
fn every_test_file_is_a_module() {
    let declared = include_str!("main.rs");
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_declared = name == "main" || declared.contains(&format!("mod {name};\n"));
        assert!(is_declared, "{name}");
    }
}
