//! The events of opencode's own server: `GET /event`, one JSON document each.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::{ApiError, End, Happening, Usage};
use crate::adapter::Block;

/// What must be remembered from event to event.
#[derive(Debug, Clone, Default)]
pub(super) struct Reader {
    /// The message that the model writes now.
    message: String,
    /// Sessions that were begun by one: what an agent of the agent says is not the agent's word.
    inner: BTreeSet<String>,
}

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Kind {
    #[serde(rename = "permission.asked")]
    PermissionAsked,
    #[serde(rename = "question.asked")]
    QuestionAsked,
    #[serde(
        rename = "permission.replied",
        alias = "question.replied",
        alias = "question.rejected"
    )]
    Settled,
    #[serde(rename = "session.created")]
    SessionCreated,
    #[serde(rename = "session.status")]
    Status,
    #[serde(rename = "session.error")]
    Failed,
    #[serde(rename = "message.updated")]
    Message,
    #[serde(rename = "message.part.updated")]
    Part,
    #[serde(other)]
    Other,
}

/// What a session does, in its own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Busy,
    Retry,
    Idle,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    properties: Value,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Tokens {
    input: u64,
    output: u64,
    reasoning: u64,
    cache: Cache,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Cache {
    read: u64,
    write: u64,
}

impl Reader {
    pub(super) fn read(&mut self, line: &str) -> Vec<Happening> {
        // One comes for each word of an answer, and the whole follows.
        if line.contains("\"type\":\"message.part.delta\"") {
            return vec![];
        }
        let Ok(Event { kind, properties }) = serde_json::from_str(line) else {
            return vec![];
        };
        let name = |key: &str| properties[key].as_str().map(str::to_owned);
        match kind {
            // Whoever asks: the person is asked.
            Kind::PermissionAsked => asked(name("id"), Block::Permission),
            Kind::QuestionAsked => asked(name("id"), Block::Question),
            Kind::Settled => name("requestID")
                .map(Happening::Settled)
                .into_iter()
                .collect(),
            Kind::SessionCreated => {
                let info = &properties["info"];
                let inner = info["parentID"].as_str().and(info["id"].as_str());
                self.inner.extend(inner.map(str::to_owned));
                vec![]
            }
            Kind::Status | Kind::Failed | Kind::Message | Kind::Part | Kind::Other => {
                let is_inner = name("sessionID").is_some_and(|it| self.inner.contains(&it));
                if is_inner {
                    vec![]
                } else {
                    self.of_session(kind, &properties)
                }
            }
        }
    }

    fn of_session(&mut self, kind: Kind, properties: &Value) -> Vec<Happening> {
        match kind {
            Kind::Status => match Status::deserialize(&properties["status"]["type"]) {
                Ok(Status::Busy | Status::Retry) => vec![Happening::Began],
                Ok(Status::Idle) => vec![Happening::Ended(End::Done)],
                Ok(Status::Other) | Err(_) => vec![],
            },
            Kind::Failed => {
                let is_abort = properties["error"]["name"] == "MessageAbortedError";
                let end = if is_abort {
                    End::Interrupted
                } else {
                    let data = &properties["error"]["data"];
                    let said = data["message"].as_str().unwrap_or_default();
                    End::Failed(ApiError::read(data["statusCode"].as_u64(), said))
                };
                vec![Happening::Ended(end)]
            }
            Kind::Message => self.updated(&properties["info"]),
            Kind::Part => self.part(&properties["part"]),
            Kind::PermissionAsked
            | Kind::QuestionAsked
            | Kind::Settled
            | Kind::SessionCreated
            | Kind::Other => vec![],
        }
    }

    fn updated(&mut self, info: &Value) -> Vec<Happening> {
        let id = info["id"].as_str().unwrap_or_default();
        if info["role"] != "assistant" {
            return vec![];
        }
        id.clone_into(&mut self.message);
        let tokens = Tokens::deserialize(&info["tokens"]).unwrap_or_default();
        let usage = Usage {
            input_tokens: tokens.input,
            output_tokens: tokens.output + tokens.reasoning,
            cache_read_tokens: tokens.cache.read,
            cache_write_tokens: tokens.cache.write,
            // Models that are not known cost nothing as far as it knows.
            cost_usd: info["cost"].as_f64().filter(|cost| *cost > 0.0),
        };
        let message = id.to_owned();
        vec![Happening::Took { message, usage }]
    }

    fn part(&self, part: &Value) -> Vec<Happening> {
        let name = |key: &str| part[key].as_str().map(str::to_owned);
        let call = name("callID");
        match (part["type"].as_str(), part["state"]["status"].as_str()) {
            (Some("text"), _) if self.is_said(part) => vec![Happening::Said {
                message: self.message.clone(),
                text: name("text").unwrap_or_default(),
            }],
            (Some("tool"), Some("running")) => call.map(Happening::Called).into_iter().collect(),
            (Some("tool"), Some("completed" | "error")) => {
                call.map(Happening::Returned).into_iter().collect()
            }
            _ => vec![],
        }
    }

    /// Words of the model, once they are whole. The user's own come in the same way.
    fn is_said(&self, part: &Value) -> bool {
        let is_whole = !part["time"]["end"].is_null();
        let is_empty = part["text"].as_str().is_none_or(str::is_empty);
        is_whole && !is_empty && part["messageID"] == self.message.as_str()
    }
}

fn asked(request: Option<String>, block: Block) -> Vec<Happening> {
    request
        .map(|it| Happening::Asked(it, block))
        .into_iter()
        .collect()
}
