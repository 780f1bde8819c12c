//! Contents of attachments come out as they went in, whole or not at all.

use std::collections::BTreeSet;
use std::time::Duration;

use handoff_core::Digest;
use handoff_store::blobs::{self, Upload};
use handoff_store::read;

use super::on_both_stores;
use crate::fixture::{Fixture, Place, uuid};

on_both_stores! {
    a_content_is_there_when_it_is_whole,
    two_who_bring_the_same_keep_one,
    what_is_damaged_is_superseded,
    what_nobody_names_goes_after_a_while,
}

fn upload(fixture: &mut Fixture, pieces: &[&[u8]]) -> Upload {
    let mut upload = Upload::new(fixture.project, uuid().to_string());
    for piece in pieces {
        upload.piece(&mut *fixture.store, piece).unwrap();
    }
    upload
}

fn content(fixture: &mut Fixture, digest: &Digest) -> Vec<u8> {
    let project = fixture.project;
    let mut content = vec![];
    for number in 0.. {
        let piece = read(&mut *fixture.store, |tx| {
            blobs::piece(tx, project, digest, number)
        });
        match piece.unwrap() {
            Some(piece) => content.extend(piece),
            None => break,
        }
    }
    content
}

fn is_there(fixture: &mut Fixture, digest: &Digest) -> bool {
    let project = fixture.project;
    read(&mut *fixture.store, |tx| blobs::has(tx, project, digest)).unwrap()
}

fn a_content_is_there_when_it_is_whole(fixture: &mut Fixture) {
    let bytes = [&[0, 255, 1][..], b"end"].concat();
    let digest = Digest::of(&bytes);
    let begun = upload(fixture, &[&[0, 255, 1], b"end"]);
    assert!(!is_there(fixture, &digest));
    assert_eq!(content(fixture, &digest), b"");
    begun.finish(&mut *fixture.store, &digest).unwrap();
    assert!(is_there(fixture, &digest));
    assert_eq!(content(fixture, &digest), bytes);
}

fn what_is_damaged_is_superseded(fixture: &mut Fixture) {
    let digest = Digest::of(b"right");
    let wrong = upload(fixture, &[b"wr", b"ong"]);
    wrong.finish(&mut *fixture.store, &digest).unwrap();
    let right = upload(fixture, &[b"right"]);
    right.supersede(&mut *fixture.store, &digest).unwrap();
    assert_eq!(content(fixture, &digest), b"right");
}

fn two_who_bring_the_same_keep_one(fixture: &mut Fixture) {
    let digest = Digest::of(b"right");
    let (wrong, right) = (
        upload(fixture, &[b"wrong"]),
        upload(fixture, &[b"ri", b"ght"]),
    );
    let again = upload(fixture, &[b"right"]);
    wrong.abandon(&mut *fixture.store).unwrap();
    right.finish(&mut *fixture.store, &digest).unwrap();
    again.finish(&mut *fixture.store, &digest).unwrap();
    assert_eq!(content(fixture, &digest), b"right");
}

fn what_nobody_names_goes_after_a_while(fixture: &mut Fixture) {
    let project = fixture.project;
    let (named, unnamed) = (Digest::of(b"named"), Digest::of(b"unnamed"));
    for (bytes, digest) in [(&b"named"[..], &named), (b"unnamed", &unnamed)] {
        let begun = upload(fixture, &[bytes]);
        begun.finish(&mut *fixture.store, digest).unwrap();
    }
    upload(fixture, &[b"of a dead one"]);
    let kept = BTreeSet::from([named.clone()]);
    let find = |fixture: &mut Fixture| {
        read(&mut *fixture.store, |tx| blobs::unnamed(tx, project, &kept)).unwrap()
    };
    assert_eq!(find(fixture), vec![], "somebody may be about to name it");
    let age = "UPDATE handoff.blobs SET kept_at = 0; UPDATE handoff.blob_pieces SET kept_at = 0";
    match &fixture.place {
        Place::Sqlite { clock, .. } => clock.pass(blobs::GRACE + Duration::from_secs(1)),
        Place::Postgres { database } => drop(database.execute(age).unwrap()),
    }
    assert_eq!(find(fixture), [(unnamed.clone(), 7)]);
    let found = [unnamed.clone()];
    let swept = blobs::sweep(&mut *fixture.store, project, &found).unwrap();
    assert_eq!((swept.contents, swept.pieces), (1, 1));
    assert!(is_there(fixture, &named) && !is_there(fixture, &unnamed));
    assert_eq!(content(fixture, &unnamed), b"");
}
