//! `~/.copilot/session-state/ID/events.jsonl`.

use serde::Deserialize;
use serde_json::Value;

use super::{End, Happening, Usage};
use crate::adapter::Block;

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    data: Value,
}

pub(super) fn read(line: &str) -> Vec<Happening> {
    let Ok(line) = serde_json::from_str::<Line>(line) else {
        return vec![];
    };
    let data = &line.data;
    // What an agent of the agent says is not the agent's word.
    if !data["parentToolCallId"].is_null() {
        return vec![];
    }
    let name = |key: &str| data[key].as_str().map(str::to_owned);
    let one = |happening: Option<Happening>| happening.into_iter().collect();
    match line.kind.as_str() {
        "user.message" | "assistant.turn_start" => vec![Happening::Began],
        "assistant.message" => said(data),
        "session.usage_record" => vec![Happening::Used(tokens(&data["usage"]))],
        "tool.execution_start" => one(name("toolCallId").map(Happening::Called)),
        "tool.execution_complete" => one(name("toolCallId").map(Happening::Returned)),
        "permission.requested" => {
            one(name("requestId").map(|it| Happening::Asked(it, Block::Permission)))
        }
        "permission.completed" => one(name("requestId").map(Happening::Settled)),
        "abort" => vec![Happening::Ended(End::Interrupted)],
        "session.error" => vec![Happening::Ended(End::Failed)],
        _ => vec![],
    }
}

/// What it calls goes on; words without a call are its last.
fn said(data: &Value) -> Vec<Happening> {
    let text = data["content"].as_str().filter(|text| !text.is_empty());
    let said = text.map(|text| Happening::Said {
        message: data["messageId"].as_str().unwrap_or_default().to_owned(),
        text: text.to_owned(),
    });
    let has_calls = data["toolRequests"]
        .as_array()
        .is_some_and(|it| !it.is_empty());
    let end = (!has_calls).then_some(Happening::Ended(End::Done));
    said.into_iter().chain(end).collect()
}

/// Its `cost` counts requests, not money.
fn tokens(usage: &Value) -> Usage {
    let number = |key: &str| usage[key].as_u64().unwrap_or(0);
    let cached = number("cacheReadTokens");
    Usage {
        input_tokens: number("inputTokens").saturating_sub(cached),
        output_tokens: number("outputTokens"),
        cache_read_tokens: cached,
        cache_write_tokens: number("cacheWriteTokens"),
        cost_usd: None,
    }
}
