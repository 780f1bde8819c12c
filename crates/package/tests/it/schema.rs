//! The published schema names what is written.

use handoff_package::{schema, seal};
use serde_json::Value;

use crate::fixture::{key, package, provenance};

fn names(schema: &Value) -> Vec<&String> {
    let mut names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    names.sort();
    names
}

fn fields(document: &Value) -> Vec<&String> {
    let mut names: Vec<_> = document.as_object().unwrap().keys().collect();
    names.sort();
    names
}

#[test]
fn header_and_payload_have_the_fields_of_their_schema() {
    let mut package = package();
    package.label.provenance = Some(provenance());
    let sealed = seal(&package, &key()).unwrap();
    let text = std::str::from_utf8(sealed.bytes()).unwrap();
    let (header, payload) = text.split_once('\n').unwrap();
    let schema = serde_json::to_value(schema::schema()).unwrap();
    let header: Value = serde_json::from_str(header).unwrap();
    let payload: Value = serde_json::from_str(payload).unwrap();
    assert_eq!(fields(&header), names(&schema["header"]));
    assert_eq!(fields(&payload), names(&schema["payload"]));
    assert_eq!(
        fields(&header["label"]),
        names(&schema["header"]["$defs"]["Label"])
    );
}
