//! Anthropic's Messages.

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
    let mut message = json!({
        "id": reply.desk.mint("msg_"), "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage(1),
    });
    let tool = answer.tool().map(|tool| {
        let id = reply.desk.mint("toolu_");
        json!({ "type": "tool_use", "id": id, "name": tool.name, "input": tool.arguments })
    });
    if delivery == Delivery::Whole {
        let text = json!({ "type": "text", "text": answer.text() });
        message["content"] = std::iter::once(text).chain(tool).collect();
        message["stop_reason"] = json!(stop_reason(answer));
        message["usage"] = usage(answer.tokens());
        return reply.whole(200, &message);
    }
    event(
        reply,
        &json!({ "type": "message_start", "message": message }),
    )?;
    speak(reply, answer)?;
    if answer.speech().is_some_and(|speech| speech.end == End::Cut) {
        return Ok(());
    }
    event(reply, &json!({ "type": "content_block_stop", "index": 0 }))?;
    if let Some(block) = tool {
        call(reply, block)?;
    }
    let delta = json!({ "stop_reason": stop_reason(answer), "stop_sequence": null });
    let usage = json!({ "output_tokens": answer.tokens() });
    event(
        reply,
        &json!({ "type": "message_delta", "delta": delta, "usage": usage }),
    )?;
    event(reply, &json!({ "type": "message_stop" }))
}

const fn stop_reason(answer: &Answer) -> &'static str {
    match answer {
        Answer::Calls { .. } => "tool_use",
        Answer::Says(_) | Answer::Error { .. } => "end_turn",
    }
}

fn speak(reply: &mut Reply<'_>, answer: &Answer) -> io::Result<()> {
    let block = json!({ "type": "text", "text": "" });
    event(
        reply,
        &json!({ "type": "content_block_start", "index": 0, "content_block": block }),
    )?;
    let speech = answer.speech().cloned().unwrap_or_default();
    reply.speak(&speech, |reply, piece| {
        let delta = json!({ "type": "text_delta", "text": piece });
        event(
            reply,
            &json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        )
    })
}

fn call(reply: &mut Reply<'_>, mut block: Value) -> io::Result<()> {
    let input = block["input"].take().to_string();
    block["input"] = json!({});
    event(
        reply,
        &json!({ "type": "content_block_start", "index": 1, "content_block": block }),
    )?;
    let delta = json!({ "type": "input_json_delta", "partial_json": input });
    event(
        reply,
        &json!({ "type": "content_block_delta", "index": 1, "delta": delta }),
    )?;
    event(reply, &json!({ "type": "content_block_stop", "index": 1 }))
}

fn usage(output: usize) -> Value {
    json!({
        "input_tokens": 100, "output_tokens": output, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
    })
}

fn event(reply: &mut Reply<'_>, data: &Value) -> io::Result<()> {
    let name = data["type"].as_str().map(str::to_owned);
    reply.event(name.as_deref(), &data.to_string())
}
