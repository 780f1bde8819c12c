//! `~/.gemini/tmp/PROJECT/chats/session-….jsonl`.
//!
//! After an interrupt it writes the whole conversation again, with new names and without figures; such lines say nothing.

use serde::Deserialize;
use serde_json::Value;

use super::{ApiError, End, Happening, Usage};

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    User,
    Gemini,
    Info,
    Error,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: String,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    content: Value,
    tokens: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    input: u64,
    output: u64,
    #[serde(default)]
    cached: u64,
    #[serde(default)]
    thoughts: u64,
}

pub(super) fn read(line: &str) -> Vec<Happening> {
    let Ok(line) = serde_json::from_str::<Line>(line) else {
        return vec![];
    };
    match line.kind {
        Kind::User => asked(&line.content),
        Kind::Gemini => said(&line),
        Kind::Info if is_cancelled(&line.content) => ended(End::Interrupted),
        Kind::Error => {
            let said = line.content.as_str().unwrap_or_default();
            ended(End::Failed(ApiError::read(None, said)))
        }
        Kind::Info | Kind::Other => vec![],
    }
}

/// Each of its words looked like the last.
fn ended(end: End) -> Vec<Happening> {
    vec![Happening::WentOn, Happening::Ended(end)]
}

fn is_cancelled(content: &Value) -> bool {
    content.as_str() == Some("Request cancelled.")
}

/// Results of tools come as words of the user; the turn goes on with them. No line ends a turn but the next question.
fn asked(content: &Value) -> Vec<Happening> {
    let parts = content.as_array().into_iter().flatten();
    if parts
        .clone()
        .any(|part| part.get("functionResponse").is_some())
    {
        return vec![Happening::WentOn];
    }
    vec![Happening::Ended(End::Done), Happening::Began]
}

fn said(line: &Line) -> Vec<Happening> {
    let (Some(text), Some(tokens)) = (line.content.as_str(), &line.tokens) else {
        return vec![];
    };
    let said = (!text.is_empty()).then(|| Happening::Said {
        message: line.id.clone(),
        text: text.to_owned(),
    });
    let took = Happening::Took {
        message: line.id.clone(),
        usage: Usage {
            input_tokens: tokens.input.saturating_sub(tokens.cached),
            output_tokens: tokens.output + tokens.thoughts,
            cache_read_tokens: tokens.cached,
            cache_write_tokens: 0,
            cost_usd: None,
        },
    };
    said.into_iter()
        .chain([took, Happening::Ended(End::Done)])
        .collect()
}
