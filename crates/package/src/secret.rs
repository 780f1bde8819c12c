//! What must not go into a package: secrets of known shapes, and files that hold secrets by their name.
//!
//! A finding has a kind and a place, never the value. Finding nothing is no proof that there is nothing.

mod clean;
mod json;
mod shape;
mod stream;
mod view;

pub use clean::{Clean, SecretsError};
pub(crate) use json::{redact_json, scan_json};
pub(crate) use stream::scan_stream;

use std::fmt;

use view::{Edges, View};

/// Something that looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it looks like.
    pub kind: &'static str,
    /// Where it is, in words.
    pub place: String,
    /// In which line there, counted from one.
    pub line: usize,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}, line {}", self.kind, self.place, self.line)
    }
}

/// The bytes of a text that look like a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) kind: &'static str,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Looks for secrets in a text.
pub(crate) fn scan(text: &str, place: &str) -> Vec<Finding> {
    let line = |at: usize| {
        1 + text.as_bytes()[..at]
            .iter()
            .filter(|it| **it == b'\n')
            .count()
    };
    spans(text)
        .into_iter()
        .map(|span| Finding {
            kind: span.kind,
            place: place.to_owned(),
            line: line(span.start),
        })
        .collect()
}

/// The text with marks in the places of its secrets.
pub(crate) fn redact(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = 0;
    for span in spans(text) {
        clean.push_str(&text[rest..span.start]);
        clean.push_str("[redacted: ");
        clean.push_str(span.kind);
        clean.push(']');
        rest = span.end;
    }
    clean.push_str(&text[rest..]);
    clean
}

/// Where the secrets of a text are, in order, without overlap.
pub(crate) fn spans(text: &str) -> Vec<Span> {
    let mut found = shape::find_all(text);
    let plain = View::plain(text);
    if let Some(plain) = &plain {
        let spans = shape::find_all(plain.text());
        found.extend(spans.iter().map(|span| plain.in_original(span)));
    }
    let plain_text = plain.as_ref().map_or(text, View::text);
    for edges in [Edges::Kept, Edges::Trimmed, Edges::Cut] {
        let Some(joined) = View::joined(plain_text, edges) else {
            break;
        };
        let spans = shape::find_joined(&joined);
        let spans = spans.iter().map(|span| joined.in_original(span));
        found.extend(spans.map(|span| match &plain {
            Some(plain) => plain.in_original(&span),
            None => span,
        }));
    }
    merged(found)
}

/// In order, without overlap. What overlaps becomes one: to leave one of the two out would leave a part of it standing.
fn merged(mut found: Vec<Span>) -> Vec<Span> {
    found.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut merged: Vec<Span> = Vec::with_capacity(found.len());
    for span in found {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            Some(_) | None => merged.push(span),
        }
    }
    merged
}

/// What a file holds that has such a name; none if its name says nothing.
pub(crate) fn kind_by_name(name: &str) -> Option<&'static str> {
    let base = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let is_env = base == ".env" || (base.starts_with(".env.") && !base.ends_with("example"));
    let identities = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    let is_identity = identities.contains(&base.as_str());
    let ends = |suffixes: &[&str]| suffixes.iter().any(|it| base.ends_with(it));
    if is_env {
        Some("environment file")
    } else if matches!(
        base.as_str(),
        ".netrc" | "_netrc" | ".pgpass" | ".git-credentials"
    ) {
        Some("password file")
    } else if is_identity || ends(&[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore"]) {
        Some("private key file")
    } else if matches!(
        base.as_str(),
        ".npmrc" | ".pypirc" | "credentials" | ".htpasswd"
    ) {
        Some("credentials file")
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
