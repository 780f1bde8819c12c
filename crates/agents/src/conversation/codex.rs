//! `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`.

use serde::Deserialize;
use serde_json::Value;

use super::{ApiError, ApiErrorKind, End, Happening, Usage};

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    EventMsg,
    ResponseItem,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    payload: Value,
}

pub(super) fn read(line: &str) -> Vec<Happening> {
    let Ok(line) = serde_json::from_str::<Line>(line) else {
        return vec![];
    };
    let payload = &line.payload;
    match (line.kind, payload["type"].as_str().unwrap_or_default()) {
        (Kind::EventMsg, "task_started") => vec![Happening::Began],
        (Kind::EventMsg, "task_complete") => completed(payload),
        (Kind::EventMsg, "turn_aborted") => vec![Happening::Ended(End::Interrupted)],
        (Kind::EventMsg, "token_count") => tokens(&payload["info"]["total_token_usage"]),
        (Kind::ResponseItem, "message") if payload["role"] == "assistant" => said(payload),
        (Kind::ResponseItem, kind) => call(kind, payload).into_iter().collect(),
        (Kind::EventMsg | Kind::Other, _) => vec![],
    }
}

/// Each kind of call has a kind of output that answers it.
fn call(kind: &str, payload: &Value) -> Option<Happening> {
    let id = payload["call_id"].as_str()?.to_owned();
    match kind {
        "function_call" | "custom_tool_call" | "local_shell_call" => Some(Happening::Called(id)),
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            Some(Happening::Returned(id))
        }
        _ => None,
    }
}

fn completed(payload: &Value) -> Vec<Happening> {
    let last = payload["last_agent_message"].as_str();
    let said = last.map(|text| Happening::Said {
        message: String::new(),
        text: text.to_owned(),
    });
    let error = &payload["error"];
    let end = if error.is_null() {
        End::Done
    } else {
        End::Failed(failure(error))
    };
    said.into_iter().chain([Happening::Ended(end)]).collect()
}

fn failure(error: &Value) -> ApiError {
    let said = error["message"].as_str().unwrap_or_default();
    let info = &error["codex_error_info"];
    if info == "usage_limit_exceeded" {
        return ApiError {
            kind: ApiErrorKind::Quota,
            ..ApiError::read(None, said)
        };
    }
    // The number stands in an object of the kind's name.
    let kinds = info.as_object().into_iter().flatten();
    let status = kinds
        .filter_map(|(_, kind)| kind["http_status_code"].as_u64())
        .next();
    // Some answers are passed on as they came.
    let is_request = said.contains("invalid_request_error");
    ApiError::read(status.or(is_request.then_some(400)), said)
}

fn said(payload: &Value) -> Vec<Happening> {
    let parts = payload["content"].as_array().into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    if texts.is_empty() {
        return vec![];
    }
    vec![Happening::Said {
        message: payload["id"].as_str().unwrap_or_default().to_owned(),
        text: texts.join("\n"),
    }]
}

/// It counts what came from a cache as input too.
fn tokens(usage: &Value) -> Vec<Happening> {
    let number = |key: &str| usage[key].as_u64().unwrap_or(0);
    if usage.is_null() {
        return vec![];
    }
    let cached = number("cached_input_tokens");
    vec![Happening::TookInAll(Usage {
        input_tokens: number("input_tokens").saturating_sub(cached),
        output_tokens: number("output_tokens"),
        cache_read_tokens: cached,
        cache_write_tokens: number("cache_write_input_tokens"),
        cost_usd: None,
    })]
}
