//! OpenAI's Responses.

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
    let message = message(reply, answer);
    let call = call(reply, answer);
    let items: Vec<Value> = std::iter::once(message.clone())
        .chain(call.clone())
        .collect();
    let begun = json!({
        "id": reply.desk.mint("resp_"), "object": "response", "created_at": 0, "status": "in_progress", "model": model,
        "output": [], "usage": null, "error": null,
    });
    let mut complete = begun.clone();
    complete["status"] = json!("completed");
    complete["output"] = json!(items);
    complete["usage"] = usage(answer.tokens());
    if delivery == Delivery::Whole {
        return reply.whole(200, &complete);
    }
    let mut events = Events { reply, number: 0 };
    events.send("response.created", json!({ "response": begun }))?;
    let speech = answer.speech().cloned().unwrap_or_default();
    events.message(&message, &speech)?;
    if speech.end == End::Cut {
        return Ok(());
    }
    if let Some(call) = call {
        events.call(&call)?;
    }
    events.send("response.completed", json!({ "response": complete }))
}

fn message(reply: &Reply<'_>, answer: &Answer) -> Value {
    let part = json!({ "type": "output_text", "text": answer.text(), "annotations": [] });
    let id = reply.desk.mint("msg_");
    json!({ "type": "message", "id": id, "role": "assistant", "status": "completed", "content": [part] })
}

fn call(reply: &Reply<'_>, answer: &Answer) -> Option<Value> {
    let tool = answer.tool()?;
    let call = reply.desk.mint("call_");
    let id = format!("fc_{call}");
    if let Some(input) = tool.arguments.as_str() {
        return Some(json!({
            "type": "custom_tool_call", "id": id, "call_id": call, "name": tool.name, "input": input,
            "status": "completed",
        }));
    }
    Some(json!({
        "type": "function_call", "id": id, "call_id": call, "name": tool.name, "arguments": tool.arguments.to_string(),
        "status": "completed",
    }))
}

fn usage(output: usize) -> Value {
    json!({
        "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": output,
        "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 100 + output,
    })
}

/// Numbered events.
struct Events<'a, 'b> {
    reply: &'a mut Reply<'b>,
    number: u64,
}

impl Events<'_, '_> {
    fn send(&mut self, kind: &str, mut data: Value) -> io::Result<()> {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.number);
        self.number += 1;
        self.reply.event(Some(kind), &data.to_string())
    }

    fn message(&mut self, message: &Value, speech: &super::answer::Speech) -> io::Result<()> {
        let id = &message["id"];
        let mut begun = message.clone();
        begun["status"] = json!("in_progress");
        begun["content"] = json!([]);
        self.send(
            "response.output_item.added",
            json!({ "output_index": 0, "item": begun }),
        )?;
        let part = json!({ "type": "output_text", "text": "", "annotations": [] });
        let place = json!({ "item_id": id, "output_index": 0, "content_index": 0 });
        self.send("response.content_part.added", with(&place, "part", part))?;
        for piece in speech.pieces() {
            self.reply.desk.pause(speech.pace());
            self.send(
                "response.output_text.delta",
                with(&place, "delta", json!(piece)),
            )?;
        }
        if speech.end == End::Cut {
            return Ok(());
        }
        self.send(
            "response.output_text.done",
            with(&place, "text", json!(speech.text)),
        )?;
        let part = message["content"][0].clone();
        self.send("response.content_part.done", with(&place, "part", part))?;
        self.send(
            "response.output_item.done",
            json!({ "output_index": 0, "item": message }),
        )
    }

    fn call(&mut self, call: &Value) -> io::Result<()> {
        let mut begun = call.clone();
        if let Some(arguments) = call["arguments"].as_str() {
            begun["status"] = json!("in_progress");
            begun["arguments"] = json!("");
            let place = json!({ "item_id": call["id"], "output_index": 1 });
            self.send(
                "response.output_item.added",
                json!({ "output_index": 1, "item": begun }),
            )?;
            let delta = with(&place, "delta", json!(arguments));
            self.send("response.function_call_arguments.delta", delta)?;
            let done = with(&place, "arguments", json!(arguments));
            self.send("response.function_call_arguments.done", done)?;
        } else {
            self.send(
                "response.output_item.added",
                json!({ "output_index": 1, "item": begun }),
            )?;
        }
        self.send(
            "response.output_item.done",
            json!({ "output_index": 1, "item": call }),
        )
    }
}

fn with(place: &Value, key: &str, value: Value) -> Value {
    let mut event = place.clone();
    event[key] = value;
    event
}
