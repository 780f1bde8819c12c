//! A package arrives with its attachments, or nothing arrives.

use std::io::Read as _;

use handoff_package::blobs::Blobs as _;
use handoff_package::bundle::{self, Bundle, BundleError};
use handoff_package::payload::Attachment;
use handoff_package::{OpenError, Shelf, open, seal};

use crate::fixture::{key, package};

/// A bundle with two attachments, and where they lie.
fn bundled(home: &std::path::Path) -> Vec<u8> {
    let mut shelf = Shelf::at(home.join("from"));
    let mut package = package();
    for (name, content) in [("a.txt", "first"), ("b.txt", "")] {
        let file = home.join(name);
        std::fs::write(&file, content).unwrap();
        let attachment = Attachment::of(name, &file).unwrap();
        shelf.take_in(&attachment, &mut content.as_bytes()).unwrap();
        package.payload.attachments.push(attachment);
    }
    let sealed = seal(&package, &key()).unwrap();
    let opened = open(sealed.bytes()).unwrap();
    let mut bytes = vec![];
    let mut reader = Bundle::new(sealed.bytes().to_vec(), &opened, &mut shelf).unwrap();
    reader.read_to_end(&mut bytes).unwrap();
    bytes
}

fn unpack(mut bytes: &[u8], home: &std::path::Path) -> Result<(), BundleError> {
    let unpacked = bundle::read_package(&mut bytes)?;
    bundle::read_attachments(
        &mut bytes,
        &unpacked.opened,
        &mut Shelf::at(home.join("to")),
    )
}

#[test]
fn attachments_arrive_with_their_package() {
    let home = tempfile::tempdir().unwrap();
    let bytes = bundled(home.path());
    unpack(&bytes, home.path()).unwrap();
    unpack(&bytes, home.path()).unwrap();
    let blobs = std::fs::read_dir(home.path().join("to/blobs")).unwrap();
    assert_eq!(blobs.count(), 2);
}

#[test]
fn a_bundle_that_is_cut_or_longer_is_refused_at_every_place() {
    let home = tempfile::tempdir().unwrap();
    let bytes = bundled(home.path());
    for length in 0..bytes.len() {
        assert!(unpack(&bytes[..length], home.path()).is_err(), "{length}");
    }
    let longer = [bytes.as_slice(), b"x"].concat();
    assert!(matches!(
        unpack(&longer, home.path()),
        Err(BundleError::TrailingBytes)
    ));
}

#[test]
fn an_announcement_that_nobody_could_carry_is_refused_before_it_is_read() {
    let home = tempfile::tempdir().unwrap();
    let endless = std::io::repeat(b'x');
    let error = bundle::read_package(&mut std::io::BufReader::new(endless)).unwrap_err();
    assert!(matches!(error, BundleError::Open(OpenError::ForeignFormat)));
    assert!(!home.path().join("to").exists());
}
