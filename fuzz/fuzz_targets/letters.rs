//! What is said to a session, and the files that keep it: bodies of messages, and lines of journal and inbox that were cut
//! short or written by somebody else.
//!
//! Without cargo-fuzz: see the head of `plan.rs`.

#![no_main]

use handoff_agents::Pointer;
use handoff_session::control::{Head, Request};
use handoff_session::message::{Preview, with_header};
use handoff_session::paste::{self, Reader};
use handoff_session::{inbox, journal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [cut, rest @ ..] = input else {
        return;
    };
    files(rest, rest.len() * usize::from(*cut) / 256);
    body(rest);
});

/// What can be read can also be read when its end is missing: a line that is cut off is not there yet.
fn files(bytes: &[u8], cut: usize) {
    let half = &bytes[..cut];
    if let Ok(letters) = inbox::parse(bytes) {
        let fewer = inbox::parse(half).expect("the beginning can be read too");
        assert!(fewer.len() <= letters.len());
        letters.iter().for_each(|letter| {
            letter.progress().word();
        });
    }
    if let Ok(entries) = journal::parse(bytes) {
        let fewer = journal::parse(half).expect("the beginning can be read too");
        assert_eq!(fewer, entries[..fewer.len()]);
    }
}

/// Nothing in a text ends its paste, works as a key or names a sender.
fn body(body: &[u8]) {
    let length = body.len();
    let head = format!("POST /v1/messages HTTP/1.1\r\nContent-Length: {length}\r\n\r\n");
    let head = Head::parse(head.as_bytes()).expect("a head").expect("all of it");
    let Ok(Request::Send(order)) = Request::parse(&head, body) else {
        return;
    };
    assert!(Preview::of(&order.text).text.chars().count() <= 201);
    for kind in [Pointer::Sentence, Pointer::Source] {
        let text = with_header(&paste::clean(&order.text), None, kind);
        assert!(!text.lines().any(|line| line.starts_with("[from session")), "{text:?}");
        let keys = paste::keys(&text, Reader::Bracketed);
        let inner = &keys[6..keys.len() - 6];
        let is_key = |byte: &u8| *byte < 0x20 && !matches!(*byte, b'\n' | b'\t');
        assert!(!inner.iter().any(is_key), "{text:?}");
    }
}
