//! The events of opencode's own server: `GET /event`, one JSON document each.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::{End, Happening, Usage};
use crate::adapter::Block;

/// What must be remembered from event to event.
#[derive(Debug, Clone, Default)]
pub(super) struct Reader {
    /// The message that the model writes now.
    message: String,
    /// Sessions that were begun by one: what an agent of the agent says is not the agent's word.
    inner: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
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
        match kind.as_str() {
            // Whoever asks: the person is asked.
            "permission.asked" => asked(name("id"), Block::Permission),
            "question.asked" => asked(name("id"), Block::Question),
            "permission.replied" | "question.replied" | "question.rejected" => name("requestID")
                .map(Happening::Settled)
                .into_iter()
                .collect(),
            "session.created" => {
                let info = &properties["info"];
                let inner = info["parentID"].as_str().and(info["id"].as_str());
                self.inner.extend(inner.map(str::to_owned));
                vec![]
            }
            _ if name("sessionID").is_some_and(|it| self.inner.contains(&it)) => vec![],
            kind => self.of_session(kind, &properties),
        }
    }

    fn of_session(&mut self, kind: &str, properties: &Value) -> Vec<Happening> {
        match kind {
            "session.status" => match properties["status"]["type"].as_str() {
                Some("busy" | "retry") => vec![Happening::Began],
                Some("idle") => vec![Happening::Ended(End::Done)],
                Some(_) | None => vec![],
            },
            "session.error" => {
                let is_abort = properties["error"]["name"] == "MessageAbortedError";
                let end = if is_abort {
                    End::Interrupted
                } else {
                    End::Failed
                };
                vec![Happening::Ended(end)]
            }
            "message.updated" => self.updated(&properties["info"]),
            "message.part.updated" => self.part(&properties["part"]),
            _ => vec![],
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
