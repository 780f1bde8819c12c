//! Values that fit the schema of a tool or of an answer.

use serde_json::{Map, Value, json};

/// The smallest value that fits.
pub(super) fn example(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match kind(schema).as_str() {
        "object" => {
            let properties = schema["properties"].as_object();
            let fields = properties.into_iter().flatten();
            let fields = fields.map(|(key, schema)| (key.clone(), example(schema)));
            Value::Object(fields.collect())
        }
        "array" => json!([]),
        "integer" | "number" => json!(0),
        "boolean" => json!(false),
        _ => json!("a title"),
    }
}

/// The arguments of a tool: those of `values` that it knows, and an example of what else it needs.
pub(super) fn filled(schema: &Value, values: &[(&str, &str)]) -> Value {
    let properties = &schema["properties"];
    let mut arguments = Map::new();
    for (key, value) in values.iter().filter(|(key, _)| !properties[key].is_null()) {
        let value = match kind(&properties[key]).as_str() {
            "array" => json!(["bash", "-lc", value]),
            _ => json!(value),
        };
        arguments.insert((*key).to_owned(), value);
    }
    let required = schema["required"].as_array().into_iter().flatten();
    for key in required.filter_map(Value::as_str) {
        if !arguments.contains_key(key) {
            arguments.insert(key.to_owned(), example(&properties[key]));
        }
    }
    Value::Object(arguments)
}

/// Gemini writes it in capitals; JSON schema allows several.
fn kind(schema: &Value) -> String {
    let kind = schema["type"]
        .as_str()
        .or_else(|| schema["type"][0].as_str());
    kind.unwrap_or("object").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_fit_what_a_tool_asks_for() {
        let schema = json!({
            "properties": {
                "command": { "type": "string" },
                "timeout": { "type": "integer" },
                "why": { "type": ["string", "null"] },
            },
            "required": ["command", "why"],
        });
        let filled = filled(&schema, &[("command", "ls"), ("cmd", "ls")]);
        assert_eq!(filled, json!({ "command": "ls", "why": "a title" }));
    }
}
