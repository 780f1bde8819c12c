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
        .map(|turn| {
            let end = turn.end.map(|end| match end {
                End::Failed(error) => failed(error.kind),
                End::Done | End::Interrupted | End::Refused => end,
            });
            (turn.answer.map(short), turn.usage.output_tokens, end)
        })
        .collect()
}

/// How a turn ended whose words of an error do not matter.
fn failed(kind: ApiErrorKind) -> End {
    End::Failed(ApiError { kind, said: None })
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
        turn("I will call Bash.", 4, End::Refused),
        turn("int word0 word1 word", 1, End::Interrupted),
        turn("API Error: 400 fakel", 0, failed(ApiErrorKind::Request)),
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
    let failed = found
        .iter()
        .filter(|(_, _, end)| matches!(end, Some(End::Failed(_))));
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

const COPILOT: &str = include_str!("../../samples/copilot-1.0.102.jsonl");
const GEMINI: &str = include_str!("../../samples/gemini-0.61.0.jsonl");
const OPENCODE: &str = include_str!("../../samples/opencode-1.18.33.jsonl");

#[test]
fn the_turns_of_copilot_are_told_apart() {
    let found = turns(Format::Copilot, COPILOT);
    let expected = [
        turn("first word0 word1 wo", 22, End::Done),
        turn("allowed", 5, End::Done),
        turn("I will call bash.", 4, End::Interrupted),
        turn("", 0, End::Interrupted),
        turn("long-one word0 word1", 23, End::Done),
    ];
    assert_eq!(found[..5], expected);
    let failed = found
        .iter()
        .filter(|(_, _, end)| matches!(end, Some(End::Failed(_))));
    assert_eq!(failed.count(), 1);
}

/// What was interrupted is written down again, and those turns say nothing.
#[test]
fn the_turns_of_gemini_are_told_apart() {
    let found = turns(Format::Gemini, GEMINI);
    let expected = [
        turn("first word0 word1 wo", 22, End::Done),
        turn("allowed", 8, End::Done),
        turn("I will call run_shel", 7, End::Interrupted),
    ];
    assert_eq!(found[..3], expected);
    let said: Vec<_> = found[3..].iter().filter_map(|it| it.0.as_deref()).collect();
    let later = [
        "long-one word0 word1",
        "the second message",
        "alpha one\nalpha two\n",
        "after the error",
        "after the limit",
    ];
    assert_eq!(said, later);
}

#[test]
fn the_turns_of_opencode_are_told_apart() {
    let found = turns(Format::Opencode, OPENCODE);
    let expected = [
        turn("alldone", 5, End::Done),
        turn("ECHO: second while b", 62, End::Done),
        turn("int word0 word1 word", 0, End::Interrupted),
        turn("", 0, failed(ApiErrorKind::Request)),
        turn("", 0, End::Done),
    ];
    assert_eq!(found, expected);
    let mut conversation = Conversation::new(Format::Opencode);
    OPENCODE.lines().for_each(|line| conversation.take(line));
    let cost = conversation.total().cost_usd.unwrap();
    assert!((cost - 0.033_18).abs() < 1e-9, "{cost}");
}

/// What a record says that the agent does, without repetitions.
fn hints(format: Format, record: &str) -> Vec<String> {
    let mut conversation = Conversation::new(format);
    let told = record.lines().filter_map(|line| {
        conversation.take(line);
        Some(conversation.hint()?.to_string())
    });
    let mut told: Vec<String> = told.collect();
    told.dedup();
    told
}

#[test]
fn a_record_tells_what_the_agent_does() {
    let asking = ["busy", "permission", "busy", "prompt"];
    let opencode = hints(Format::Opencode, OPENCODE);
    assert_eq!(opencode[..4], asking);
    assert_eq!(
        opencode[4..],
        [
            "busy", "prompt", "busy", "prompt", "busy", "error", "busy", "prompt"
        ]
    );
    let copilot = hints(Format::Copilot, COPILOT);
    assert_eq!(copilot[..2], ["busy", "prompt"]);
    assert_eq!(copilot[2..6], asking);
}

#[test]
fn what_an_agent_of_the_agent_does_is_not_the_agents_word() {
    let mut conversation = Conversation::new(Format::Opencode);
    for line in [
        r#"{"type":"session.status","properties":{"sessionID":"a","status":{"type":"busy"}}}"#,
        r#"{"type":"session.created","properties":{"info":{"id":"b","parentID":"a"}}}"#,
        r#"{"type":"session.status","properties":{"sessionID":"b","status":{"type":"idle"}}}"#,
    ] {
        conversation.take(line);
    }
    assert_eq!(conversation.hint(), Some(Hint::Busy));
    conversation.take(r#"{"type":"permission.asked","properties":{"id":"p","sessionID":"b"}}"#);
    let asks = Hint::Blocked(Block::Permission);
    assert_eq!(conversation.hint(), Some(asks), "but a person is asked");
}
