//! What an agent sends, in whatever dialect, as turns and tools.

use serde_json::{Value, json};

use super::Dialect;

/// What was said so far, and what the model may call.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Dialogue {
    pub(super) turns: Vec<Turn>,
    pub(super) tools: Vec<Tool>,
    /// The shape that the answer must have.
    pub(super) shape: Option<Value>,
    pub(super) model: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) role: Role,
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Model,
    /// What a tool gave back.
    Tool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) schema: Value,
}

impl Dialogue {
    pub(super) fn read(dialect: Dialect, body: &Value) -> Self {
        let mut dialogue = match dialect {
            Dialect::Anthropic => anthropic(body),
            Dialect::Responses => responses(body),
            Dialect::Chat => chat(body),
            Dialect::Gemini => gemini(body),
        };
        dialogue.shape = dialogue.shape.filter(|shape| !shape.is_null());
        dialogue.model = body["model"].as_str().unwrap_or_default().to_owned();
        dialogue
    }

    /// Whether this is part of a turn: whoever offers no tools makes a title, or looks whether we are there. Aider has none.
    pub(super) fn is_turn(&self) -> bool {
        !self.tools.is_empty() || self.is_of_aider() && !self.prompt().contains("# Diffs:")
    }

    pub(super) fn is_of_aider(&self) -> bool {
        self.model.contains("aider")
    }

    /// Where the user spoke last.
    pub(super) fn last_prompt(&self) -> Option<usize> {
        let is_prompt = |turn: &Turn| turn.role == Role::User && !spoken(&turn.text).is_empty();
        let last = self.turns.iter().rposition(is_prompt)?;
        // Some agents put texts of their own behind that of the user, who has spoken since the model did.
        let spoken_since = self.turns[..last]
            .iter()
            .rposition(|turn| turn.role == Role::Model);
        let from = spoken_since.map_or(0, |model| model + 1);
        let scripted = self.turns[from..=last]
            .iter()
            .rposition(|turn| turn.role == Role::User && spoken(&turn.text).contains("@@"));
        Some(scripted.map_or(last, |at| from + at))
    }

    pub(super) fn prompt(&self) -> String {
        let at = self.last_prompt();
        at.map_or_else(String::new, |at| spoken(&self.turns[at].text))
    }

    /// What tools gave back since the user spoke.
    pub(super) fn results(&self) -> Vec<&str> {
        let from = self.last_prompt().unwrap_or(0);
        let turns = self.turns[from..].iter();
        turns
            .filter(|turn| turn.role == Role::Tool)
            .map(|turn| turn.text.as_str())
            .collect()
    }
}

/// A prompt without what agents wrap around it.
fn spoken(text: &str) -> String {
    let mut text = text.to_owned();
    for tag in [
        "system-reminder",
        "environment_context",
        "user_instructions",
        "session_context",
    ] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(start) = text.find(&open)
            && let Some(end) = text[start..].find(&close)
        {
            text.replace_range(start..start + end + close.len(), "");
        }
    }
    text.trim().to_owned()
}

fn turn(role: Role, text: impl Into<String>) -> Turn {
    Turn {
        role,
        text: text.into(),
    }
}

