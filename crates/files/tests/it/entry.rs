//! Making, moving and pointing without harm.

use handoff_files::{Dir, DirError, Entry, LinkError, MoveError};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

fn place() -> (TempDir, Dir) {
    let place = TempDir::new().unwrap();
    let dir = Dir::open(place.path()).unwrap();
    (place, dir)
}

#[test]
fn a_made_directory_is_found_again_and_a_link_is_not_taken_for_one() {
    let (place, dir) = place();
    dir.make_dir("a").unwrap();
    fs::write(place.path().join("a/file"), "x").unwrap();
    assert_eq!(dir.make_dir("a").unwrap().names().unwrap(), ["file"]);
    symlink("a", place.path().join("link")).unwrap();
    assert!(matches!(dir.make_dir("link"), Err(DirError::NotBeneath(_))));
    for name in ["", ".", "..", "a/b", "/tmp"] {
        assert!(
            matches!(dir.make_dir(name), Err(DirError::NotBeneath(_))),
            "{name}"
        );
    }
}

#[test]
fn what_stands_at_a_name_is_told_without_following_it() {
    let (place, dir) = place();
    fs::write(place.path().join("file"), "x").unwrap();
    fs::create_dir(place.path().join("dir")).unwrap();
    symlink("dir", place.path().join("link")).unwrap();
    let found = ["file", "dir", "link", "none"].map(|name| dir.entry(name).unwrap());
    assert_eq!(
        found,
        [
            Some(Entry::File),
            Some(Entry::Directory),
            Some(Entry::Link),
            None
        ]
    );
    assert_eq!(
        dir.link_target("link").unwrap(),
        Some(OsString::from("dir"))
    );
    assert_eq!(dir.link_target("file").unwrap(), None);
    assert_eq!(dir.link_target("none").unwrap(), None);
}

#[test]
fn moving_keeps_what_is_in_a_directory_and_never_replaces_one() {
    let (place, dir) = place();
    let trash = dir.make_dir("trash").unwrap();
    for (name, text) in [("one", "1"), ("two", "2")] {
        let directory = dir.make_dir(name).unwrap();
        fs::write(directory.path().join("file"), text).unwrap();
    }
    dir.move_new("one", &trash, "old").unwrap();
    let taken = dir.move_new("two", &trash, "old");
    assert!(matches!(taken, Err(MoveError::Taken(_))), "{taken:?}");
    assert_eq!(
        fs::read_to_string(place.path().join("trash/old/file")).unwrap(),
        "1"
    );
    assert_eq!(
        fs::read_to_string(place.path().join("two/file")).unwrap(),
        "2"
    );
    fs::create_dir(place.path().join("trash/empty")).unwrap();
    assert!(matches!(
        dir.move_new("two", &trash, "empty"),
        Err(MoveError::Taken(_))
    ));
    assert!(matches!(
        dir.move_new("none", &trash, "x"),
        Err(MoveError::Move { .. })
    ));
    for name in ["..", "a/b", ""] {
        assert!(matches!(
            dir.move_new(name, &trash, "x"),
            Err(MoveError::BadName(_))
        ));
        assert!(matches!(
            dir.move_new("two", &trash, name),
            Err(MoveError::BadName(_))
        ));
    }
}

#[test]
fn a_link_is_pointed_over_a_file_or_a_link_and_not_over_a_directory() {
    let (place, dir) = place();
    dir.point_link("current", "a").unwrap();
    dir.point_link("current", "b").unwrap();
    assert_eq!(dir.link_target("current").unwrap(), Some("b".into()));
    fs::remove_file(place.path().join("current")).unwrap();
    fs::write(place.path().join("current"), "a file").unwrap();
    dir.point_link("current", "c").unwrap();
    assert_eq!(dir.link_target("current").unwrap(), Some("c".into()));
    fs::create_dir_all(place.path().join("real/inside")).unwrap();
    assert!(matches!(
        dir.point_link("real", "c"),
        Err(LinkError::Name(..))
    ));
    assert_eq!(dir.names().unwrap(), ["current", "real"]);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
}

#[test]
fn what_a_killed_caller_left_is_used_up() {
    let (place, dir) = place();
    symlink("old", place.path().join(".current.0000000000000000.tmp")).unwrap();
    dir.point_link("current", "new").unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    assert_eq!(dir.link_target("current").unwrap(), Some("new".into()));
}
