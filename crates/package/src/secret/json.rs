//! Secrets within JSON: looked for in each string as it is meant, so that escapes hide nothing, and replaced there, so that
//! everything else keeps its spelling.

use handoff_core::JsonText;

use super::{Finding, redact, scan, spans};

/// Looks for secrets in the strings of a value, and in the whole of it: a key and its value may be one only together.
pub(crate) fn scan_json(value: &JsonText, place: &str) -> Vec<Finding> {
    let strings = strings(value.as_str());
    let mut found: Vec<_> = strings
        .iter()
        .flat_map(|(_, _, text)| scan(text, place))
        .collect();
    if found.is_empty() {
        found = scan(value.as_str(), place);
    }
    found
}

/// The value with marks in the places of its secrets.
pub(crate) fn redact_json(value: &JsonText) -> JsonText {
    let source = value.as_str();
    let mut clean = String::with_capacity(source.len());
    let mut rest = 0;
    for (start, end, text) in strings(source) {
        if spans(&text).is_empty() {
            continue;
        }
        clean.push_str(&source[rest..start]);
        clean.push_str(&serde_json::Value::from(redact(&text)).to_string());
        rest = end;
    }
    clean.push_str(&source[rest..]);
    // What is one only together with its key stands between quotes too: a mark leaves them as they are.
    let clean = redact(&clean);
    clean
        .parse()
        .unwrap_or_else(|_| JsonText::of_text("[redacted]").expect("a short text is a JSON string"))
}

/// The strings of a JSON text: where each begins and ends, with its quotes, and what it means.
fn strings(source: &str) -> Vec<(usize, usize, String)> {
    let bytes = source.as_bytes();
    let mut found = vec![];
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(|byte| *byte == b'"') {
        let start = at + start;
        let end = end_of_string(bytes, start + 1);
        if let Ok(text) = serde_json::from_str(&source[start..end]) {
            found.push((start, end, text));
        }
        at = end;
    }
    found
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}
