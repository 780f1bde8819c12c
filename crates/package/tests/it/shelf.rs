//! A package on disk is whole under its name, or not there.

use std::io::Read as _;

use handoff_package::shelf::Presence;
use handoff_package::{LoadError, Shelf, ShelfError, seal};

use crate::fixture::{key, package};

fn shelf() -> (tempfile::TempDir, Shelf) {
    let home = tempfile::tempdir().unwrap();
    let shelf = Shelf::at(home.path().join("packages"));
    (home, shelf)
}

#[test]
fn a_package_is_loaded_only_as_it_was_sealed() {
    let (_home, shelf) = shelf();
    let sealed = seal(&package(), &key()).unwrap();
    let path = shelf.put(&sealed).unwrap();
    shelf.put(&sealed).unwrap();
    let (id, digest) = (sealed.id(), sealed.digest().clone());
    assert_eq!(shelf.load(id, &digest).unwrap().package, package());
    assert_eq!(shelf.headers().presence(id, &digest), Presence::Whole);
    let mut other = package();
    other.payload.summary = None;
    let other = seal(&other, &key()).unwrap();
    assert!(matches!(shelf.put(&other), Err(ShelfError::Differs(_))));
    std::fs::write(&path, other.bytes()).unwrap();
    assert!(matches!(shelf.load(id, &digest), Err(LoadError::Replaced)));
    assert_eq!(shelf.headers().presence(id, &digest), Presence::Damaged);
    std::fs::write(&path, "").unwrap();
    assert!(matches!(shelf.load(id, &digest), Err(LoadError::Open(_))));
    assert_eq!(shelf.headers().presence(id, &digest), Presence::Damaged);
    assert!(shelf.remove(id).unwrap());
    assert!(!shelf.remove(id).unwrap());
    assert_eq!(shelf.headers().presence(id, &digest), Presence::Missing);
}

#[test]
fn an_attachment_is_kept_by_its_content() {
    let (home, shelf) = shelf();
    let file = home.path().join("log.txt");
    std::fs::write(&file, "hello").unwrap();
    let attachment = shelf.attach("log.txt", &file).unwrap();
    assert_eq!(attachment.size, 5);
    let mut copied = vec![];
    let mut content = shelf.read_blob(&attachment).unwrap();
    content.read_to_end(&mut copied).unwrap();
    assert_eq!(copied, b"hello");
    let blob = shelf.path().join("blobs").join(attachment.sha256.as_str());
    std::fs::write(blob, "jello").unwrap();
    let mut content = shelf.read_blob(&attachment).unwrap();
    assert!(content.read_to_end(&mut copied).is_err());
    assert_eq!(shelf.remove_blobs_except(&[]).unwrap(), 1);
    assert!(
        shelf
            .put_blob(&attachment, &mut b"jello".as_slice())
            .is_err()
    );
    assert!(
        shelf.open_blob(&attachment.sha256).is_err(),
        "nothing has its name"
    );
    shelf
        .put_blob(&attachment, &mut b"hello".as_slice())
        .unwrap();
}
