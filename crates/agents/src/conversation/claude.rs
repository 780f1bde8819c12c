//! `~/.claude/projects/…/SESSION.jsonl`, and `~/.claude/sessions/PID.json`.

use serde::Deserialize;
use serde_json::Value;

use super::{ApiError, End, Happening, Usage};
use crate::adapter::{Block, Hint};

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    User,
    Assistant,
    System,
    CostState,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: Kind,
    subtype: Option<String>,
    #[serde(default, rename = "isSidechain")]
    is_sidechain: bool,
    #[serde(default, rename = "isMeta")]
    is_meta: Option<bool>,
    #[serde(default, rename = "isApiErrorMessage")]
    is_error: bool,
    #[serde(rename = "apiErrorStatus")]
    status: Option<u64>,
    /// What kind of refusal a result of a tool is.
    #[serde(rename = "toolDenialKind")]
    denial: Option<String>,
    message: Option<Message>,
    #[serde(rename = "totalCostUSD")]
    cost: Option<f64>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: String,
    #[serde(default)]
    content: Value,
    usage: Option<Tokens>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
}

pub(super) fn read(line: &str) -> Vec<Happening> {
    let Ok(line) = serde_json::from_str::<Line>(line) else {
        return vec![];
    };
    // What an agent of the agent says is not the agent's word.
    if line.is_sidechain {
        return vec![];
    }
    match (line.kind, line.subtype.as_deref(), &line.message) {
        (Kind::User, _, Some(message)) if line.is_meta != Some(true) => asked(&line, message),
        (Kind::Assistant, _, Some(message)) => said(&line, message),
        (Kind::System, Some("turn_duration"), _) => vec![Happening::Ended(End::Done)],
        (Kind::CostState, _, _) => line.cost.map(Happening::CostInAll).into_iter().collect(),
        (Kind::User | Kind::Assistant | Kind::System | Kind::Other, _, _) => vec![],
    }
}

/// Results of tools come as words of the user, and so does the news of an interrupt.
fn asked(line: &Line, message: &Message) -> Vec<Happening> {
    if line.denial.as_deref() == Some("user-rejected") {
        let calls = calls(&message.content, "tool_result", "tool_use_id");
        return calls.map(Happening::Denied).collect();
    }
    let text = words(&message.content);
    match text.as_deref() {
        Some(text) if text.starts_with("[Request interrupted by user") => {
            vec![Happening::Ended(End::Interrupted)]
        }
        Some(_) => vec![Happening::Began],
        None => calls(&message.content, "tool_result", "tool_use_id")
            .map(Happening::Returned)
            .collect(),
    }
}

fn said(line: &Line, message: &Message) -> Vec<Happening> {
    let id = || message.id.clone();
    let text = words(&message.content).map(|text| Happening::Said {
        message: id(),
        text,
    });
    let took = message.usage.as_ref().map(|tokens| Happening::Took {
        message: id(),
        usage: Usage {
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
            cache_read_tokens: tokens.cache_read_input_tokens,
            cache_write_tokens: tokens.cache_creation_input_tokens,
            cost_usd: None,
        },
    });
    let end = match message.stop_reason.as_deref() {
        _ if line.is_error => {
            let said = words(&message.content).unwrap_or_default();
            let error = ApiError::read(line.status, &said);
            Some(Happening::Ended(End::Failed(error)))
        }
        Some("refusal") => Some(Happening::Ended(End::Refused)),
        Some("end_turn") => Some(Happening::Ended(End::Done)),
        Some(_) | None => None,
    };
    let called = calls(&message.content, "tool_use", "id").map(Happening::Called);
    let others = [text, took].into_iter().flatten();
    others.chain(called).chain(end).collect()
}

/// The calls that blocks of this kind are about.
fn calls(content: &Value, kind: &str, key: &str) -> impl Iterator<Item = String> {
    let blocks = content.as_array().into_iter().flatten();
    blocks
        .filter(move |block| block["type"] == kind)
        .filter_map(move |block| block[key].as_str().map(str::to_owned))
}

fn words(content: &Value) -> Option<String> {
    if let Some(text) = content.as_str() {
        return Some(text.to_owned());
    }
    let blocks = content.as_array()?.iter();
    let texts: Vec<&str> = blocks
        .filter(|block| block["type"] == "text")
        .filter_map(|block| block["text"].as_str())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// What Claude Code writes down of a session that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaudeSession {
    /// What it does; none in a word that is not known.
    pub hint: Option<Hint>,
    /// The name of its record.
    pub session: String,
    /// Where it was started.
    pub cwd: String,
}

/// What a session does, in its own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Idle,
    Busy,
    Waiting,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionFile {
    session_id: String,
    cwd: String,
    status: Option<Status>,
    waiting_for: Option<String>,
}

impl ClaudeSession {
    /// Reads the text of a session file; none while it is being written.
    pub fn read(text: &str) -> Option<Self> {
        let file: SessionFile = serde_json::from_str(text).ok()?;
        let hint = match (file.status, file.waiting_for.as_deref()) {
            (Some(Status::Idle), _) => Some(Hint::Prompt),
            (Some(Status::Busy), _) => Some(Hint::Busy),
            (Some(Status::Waiting), Some("permission prompt")) => {
                Some(Hint::Blocked(Block::Permission))
            }
            (Some(Status::Waiting), _) => Some(Hint::Blocked(Block::Question)),
            (Some(Status::Other) | None, _) => None,
        };
        // The session's id becomes part of a path.
        let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
        file.session_id.chars().all(is_plain).then_some(Self {
            hint,
            session: file.session_id,
            cwd: file.cwd,
        })
    }

    /// Its record, below the directory of its configuration.
    pub fn record(&self) -> String {
        let folder: String = self
            .cwd
            .chars()
            .map(|it| if it.is_ascii_alphanumeric() { it } else { '-' })
            .collect();
        format!("projects/{folder}/{}.jsonl", self.session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_file_tells_the_state_and_the_record() {
        let text = r#"{"pid":7,"sessionId":"b84c-1","cwd":"/tmp/my.proj","status":"waiting","waitingFor":"permission prompt"}"#;
        let session = ClaudeSession::read(text).unwrap();
        assert_eq!(session.hint, Some(Hint::Blocked(Block::Permission)));
        assert_eq!(session.record(), "projects/-tmp-my-proj/b84c-1.jsonl");
        for (status, hint) in [
            ("idle", Some(Hint::Prompt)),
            ("busy", Some(Hint::Busy)),
            ("new", None),
        ] {
            let text = format!(r#"{{"sessionId":"a","cwd":"/","status":"{status}"}}"#);
            assert_eq!(ClaudeSession::read(&text).unwrap().hint, hint);
        }
        assert_eq!(
            ClaudeSession::read(r#"{"sessionId":"../../x","cwd":"/"}"#),
            None
        );
        assert_eq!(ClaudeSession::read("{\"sess"), None);
    }
}