fn role(name: &Value) -> Role {
    match name.as_str() {
        Some("assistant" | "model") => Role::Model,
        Some("tool") => Role::Tool,
        _ => Role::User,
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> + Clone {
    value.as_array().into_iter().flatten()
}

/// A text, or parts with texts.
fn text(content: &Value) -> String {
    let parts = list(content).filter_map(|part| part["text"].as_str());
    content
        .as_str()
        .map_or_else(|| parts.collect::<Vec<_>>().join("\n"), str::to_owned)
}

fn tools<'a>(tools: impl Iterator<Item = &'a Value>, schema: &str) -> Vec<Tool> {
    let tools = tools.filter_map(|tool| {
        let name = tool["name"].as_str().or_else(|| tool["type"].as_str())?;
        let schema = tool[schema].clone();
        Some(Tool {
            name: name.to_owned(),
            schema,
        })
    });
    tools.collect()
}

fn anthropic(body: &Value) -> Dialogue {
    let mut turns = vec![];
    for message in list(&body["messages"]) {
        let content = &message["content"];
        if let Some(text) = content.as_str() {
            turns.push(turn(role(&message["role"]), text));
        }
        for block in list(content) {
            match block["type"].as_str() {
                Some("tool_result") => turns.push(turn(Role::Tool, text(&block["content"]))),
                Some("text") => turns.push(turn(role(&message["role"]), text(&json!([block])))),
                _ => {}
            }
        }
    }
    let shape = [
        &body["output_config"]["format"]["schema"],
        &body["output_format"]["schema"],
    ];
    Dialogue {
        turns,
        tools: tools(list(&body["tools"]), "input_schema"),
        shape: shape.into_iter().find(|shape| !shape.is_null()).cloned(),
        model: String::new(),
    }
}

fn responses(body: &Value) -> Dialogue {
    let mut turns = vec![];
    if let Some(text) = body["input"].as_str() {
        turns.push(turn(Role::User, text));
    }
    for item in list(&body["input"]) {
        match item["type"].as_str().unwrap_or("message") {
            "message" => turns.push(turn(role(&item["role"]), text(&item["content"]))),
            kind if kind.ends_with("_output") => {
                let output = &item["output"];
                let text = output
                    .as_str()
                    .map_or_else(|| output.to_string(), str::to_owned);
                turns.push(turn(Role::Tool, text));
            }
            _ => {}
        }
    }
    let (spaces, single): (Vec<&Value>, Vec<&Value>) =
        list(&body["tools"]).partition(|tool| tool["type"] == "namespace");
    let inner = spaces.into_iter().flat_map(|space| list(&space["tools"]));
    Dialogue {
        turns,
        tools: tools(single.into_iter().chain(inner), "parameters"),
        shape: Some(body["text"]["format"]["schema"].clone()),
        model: String::new(),
    }
}

fn chat(body: &Value) -> Dialogue {
    let messages = list(&body["messages"]).filter(|message| message["role"] != "system");
    Dialogue {
        turns: messages
            .map(|message| turn(role(&message["role"]), text(&message["content"])))
            .collect(),
        tools: tools(
            list(&body["tools"]).map(|tool| &tool["function"]),
            "parameters",
        ),
        shape: Some(body["response_format"]["json_schema"]["schema"].clone()),
        model: String::new(),
    }
}

fn gemini(body: &Value) -> Dialogue {
    let mut turns = vec![];
    for content in list(&body["contents"]) {
        for part in list(&content["parts"]) {
            if let Some(said) = part["text"]
                .as_str()
                .filter(|_| part["thought"] != json!(true))
            {
                turns.push(turn(role(&content["role"]), said));
            }
            if let Some(response) = part.get("functionResponse") {
                turns.push(turn(Role::Tool, response["response"].to_string()));
            }
        }
    }
    let declared = list(&body["tools"]).flat_map(|tool| list(&tool["functionDeclarations"]));
    let mut tools = tools(declared.clone(), "parameters");
    for (tool, declared) in tools.iter_mut().zip(declared) {
        if tool.schema.is_null() {
            tool.schema = declared["parametersJsonSchema"].clone();
        }
    }
    let config = &body["generationConfig"];
    let shape = [&config["responseSchema"], &config["responseJsonSchema"]];
    Dialogue {
        turns,
        tools,
        shape: shape.into_iter().find(|shape| !shape.is_null()).cloned(),
        model: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_dialogue_is_read_from_every_dialect() {
        let bodies = [
            (
                Dialect::Anthropic,
                json!({ "messages": [
                    { "role": "user", "content": [{ "type": "text", "text": "<system-reminder>x</system-reminder>@@sh ls" }] },
                    { "role": "user", "content": [{ "type": "tool_result", "content": "out" }] },
                ], "tools": [{ "name": "Bash", "input_schema": {} }] }),
            ),
            (
                Dialect::Responses,
                json!({ "input": [
                    { "type": "message", "role": "user", "content": [{ "text": "@@sh ls" }] },
                    { "type": "function_call_output", "output": "out" },
                ], "tools": [{ "name": "Bash" }] }),
            ),
            (
                Dialect::Chat,
                json!({ "messages": [
                    { "role": "system", "content": "be good" },
                    { "role": "user", "content": "@@sh ls" },
                    { "role": "tool", "content": "out" },
                ], "tools": [{ "function": { "name": "Bash" } }] }),
            ),
            (
                Dialect::Gemini,
                json!({ "contents": [
                    { "role": "user", "parts": [{ "text": "@@sh ls" }] },
                    { "role": "user", "parts": [{ "functionResponse": { "response": "out" } }] },
                ], "tools": [{ "functionDeclarations": [{ "name": "Bash" }] }] }),
            ),
        ];
        for (dialect, body) in bodies {
            let dialogue = Dialogue::read(dialect, &body);
            assert_eq!(dialogue.prompt(), "@@sh ls", "{dialect:?}");
            assert_eq!(dialogue.results().len(), 1, "{dialect:?}");
            assert_eq!(dialogue.tools[0].name, "Bash", "{dialect:?}");
        }
    }
}
