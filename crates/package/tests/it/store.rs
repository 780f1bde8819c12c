use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use handoff_files::Dir;
use handoff_package::{StoreError, open, seal, store};
use tempfile::TempDir;

use crate::fixture::package;

#[test]
fn a_stored_package_is_private_and_opens() {
    let place = TempDir::new().unwrap();
    let dir = Dir::open(place.path()).unwrap();
    let path = store(&dir, &seal(&package()).unwrap()).unwrap();
    assert_eq!(
        path,
        place.path().join(format!("hof-{}.json", package().id))
    );
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(open(&fs::read(&path).unwrap()).unwrap(), package());
}

#[test]
fn storing_twice_is_storing_once_and_another_package_is_not_overwritten() {
    let place = TempDir::new().unwrap();
    let dir = Dir::open(place.path()).unwrap();
    let first = seal(&package()).unwrap();
    assert_eq!(store(&dir, &first).unwrap(), store(&dir, &first).unwrap());

    let mut other = package();
    other.summary = None;
    let error = store(&dir, &seal(&other).unwrap()).unwrap_err();
    let StoreError::Differs(path) = error else {
        panic!("{error}")
    };
    assert_eq!(fs::read(&path).unwrap(), first.bytes());
    assert_eq!(dir.names().unwrap().len(), 1);
}
