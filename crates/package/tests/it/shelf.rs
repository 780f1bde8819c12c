//! A package on disk is whole under its name, or not there.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::time::{Duration, SystemTime};

use handoff_package::attachment::AttachError;
use handoff_package::blobs::{Blobs as _, Content, PIECE};
use handoff_package::payload::Attachment;
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
    let (home, mut shelf) = shelf();
    let file = home.path().join("log.txt");
    let text = "hello ".repeat(PIECE / 5);
    std::fs::write(&file, &text).unwrap();
    let attachment = Attachment::of("log.txt", &file).unwrap();
    assert_eq!(attachment.size, text.len() as u64);
    assert!(!shelf.has(&attachment.sha256).unwrap());
    shelf.take_in(&attachment, &mut text.as_bytes()).unwrap();
    assert!(shelf.has(&attachment.sha256).unwrap());
    let read = |shelf: &mut Shelf| {
        let mut copied = String::new();
        let mut content = Content::new(shelf, attachment.clone());
        content.read_to_string(&mut copied).map(|_| copied)
    };
    assert_eq!(read(&mut shelf).unwrap(), text);
    let blob = shelf.path().join("blobs").join(attachment.sha256.as_str());
    std::fs::write(&blob, "jello").unwrap();
    assert!(read(&mut shelf).is_err());
    // Bringing it again mends it; bringing something else does not.
    assert!(shelf.take_in(&attachment, &mut &b"hullo"[..]).is_err());
    assert!(read(&mut shelf).is_err());
    shelf.take_in(&attachment, &mut text.as_bytes()).unwrap();
    assert_eq!(read(&mut shelf).unwrap(), text);
    std::fs::write(blob, "jello").unwrap();
    let long_ago = SystemTime::UNIX_EPOCH;
    let unnamed = shelf.unnamed_blobs(&BTreeSet::new(), long_ago).unwrap();
    assert_eq!(unnamed, vec![], "somebody may be about to name it");
    let later = long_ago + Duration::from_secs(1 << 40);
    let named = BTreeSet::from([attachment.sha256.clone()]);
    assert_eq!(shelf.unnamed_blobs(&named, later).unwrap(), vec![]);
    let unnamed = shelf.unnamed_blobs(&BTreeSet::new(), later).unwrap();
    assert_eq!(unnamed, [(attachment.sha256.clone(), 5)]);
    let gone = std::slice::from_ref(&attachment.sha256);
    shelf.remove_blobs(gone).unwrap();
    assert!(
        shelf
            .take_in(&attachment, &mut b"jello".as_slice())
            .is_err()
    );
    assert!(!shelf.has(&attachment.sha256).unwrap());
    shelf.take_in(&attachment, &mut text.as_bytes()).unwrap();
}

#[test]
fn what_is_no_file_or_holds_a_secret_is_not_attached() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("x");
    std::fs::write(&path, format!("a\nghp_{}", "aB3dE5gH7jK9".repeat(3))).unwrap();
    let error = Attachment::of("x", &path).unwrap_err();
    let told = format!("{error} {error:?}");
    assert!(
        told.contains("GitHub token") && !told.contains("aB3d"),
        "{told}"
    );
    assert!(matches!(
        Attachment::of("x", home.path()),
        Err(AttachError::NotRegular)
    ));
    assert!(matches!(
        Attachment::of("x", std::path::Path::new("/dev/zero")),
        Err(AttachError::NotRegular)
    ));
    assert!(matches!(
        Attachment::of("", &path),
        Err(AttachError::Name(_))
    ));
}
