//! What to answer: the step of the prompt whose turn it is.

use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{Answer, End, Speech, ToolCall};
use super::dialogue::{Dialogue, Tool};
use super::schema::{example, filled};
use super::step::Step;

const SHELLS: [&str; 10] = [
    "bash",
    "shell",
    "shell_command",
    "exec_command",
    "run_shell_command",
    "local_shell",
    "execute",
    "terminal",
    "execute_command",
    "run_terminal_cmd",
];
const WRITERS: [&str; 5] = [
    "write",
    "write_file",
    "create",
    "create_file",
    "write_to_file",
];

/// `times` counts how often a step that fails was asked for.
pub(super) fn decide(dialogue: &Dialogue, times: impl Fn(&str) -> usize) -> Answer {
    if let Some(shape) = dialogue
        .shape
        .as_ref()
        .filter(|_| dialogue.tools.is_empty())
    {
        return Answer::says(example(shape).to_string());
    }
    let mut prompt = dialogue.prompt();
    let results = dialogue.results();
    if dialogue.is_of_aider() {
        if prompt.contains("# Diffs:") {
            return Answer::says("feat: something");
        }
        // It puts a reminder of its own behind the prompt.
        prompt = prompt.split("\n\n").next().unwrap_or_default().to_owned();
    }
    let Some(steps) = Step::all_in(&prompt) else {
        return match results.last() {
            Some(last) => done(results.len(), last),
            None => Answer::says(format!("ECHO: {prompt}")),
        };
    };
    if !dialogue.is_turn() {
        return Answer::says("a title");
    }
    match steps.get(results.len()) {
        Some(step) => act(step, dialogue, times(&prompt)),
        None => done(results.len(), results.last().copied().unwrap_or_default()),
    }
}

fn done(count: usize, last: &str) -> Answer {
    let last: String = last.chars().take(200).collect();
    Answer::says(format!("DONE ({count} tool results). Last: {last}"))
}

fn act(step: &Step, dialogue: &Dialogue, before: usize) -> Answer {
    match step {
        Step::Text(text) => Answer::says(text),
        Step::Lines(count) => {
            let lines: Vec<String> = (1..=*count)
                .map(|line| format!("line {line} of output"))
                .collect();
            Answer::says(lines.join("\n"))
        }
        Step::Slow { over, words } => Answer::Says(slow(*over, words)),
        Step::Hang(span) => Answer::Says(Speech {
            after: *span,
            ..Speech::of("after a pause")
        }),
        Step::Cut => Answer::Says(Speech {
            end: End::Cut,
            ..Speech::of("this will be cut off in the middle")
        }),
        Step::Refuse { code, times } => match times {
            Some(times) if before >= *times => Answer::says("recovered"),
            Some(_) | None => Answer::Error { code: *code },
        },
        Step::Tool { name, arguments } => call(name, arguments.clone()),
        Step::Shell(command) => shell(command, &dialogue.tools),
        Step::Write { path, text } => write(path, text, &dialogue.tools),
    }
}

/// Four words a second.
fn slow(over: Duration, words: &str) -> Speech {
    let count = (over.as_millis() / 250).max(4);
    let mut text: Vec<String> = vec![words.to_owned()];
    text.extend((0..count).map(|number| format!("word{number}")));
    text.push("end-of-slow".to_owned());
    Speech {
        over,
        ..Speech::of(text.join(" ").trim_start())
    }
}

fn call(name: &str, arguments: Value) -> Answer {
    Answer::Calls {
        says: Speech::of(format!("I will call {name}.")),
        tool: ToolCall {
            name: name.to_owned(),
            arguments,
        },
    }
}

fn find<'a>(tools: &'a [Tool], names: &[&str]) -> Option<&'a Tool> {
    let is_one = |tool: &&Tool| {
        names
            .iter()
            .any(|name| tool.name.eq_ignore_ascii_case(name))
    };
    tools.iter().find(is_one)
}

fn shell(command: &str, tools: &[Tool]) -> Answer {
    let Some(tool) = find(tools, &SHELLS) else {
        return none_fits(tools);
    };
    let values = [
        ("command", command),
        ("cmd", command),
        ("description", "a command"),
    ];
    match tool.name.as_str() {
        "local_shell" => call(&tool.name, json!({ "command": ["bash", "-lc", command] })),
        name => call(name, filled(&tool.schema, &values)),
    }
}

fn write(path: &str, text: &str, tools: &[Tool]) -> Answer {
    let Some(tool) = find(tools, &WRITERS) else {
        return none_fits(tools);
    };
    let paths = ["file_path", "filePath", "path", "absolute_path"].map(|key| (key, path));
    let texts = ["content", "file_text", "contents"].map(|key| (key, text));
    let values = [paths.as_slice(), texts.as_slice()].concat();
    call(&tool.name, filled(&tool.schema, &values))
}

fn none_fits(tools: &[Tool]) -> Answer {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    Answer::says(format!("NO SUITABLE TOOL among {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_server::dialogue::{Role, Turn};

    fn dialogue(turns: &[(Role, &str)]) -> Dialogue {
        let turn = |(role, text): &(Role, &str)| Turn {
            role: *role,
            text: (*text).to_owned(),
        };
        Dialogue {
            turns: turns.iter().map(turn).collect(),
            tools: vec![Tool {
                name: "Bash".to_owned(),
                schema: json!({ "properties": { "command": { "type": "string" } } }),
            }],
            ..Dialogue::default()
        }
    }

    #[test]
    fn each_call_of_a_turn_takes_the_next_step() {
        let prompt = (Role::User, "@@sh touch x ;; @@text all done");
        let first = decide(&dialogue(&[prompt]), |_| 0);
        let arguments = json!({ "command": "touch x" });
        assert_eq!(first, call("Bash", arguments));
        let second = decide(&dialogue(&[prompt, (Role::Tool, "")]), |_| 0);
        assert_eq!(second, Answer::says("all done"));
        let third = decide(
            &dialogue(&[prompt, (Role::Tool, ""), (Role::Tool, "x")]),
            |_| 0,
        );
        assert_eq!(third, Answer::says("DONE (2 tool results). Last: x"));
    }

    #[test]
    fn an_error_ends_after_so_many_times() {
        let dialogue = dialogue(&[(Role::User, "@@err 500 2")]);
        assert_eq!(decide(&dialogue, |_| 1), Answer::Error { code: 500 });
        assert_eq!(decide(&dialogue, |_| 2), Answer::says("recovered"));
    }

    #[test]
    fn whoever_offers_no_tools_gets_a_title() {
        let mut dialogue = dialogue(&[(Role::User, "@@slow 9")]);
        dialogue.tools.clear();
        assert_eq!(decide(&dialogue, |_| 0), Answer::says("a title"));
        dialogue.shape =
            Some(json!({ "type": "object", "properties": { "title": { "type": "string" } } }));
        assert_eq!(
            decide(&dialogue, |_| 0),
            Answer::says("{\"title\":\"a title\"}")
        );
    }
}
