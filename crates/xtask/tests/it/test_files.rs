//! A test file that its `main.rs` does not name is never compiled, and nobody notices.

use std::fs;
use std::path::{Path, PathBuf};

fn main_files() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is in `crates`");
    let directories = fs::read_dir(crates)
        .expect("`crates` is a directory")
        .flatten();
    directories
        .map(|entry| entry.path().join("tests/it/main.rs"))
        .filter(|main| main.exists())
        .collect()
}

/// Files beside `main` that it has no `mod` for, by its text.
fn forgotten(main: &str, beside: &[String]) -> Vec<String> {
    let is_named = |file: &&String| {
        let module = format!("mod {};", file.trim_end_matches(".rs"));
        !main
            .lines()
            .any(|line| line.trim() == module || line.ends_with(&format!(" {module}")))
    };
    beside.iter().filter(is_named).cloned().collect()
}

fn files_beside(main: &Path) -> Vec<String> {
    let directory = main.parent().expect("a file is in a directory");
    let names = fs::read_dir(directory)
        .expect("the directory is readable")
        .flatten();
    names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".rs") && name != "main.rs")
        .collect()
}

#[test]
fn every_test_file_is_a_module_of_its_main_file() {
    let mains = main_files();
    assert!(!mains.is_empty(), "this very test has a main file");
    for main in mains {
        let text = fs::read_to_string(&main).unwrap();
        let forgotten = forgotten(&text, &files_beside(&main));
        assert_eq!(forgotten, [""; 0], "not named in {}", main.display());
    }
}

#[test]
fn a_test_that_is_no_module_of_it_has_no_place_beside_it() {
    for main in main_files() {
        let tests = main.parent().and_then(Path::parent).unwrap();
        let binaries: Vec<String> = fs::read_dir(tests)
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name.ends_with(".rs"))
            .collect();
        assert_eq!(
            binaries,
            [""; 0],
            "one test binary a crate: move them into {}",
            main.display()
        );
    }
}

#[test]
fn a_file_that_is_not_named_is_found() {
    let beside = [
        "queue.rs".to_owned(),
        "lease.rs".to_owned(),
        "se.rs".to_owned(),
    ];
    let main = "//! Tests.\n\n#[cfg(unix)] mod queue;\n// mod gone;\nmod lease;\n";
    assert_eq!(forgotten(main, &beside), ["se.rs"]);
}
