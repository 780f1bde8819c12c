//! Asking real filesystems.

use handoff_files::filesystem::{Filesystem, free_space};
use std::path::Path;
use tempfile::TempDir;

#[test]
fn a_path_that_does_not_exist_yet_lies_where_its_ancestor_does() {
    let place = TempDir::new().unwrap();
    let missing = place.path().join("not/yet/there");
    assert_eq!(Filesystem::of(&missing).unwrap(), Filesystem::Local);
    assert!(free_space(&missing).unwrap() > 0);
    assert_eq!(
        Filesystem::of(Path::new("relative")).unwrap(),
        Filesystem::Local
    );
}

#[test]
fn a_filesystem_without_blocks_has_no_free_space() {
    assert_eq!(free_space(Path::new("/proc")).unwrap(), 0);
}
