//! Whatever stands in a package is looked at before it is sealed, whichever field it stands in.

use handoff_core::package::Label;
use handoff_package::{Clean, Package, Payload};
use proptest::prelude::*;
use serde_json::Value;

use crate::fixture::full;
use crate::properties::entries;

/// Put together at run time, so that no scanner takes this file for a leak. Without letters that some field would not take.
fn secrets() -> [String; 3] {
    [
        format!("AKIA{}", "A1B2C3D4".repeat(2)),
        format!("sk-ant-{}", "ab3de5gh7jk9".repeat(3)),
        format!("https://me:{}@host", "ab3de5gh7jk9"),
    ]
}

/// Calls `visit` with the value, once for each of its strings, which `secret` has taken the place of.
fn planted(whole: &Value, secret: &str, visit: &mut dyn FnMut(Value, &str)) {
    let mut places = vec![];
    strings(whole, String::new(), &mut places);
    for place in places {
        let mut changed = whole.clone();
        *changed.pointer_mut(&place).unwrap() = Value::from(secret);
        visit(changed, &place);
    }
}

fn strings(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::String(_) => places.push(place),
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                strings(item, format!("{place}/{number}"), places);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                strings(field, format!("{place}/{name}"), places);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The package with a secret in one place is refused without telling it, and redacted nothing is left of it.
fn is_kept_out(package: Package, secret: &str, place: &str) {
    let value = &secret[secret.len() - 10..];
    let refused = Clean::check(package.clone()).expect_err(place);
    let told = format!("{refused} {refused:?}");
    assert!(!told.contains(value), "{place}: {told}");
    match Clean::redact(package) {
        Err(refused) => assert!(!refused.to_string().contains(value), "{place}"),
        Ok((clean, found)) => {
            assert!(!found.is_empty(), "{place}");
            let package = clean.package();
            let payload = serde_json::to_string(&package.payload).unwrap();
            let label = serde_json::to_string(&package.label).unwrap();
            assert!(
                !payload.contains(value) && !label.contains(value),
                "{place}"
            );
        }
    }
}

/// In how many places of a package a secret was planted that its types would have taken.
fn plant_everywhere(package: &Package, secrets: &[String]) -> usize {
    let mut count = 0;
    let payload = serde_json::to_value(&package.payload).unwrap();
    let label = serde_json::to_value(&package.label).unwrap();
    for secret in secrets {
        // The value of a context is JSON in a string.
        for spelled in [
            secret.clone(),
            format!("{secret:?}"),
            format!("[{secret:?}]"),
        ] {
            planted(&payload, &spelled, &mut |changed, place| {
                if let Ok(payload) = serde_json::from_value::<Payload>(changed) {
                    let label = package.label.clone();
                    is_kept_out(Package { label, payload }, secret, place);
                    count += 1;
                }
            });
        }
        planted(&label, secret, &mut |changed, place| {
            if let Ok(label) = serde_json::from_value::<Label>(changed) {
                let payload = package.payload.clone();
                is_kept_out(Package { label, payload }, secret, place);
                count += 1;
            }
        });
    }
    count
}

#[test]
fn a_secret_in_any_place_of_a_package_is_refused_or_redacted() {
    let count = plant_everywhere(&full(), &secrets());
    assert!(count > 100, "it was planted in {count} places only");
}

#[test]
fn a_package_without_secrets_is_clean_and_stays_as_it_is() {
    let package = full();
    assert_eq!(Clean::check(package.clone()).unwrap().package(), &package);
    let (clean, found) = Clean::redact(package.clone()).unwrap();
    assert_eq!((clean.package(), found.len()), (&package, 0));
}

#[test]
fn a_key_that_gives_its_value_away_is_found() {
    let mut package = full();
    let mut entries = package.payload.context.to_entries();
    entries[0].key = "api_key".parse().unwrap();
    entries[0].value = r#""ab3de5gh7jk9""#.parse().unwrap();
    package.payload.required.clear();
    package.payload.context = handoff_package::payload::SerializedContext::of(entries);
    is_kept_out(package, "ab3de5gh7jk9", "api_key");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]

    #[test]
    fn so_it_is_in_any_package(mut entries in entries()) {
        entries.truncate(2);
        let mut package = full();
        package.payload.required.clear();
        package.payload.context = handoff_package::payload::SerializedContext::of(entries);
        prop_assume!(Clean::check(package.clone()).is_ok());
        plant_everywhere(&package, &secrets()[..1]);
    }
}
