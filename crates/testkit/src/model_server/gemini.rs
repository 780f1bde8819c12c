//! Gemini's `generateContent`.

use std::io;

use serde_json::{Value, json};

use super::Delivery;
use super::answer::{Answer, End};
use super::stream::Reply;

pub(super) fn write(
    reply: &mut Reply<'_>,
    answer: &Answer,
    model: &str,
    delivery: Delivery,
) -> io::Result<()> {
    let id = reply.desk.mint("resp");
    let tokens = answer.tokens();
    let content = |parts: Value, reason: Option<&str>| {
        let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
        if let Some(reason) = reason {
            candidate["finishReason"] = json!(reason);
        }
        let usage = json!({
            "promptTokenCount": 100, "candidatesTokenCount": tokens, "totalTokenCount": 100 + tokens,
        });
        json!({ "candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": id })
    };
    let call = answer
        .tool()
        .map(|tool| json!({ "functionCall": { "name": tool.name, "args": tool.arguments } }));
    if delivery == Delivery::Whole {
        let text = json!({ "text": answer.text() });
        let parts: Value = std::iter::once(text).chain(call).collect();
        return reply.whole(200, &content(parts, Some("STOP")));
    }
    let speech = answer.speech().cloned().unwrap_or_default();
    reply.speak(&speech, |reply, piece| {
        let content = content(json!([{ "text": piece }]), None);
        reply.event(None, &content.to_string())
    })?;
    if speech.end == End::Cut {
        return Ok(());
    }
    let last = call.unwrap_or_else(|| json!({ "text": "" }));
    reply.event(None, &content(json!([last]), Some("STOP")).to_string())
}
