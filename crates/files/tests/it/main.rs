//! The promises of `handoff-files`, tried on a real filesystem and with real processes.

#[cfg(test)]
mod atomic;
#[cfg(test)]
mod child;
#[cfg(test)]
mod dir;
#[cfg(test)]
mod entry;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod filesystem;
#[cfg(test)]
mod lock;
#[cfg(test)]
mod watch;

#[test]
fn no_test_file_is_forgotten() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    for entry in std::fs::read_dir(directory).unwrap() {
        let file = entry.unwrap().path();
        let module = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let declaration = format!("\nmod {module};\n");
        assert!(
            module == "main" || include_str!("main.rs").contains(&declaration),
            "{module}"
        );
    }
}
