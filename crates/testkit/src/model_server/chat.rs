//! OpenAI's Chat Completions.

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
    let base = json!({ "id": reply.desk.mint("chatcmpl-"), "created": 0, "model": model });
    let calls = answer.tool().map(|tool| {
        let function = json!({ "name": tool.name, "arguments": tool.arguments.to_string() });
        json!([{ "index": 0, "id": reply.desk.mint("call_"), "type": "function", "function": function }])
    });
    let reason = if calls.is_some() {
        "tool_calls"
    } else {
        "stop"
    };
    let tokens = answer.tokens();
    let usage =
        json!({ "prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens });
    if delivery == Delivery::Whole {
        let mut message = json!({ "role": "assistant", "content": answer.text() });
        if let Some(calls) = calls {
            message["tool_calls"] = calls;
        }
        let choice = json!({ "index": 0, "message": message, "finish_reason": reason });
        let mut whole = base;
        whole["object"] = json!("chat.completion");
        whole["choices"] = json!([choice]);
        whole["usage"] = usage;
        return reply.whole(200, &whole);
    }
    let chunk = |delta: Value, reason: Option<&str>| {
        let mut chunk = base.clone();
        chunk["object"] = json!("chat.completion.chunk");
        chunk["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": reason }]);
        chunk
    };
    let begin = chunk(json!({ "role": "assistant", "content": "" }), None);
    reply.event(None, &begin.to_string())?;
    let speech = answer.speech().cloned().unwrap_or_default();
    reply.speak(&speech, |reply, piece| {
        let chunk = chunk(json!({ "content": piece }), None);
        reply.event(None, &chunk.to_string())
    })?;
    if speech.end == End::Cut {
        return Ok(());
    }
    if let Some(calls) = calls {
        let chunk = chunk(json!({ "tool_calls": calls }), None);
        reply.event(None, &chunk.to_string())?;
    }
    reply.event(None, &chunk(json!({}), Some(reason)).to_string())?;
    let mut last = base.clone();
    last["object"] = json!("chat.completion.chunk");
    last["choices"] = json!([]);
    last["usage"] = usage;
    reply.event(None, &last.to_string())?;
    reply.event(None, "[DONE]")
}
