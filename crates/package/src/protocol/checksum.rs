//! The checksums of the Handoff Protocol: SHA-256 of what `JSON.stringify` makes of a part of the file.
//!
//! `context.checksum` is of `context.entries`, `integrity.checksum` of `context`. They show accidents; whoever changes a file on
//! purpose computes them again.

use std::ops::Range;

use handoff_core::Digest;

/// A JSON document as `JSON.stringify` spells it: no white space, one spelling of each string, members in the order of the file.
pub(super) struct Compact(String);

impl Compact {
    /// The spelling of a document that was parsed before.
    pub(super) fn of(document: &str) -> Self {
        let mut compact = String::with_capacity(document.len());
        let mut rest = document;
        while let Some(first) = rest.chars().next() {
            if first == '"' {
                let (string, behind) = rest.split_at(end_of_string(rest));
                push_string(&mut compact, string);
                rest = behind;
            } else {
                if !first.is_ascii_whitespace() {
                    compact.push(first);
                }
                rest = &rest[first.len_utf8()..];
            }
        }
        Self(compact)
    }

    /// SHA-256 of the member at a path of names.
    pub(super) fn digest_of(&self, path: &[&str]) -> Option<Digest> {
        let mut part = self.0.as_str();
        for name in path {
            part = &part[member(part, name)?];
        }
        Some(Digest::of(part.as_bytes()))
    }
}

/// Where a string ends that begins here.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// serde spells strings as `JSON.stringify` does. Half a surrogate pair is no Rust text and keeps its escape, as it does there.
fn push_string(compact: &mut String, string: &str) {
    match serde_json::from_str::<String>(string) {
        Ok(text) => compact.push_str(&serde_json::Value::from(text).to_string()),
        Err(_) => compact.push_str(string),
    }
}

/// Where the value of a member of a compact object is.
fn member(object: &str, name: &str) -> Option<Range<usize>> {
    let name = serde_json::Value::from(name).to_string();
    let mut at = 1;
    while object.as_bytes().get(at) == Some(&b'"') {
        let key_ends = at + end_of_string(&object[at..]);
        let value = key_ends + 1..end_of_value(object, key_ends + 1);
        if object[at..key_ends] == name {
            return Some(value);
        }
        at = value.end + 1;
    }
    None
}

/// Where a value ends: at the comma or bracket that is not within it.
fn end_of_value(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (start, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += end_of_string(&text[at..]);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b',' if depth == 0 => return at,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}
