//! `~/.copilot/session-state/ID/events.jsonl`.

use serde::Deserialize;
use serde_json::Value;

use super::{ApiError, End, Happening, Usage};
use crate::adapter::Block;

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Kind {
    #[serde(rename = "user.message")]
    Asked,
    #[serde(rename = "assistant.turn_start")]
    Began,
    #[serde(rename = "assistant.message")]
    Said,
    #[serde(rename = "session.usage_record")]
    Used,
    #[serde(rename = "tool.execution_start")]
    Called,
    #[serde(rename = "tool.execution_complete")]
    Returned,
    #[serde(rename = "permission.requested")]
    PermissionAsked,
    #[serde(rename = "permission.completed")]
    PermissionSettled,
    #[serde(rename = "abort")]
    Interrupted,
    #[serde(rename = "session.error")]
    Failed,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: Kind,
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
    match line.kind {
        Kind::Asked | Kind::Began => vec![Happening::Began],
        Kind::Said => said(data),
        Kind::Used => vec![Happening::Used(tokens(&data["usage"]))],
        Kind::Called => one(name("toolCallId").map(Happening::Called)),
        Kind::Returned => one(name("toolCallId").map(Happening::Returned)),
        Kind::PermissionAsked => {
            one(name("requestId").map(|it| Happening::Asked(it, Block::Permission)))
        }
        Kind::PermissionSettled => one(name("requestId").map(Happening::Settled)),
        Kind::Interrupted => vec![Happening::Ended(End::Interrupted)],
        Kind::Failed => {
            let error = ApiError::read(
                data["statusCode"].as_u64(),
                &name("message").unwrap_or_default(),
            );
            vec![Happening::Ended(End::Failed(error))]
        }
        Kind::Other => vec![],
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
