use super::*;

const CLAUDE: &str = include_str!("../../samples/claude-2.1.325.jsonl");
const CODEX: &str = include_str!("../../samples/codex-0.166.0.jsonl");

/// Every turn as it was when the next began: answer, output tokens, end.
fn turns(format: Format, record: &str) -> Vec<(Option<String>, u64, Option<End>)> {
    let mut conversation = Conversation::new(format);
    let mut turns = vec![];
    for line in record.lines() {
        let before = conversation.turns();
        let turn = conversation.turn().cloned();
        conversation.take(line);
        if conversation.turns() > before {
            turns.extend(turn);
        }
    }
    turns.extend(conversation.turn().cloned());
    let short = |text: String| text.chars().take(20).collect();
    turns
        .into_iter()
        .map(|turn| (turn.answer.map(short), turn.usage.output_tokens, turn.end))
        .collect()
}

fn turn(answer: &str, tokens: u64, end: End) -> (Option<String>, u64, Option<End>) {
    let answer = (!answer.is_empty()).then(|| answer.to_owned());
    (answer, tokens, Some(end))
}

#[test]
fn the_turns_of_claude_are_told_apart() {
    let found = turns(Format::Claude, CLAUDE);
    let expected = [
        turn("finished", 6, End::Done),
        turn("perm ok", 5, End::Done),
        turn("I will call Bash.", 4, End::Interrupted),
        turn("int word0 word1 word", 1, End::Interrupted),
        turn("API Error: 400 fakel", 0, End::Failed),
    ];
    assert_eq!(found[..5], expected);
    assert_eq!(
        found.last().unwrap().0.as_deref(),
        Some("ECHO: queued during ")
    );
}

#[test]
fn the_turns_of_codex_are_told_apart() {
    let found = turns(Format::Codex, CODEX);
    let expected = [
        turn("hello word0 word1 wo", 57, End::Done),
        turn("after hang", 2, End::Done),
        turn("all done", 8, End::Done),
        turn("perm done", 8, End::Done),
    ];
    assert_eq!(found[..4], expected);
    assert_eq!(found[4].2, Some(End::Interrupted));
    let failed = found.iter().filter(|(_, _, end)| *end == Some(End::Failed));
    assert_eq!(failed.count(), 3);
}

#[test]
fn what_cannot_be_read_says_nothing() {
    let mut conversation = Conversation::new(Format::Claude);
    for line in [
        "",
        "{",
        "[]",
        "{\"type\":\"user\"}",
        "{\"type\":\"assistant\",\"message\":{}}",
    ] {
        conversation.take(line);
    }
    assert_eq!((conversation.turns(), conversation.turn()), (0, None));
}

#[test]
fn a_message_in_several_lines_is_one_and_is_counted_once() {
    let mut conversation = Conversation::new(Format::Claude);
    conversation.take(r#"{"type":"user","message":{"content":"hi"}}"#);
    for text in ["one", "two"] {
        conversation.take(&format!(
            r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"text","text":"{text}"}}],"usage":{{"input_tokens":9,"output_tokens":4}}}}}}"#
        ));
    }
    let turn = conversation.turn().unwrap();
    assert_eq!(turn.answer.as_deref(), Some("one\ntwo"));
    assert_eq!((turn.usage.input_tokens, turn.usage.output_tokens), (9, 4));
}

/// How often a tool was open after a line, and whether one is at the end.
fn open_calls(format: Format, record: &str) -> (usize, bool) {
    let mut conversation = Conversation::new(format);
    let mut count = 0;
    for line in record.lines() {
        conversation.take(line);
        count += usize::from(conversation.has_open_call());
    }
    (count, conversation.has_open_call())
}

#[test]
fn a_call_is_open_until_it_returns_or_the_turn_ends() {
    let (count, at_end) = open_calls(Format::Claude, CLAUDE);
    assert!(count > 0 && !at_end, "{count}");
    let codex = r#"{"type":"event_msg","payload":{"type":"task_started"}}
{"type":"response_item","payload":{"type":"function_call","call_id":"c1"}}
{"type":"response_item","payload":{"type":"custom_tool_call","call_id":"c2"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1"}}
{"type":"event_msg","payload":{"type":"turn_aborted"}}"#;
    assert_eq!(open_calls(Format::Codex, codex), (3, false));
    let lines = [
        r#"{"type":"user","message":{"content":"go"}}"#,
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1"}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1"}]}}"#,
    ];
    let mut conversation = Conversation::new(Format::Claude);
    let open = lines.map(|line| {
        conversation.take(line);
        conversation.has_open_call()
    });
    assert_eq!(open, [false, true, false]);
}
