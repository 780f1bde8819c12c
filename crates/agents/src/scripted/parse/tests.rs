use super::*;
use crate::scripted::{Print, Subject, Test, Text};

fn parse(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refusal(text: &str) -> String {
    Script::parse(text).expect_err(text).to_string()
}

/// The steps of a script as names, lines and actions, depth first.
fn outline(steps: &[Step]) -> Vec<String> {
    let mut lines = Vec::new();
    for step in steps {
        lines.push(format!(
            "{} line {} {}",
            step.name,
            step.line,
            step.action.key()
        ));
        if let Action::Ask(ask) = &step.action {
            ask.on
                .values()
                .for_each(|steps| lines.extend(outline(steps)));
        }
        if let Action::Repeat(repeat) = &step.action {
            lines.extend(outline(&repeat.steps));
        }
    }
    lines
}

#[test]
fn a_step_is_an_action_with_options_and_a_condition() {
    let script = parse(
        "[[step]]
         when = { env = 'HANDOFF_ATTEMPT', is = '1' }
         print = 'hi'
         pace = '2ms per char'",
    );
    let when = When {
        subject: Subject::Environment("HANDOFF_ATTEMPT".to_owned()),
        test: Test::Is("1".to_owned()),
    };
    let print = Print {
        text: Text::new("hi"),
        pace: Some("2ms per char".parse().unwrap()),
    };
    let step = Step {
        name: StepName::in_list("", 1),
        line: 1,
        when: Some(when),
        action: Action::Print(print),
    };
    assert_eq!(script, Script { steps: vec![step] });
}

#[test]
fn nested_lists_are_named_by_their_place() {
    let script = parse(
        "[[step]]
         ask = 'Allow?'
         choices = ['Yes', 'No']
         [[step.on.1]]
         write = { path = 'a', text = '' }
         [[step.on.1]]
         repeat = 2
         [[step.on.1.steps]]
         print = 'x'
         [[step.on.other]]
         exit = 1
         [[step]]
         steps = [ { hang = true }, { print = 'never' } ]",
    );
    assert_eq!(
        outline(&script.steps),
        [
            "step 1 line 1 ask",
            "step 1.on.1.1 line 4 write",
            "step 1.on.1.2 line 6 repeat",
            "step 1.on.1.2.steps.1 line 8 print",
            "step 1.on.other.1 line 10 exit",
            "step 2 line 12 repeat",
            "step 2.steps.1 line 13 hang",
            "step 2.steps.2 line 13 print",
        ]
    );
}

#[test]
fn every_action_can_be_written() {
    let script = parse(include_str!("every_action.toml"));
    let mut written: Vec<&str> = script.steps.iter().map(|step| step.action.key()).collect();
    let mut known = Action::KEYS.to_vec();
    written.sort_unstable();
    known.sort_unstable();
    assert_eq!(written, known);
}

#[test]
fn a_mistake_is_reported_with_its_place_and_step() {
    for (script, expected) in [
        (
            "[[step]]\nprint = 'a'\n[[step]]\nprint = 'b'\npase = '1s per line'",
            "line 5, column 1: step 2: unknown key `pase`, expected `print` or `pace`",
        ),
        (
            "[[step]]\nwrite = { path = 'a', txt = 'b' }",
            "line 2, column 23: step 1: unknown key `txt`, expected `path` or `text`",
        ),
        (
            "[[step]]\nwrite = { path = 'a' }",
            "line 2, column 9: step 1: missing key `text`",
        ),
        (
            "[[step]]\nexpect = 3",
            "line 2, column 10: step 1: invalid type: integer `3`, expected a string",
        ),
        (
            "[[step]]\nprint = 'a'\nwrite = { path = 'a', text = 'b' }",
            "line 3, column 1: step 1: `print` and `write` are two actions; make them two steps",
        ),
        (
            "[[step]]\nrepeat = 2",
            "line 1, column 1: step 1: `repeat` needs the steps to repeat, as `[[step.steps]]`",
        ),
        (
            "[[step]]\nrepeat = 2\nsteps = 'twice'",
            "line 3, column 9: step 1: `steps` must be a list of steps",
        ),
        (
            "[[step]]\nrepeat = 2\nsteps = [{ print = 'a' }, 'b']",
            "line 3, column 27: step 1.steps.2: a step must be a table",
        ),
        (
            "[[step]]\nprint = 'a'\n[[step.steps]]\nprint = 'b'",
            "line 3, column 8: step 1: unknown key `steps`, expected `print` or `pace`",
        ),
        (
            "[step]\nprint = 'a'",
            "line 1, column 1: `step` must be a list of steps",
        ),
        (
            "title = 'x'\n[[step]]\nhang = true",
            "line 1, column 1: unknown key `title`; a script consists of `[[step]]` tables",
        ),
        (
            "# nothing yet\n",
            "line 1, column 1: the script has no `[[step]]`",
        ),
    ] {
        assert_eq!(refusal(script), expected);
    }
}

#[test]
fn a_step_without_a_known_action_lists_the_actions() {
    let misspelt = refusal("[[step]]\nwhen = { var = 'line', is = 'x' }\nprnt = 'a'");
    assert!(
        misspelt.starts_with("line 3, column 1: step 1: unknown action `prnt`; the actions are"),
        "{misspelt}"
    );
    assert!(misspelt.contains("`print`, `bytes`"), "{misspelt}");
    let empty = refusal("[[step]]");
    assert!(
        empty
            .starts_with("line 1, column 1: step 1: the step does nothing; give it one of `print`"),
        "{empty}"
    );
}

#[test]
fn what_is_not_toml_is_reported_with_its_place() {
    let message = refusal("[[step]]\nprint = \"a\nexit = 0");
    assert!(message.starts_with("line 2, column "), "{message}");
    assert!(!message.contains('\n'), "{message}");
}

#[test]
fn values_that_make_no_sense_are_refused_where_they_stand() {
    for (step, expected) in [
        (
            "write = { path = '../a', text = '' }",
            "column 18: step 1: `../a` does not stay beneath",
        ),
        (
            "delete = '/etc/passwd'",
            "column 10: step 1: `/etc/passwd` does not stay beneath",
        ),
        (
            "ignore = ['TERM', 'KILL']",
            "column 10: step 1: SIGKILL cannot be ignored",
        ),
        (
            "wait = '5 days'",
            "column 8: step 1: `5 days` is no length of time",
        ),
        (
            "print = 'a'\npace = '5ms'",
            "column 8: step 1: `5ms` is no pace",
        ),
        ("bytes = '\\q'", "column 9: step 1: `\\q` is no escape"),
        ("run = []", "column 7: step 1: the command line is empty"),
        (
            "hang = false",
            "column 8: step 1: only `true` makes sense here",
        ),
        (
            "expect = ''\nas = 'line'",
            "column 6: step 1: `line` is set by the player",
        ),
        (
            "exit = 256",
            "column 8: step 1: invalid value: integer `256`",
        ),
        (
            "hang = true\nwhen = { env = 'A' }",
            "column 8: step 1: `when` needs exactly one of",
        ),
        (
            "hang = true\nwhen = { is = 'A' }",
            "column 8: step 1: `when` needs either",
        ),
    ] {
        let message = refusal(&format!("[[step]]\n{step}"));
        assert!(message.contains(expected), "{message}\n{expected}");
    }
}

#[test]
fn an_answer_that_cannot_be_given_is_refused() {
    let ask = "[[step]]\nask = 'Allow?'\nchoices = ['Yes', 'No']\n";
    let message = refusal(&format!("{ask}[[step.on.3]]\nhang = true"));
    assert!(
        message.starts_with(
            "line 4, column 11: step 1: `on.3` can never be chosen; use a number from 1 to 2"
        ),
        "{message}"
    );
    let message = refusal(&format!("{ask}on = {{ esc = [] }}"));
    assert!(
        message.starts_with("line 4, column 8: step 1: `on.esc`"),
        "{message}"
    );
    parse(&format!(
        "{ask}answer = 'key'\non = {{ esc = [], 2 = [], other = [] }}"
    ));
}
