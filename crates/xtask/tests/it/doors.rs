//! The command line translates and shows: what it can do is in `operations`, and whatever lies below is not its business.
//!
//! Files that were there before the service layer are listed in `crates/xtask/doors.toml`. A file leaves the list when it is moved;
//! none is added.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use serde::Deserialize;

/// What lies below the service layer.
const BELOW: [&str; 7] = [
    "handoff_engine",
    "handoff_git",
    "handoff_package",
    "handoff_process",
    "handoff_session",
    "handoff_store",
    "handoff_workspace",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Doors {
    /// Files that still reach below.
    to_move: BTreeSet<String>,
}

fn reaches_below(text: &str) -> bool {
    BELOW.iter().any(|name| text.contains(&format!("{name}::")))
}

/// The files in `directory` that do, by their path from `root` on.
fn reaching(directory: &Path, root: &Path) -> io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(reaching(&path, root)?);
        } else if reaches_below(&fs::read_to_string(&path)?) {
            let name = path.strip_prefix(root).map_err(io::Error::other)?;
            found.insert(name.display().to_string());
        }
    }
    Ok(found)
}

#[test]
fn no_other_file_of_the_command_line_reaches_below_the_service_layer() {
    let crates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let root = crates.join("handoff/src/cli");
    let found = reaching(&root, &root).unwrap();
    let text = fs::read_to_string(crates.join("xtask/doors.toml")).unwrap();
    let Doors { to_move } = toml::from_str(&text).unwrap();
    let new: Vec<_> = found.difference(&to_move).collect();
    assert!(
        new.is_empty(),
        "these reach below; make what they need an operation of `handoff-operations`: {new:#?}"
    );
    let moved: Vec<_> = to_move.difference(&found).collect();
    assert!(
        moved.is_empty(),
        "these reach below no longer; take them out of doors.toml: {moved:#?}"
    );
}

#[test]
fn a_file_reaches_below_by_a_path_and_not_by_a_word() {
    assert!(reaches_below("use handoff_store::Store;"));
    assert!(reaches_below("handoff_git::Git::new(environment)"));
    assert!(!reaches_below(
        "use handoff_core::TaskName; // as in handoff_store"
    ));
}
