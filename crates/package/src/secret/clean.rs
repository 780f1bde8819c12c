//! A package that was looked through for secrets. What keeps packages takes only such ones, so that no way to a seal leads
//! around the look.
//!
//! The look goes through the package as it will be written, string by string. It knows no field by name: one that is added
//! later is looked at without anybody thinking of it.

use std::fmt;

use handoff_core::JsonText;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Finding, redact, redact_json, scan, scan_json};
use crate::payload::{Package, Payload, SerializedContext};

/// So much of a value is looked at together with its key.
const ASSIGNED: usize = 1024;

/// A package in which nothing looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clean(Package);

/// A package that is not to be sealed as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it looks as if there were secrets in it: {}", in_words(.found))]
pub struct SecretsError {
    /// What was found, by kind and place.
    pub found: Vec<Finding>,
}

fn in_words(found: &[Finding]) -> impl fmt::Display {
    let told: Vec<_> = found.iter().take(20).map(ToString::to_string).collect();
    told.join("; ")
}

impl Clean {
    /// The package, if nothing in it and on it looks like a secret.
    pub fn check(package: Package) -> Result<Self, SecretsError> {
        let mut found = look(&package.payload, Treatment::Find).1;
        found.extend(look(&package.label, Treatment::Find).1);
        if found.is_empty() {
            Ok(Self(package))
        } else {
            Err(SecretsError { found })
        }
    }

    /// The package with marks in the places of its secrets, and what they were. What stands on a package, and what would
    /// become something else with a mark in it, is refused all the same.
    pub fn redact(mut package: Package) -> Result<(Self, Vec<Finding>), SecretsError> {
        let (marked, found) = look(&package.payload, Treatment::Redact);
        if !found.is_empty() {
            let payload: Result<Payload, _> = serde_json::from_value(marked);
            let Ok(mut payload) = payload else {
                return Err(SecretsError { found });
            };
            payload.context = SerializedContext::of(payload.context.to_entries());
            package.payload = payload;
        }
        Ok((Self::check(package)?, found))
    }

    /// What is in it.
    #[must_use]
    pub const fn package(&self) -> &Package {
        &self.0
    }
}

/// What becomes of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Treatment {
    Find,
    Redact,
}

fn look(thing: &impl Serialize, treatment: Treatment) -> (Value, Vec<Finding>) {
    let mut value = serde_json::to_value(thing).expect("texts, numbers and lists are always JSON");
    let mut walk = Walk {
        treatment,
        found: vec![],
    };
    walk.value(&mut value, "");
    (value, walk.found)
}

struct Walk {
    treatment: Treatment,
    found: Vec<Finding>,
}

impl Walk {
    fn value(&mut self, value: &mut Value, place: &str) {
        match value {
            Value::String(text) => self.text(text, place),
            Value::Array(items) => {
                for (number, item) in items.iter_mut().enumerate() {
                    let place = format!("{place}[{}]", name_of(item, number));
                    self.value(item, &place);
                }
            }
            Value::Object(fields) => self.object(fields, place),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn object(&mut self, fields: &mut Map<String, Value>, place: &str) {
        let before = self.found.len();
        for (name, field) in fields.iter_mut() {
            let of_name = scan(name, &format!("a name in `{place}`"));
            let shown = if of_name.is_empty() { name } else { "…" };
            let inner = match place {
                "" => shown.to_owned(),
                _ => format!("{place}.{shown}"),
            };
            self.found.extend(of_name);
            self.value(field, &inner);
        }
        if self.found.len() == before {
            self.pair(fields, place);
        }
    }

    /// A key can give a value away: `api_key` and what is assigned to it.
    fn pair(&mut self, fields: &mut Map<String, Value>, place: &str) {
        let (Some(key), Some(value)) = (text_in(fields, "key"), text_in(fields, "value")) else {
            return;
        };
        // The value itself was looked at already; what the key says is about its beginning.
        let value = &value[..value.floor_char_boundary(ASSIGNED)];
        let found = scan(&format!("{key}: {value}"), &format!("`{place}.value`"));
        if !found.is_empty() && self.treatment == Treatment::Redact {
            fields.insert("value".to_owned(), Value::from("\"[redacted]\""));
        }
        self.found.extend(found);
    }

    fn text(&mut self, text: &mut String, place: &str) {
        let place = format!("`{place}`");
        // A text without an escape says what it spells: it need not be understood to be looked at.
        let json = text.contains('\\').then(|| as_json(text)).flatten();
        let found = match &json {
            Some(json) => scan_json(json, &place),
            None => scan(text, &place),
        };
        if !found.is_empty() && self.treatment == Treatment::Redact {
            *text = as_json(text).map_or_else(|| redact(text), |json| redact_json(&json).into());
        }
        self.found.extend(found);
    }
}

/// A text that is JSON, to be looked at as what it means, so that escapes hide nothing.
fn as_json(text: &str) -> Option<JsonText> {
    let can_be = text.starts_with(['{', '[', '"', ' ', '\n']);
    can_be.then(|| JsonText::parse(text).ok()).flatten()
}

fn text_in<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str()
}

/// What an item of a list is found by: its key, where it has one that may be told.
fn name_of(item: &Value, number: usize) -> String {
    let key = item.as_object().and_then(|fields| text_in(fields, "key"));
    match key {
        Some(key) if scan(key, "").is_empty() => key.to_owned(),
        Some(_) | None => number.to_string(),
    }
}
