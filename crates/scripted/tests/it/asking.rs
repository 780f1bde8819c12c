//! What the agent asks and reads.

use std::fs;
use std::io::pipe;

use crate::stage::Stage;

const PERMISSION: &str = "
    [[step]]
    ask = 'Allow?'
    choices = ['Yes', 'No', 'Maybe']
    as = 'answer'
    [[step.on.1]]
    print = 'thanks '
    [[step.on.1]]
    print = 'again '
    [[step.on.2]]
    exit = 5
    [[step]]
    print = 'went on with {answer}'
";

#[test]
fn expect_reads_until_a_line_contains_the_text() {
    let script = "
        [[step]]
        expect = 'continue'
        echo = true
        as = 'order'
        [[step]]
        expect = ''
        [[step]]
        print = '{order}/{line}'
    ";
    let played = Stage::new().play_with("what?\nplease continue\r\nlast", script);
    assert_eq!(
        played.text(),
        "read: what?\nread: please continue\nplease continue/last"
    );
    assert_eq!(played.ending(), "finished");
}

#[test]
fn expect_fails_when_the_input_ends() {
    let played = Stage::new().play_with("no\n", "[[step]]\nexpect = 'yes'");
    assert_eq!(
        played.ending(),
        "failed with 4: step 1 (`expect`, line 1): the input ended while waiting for a line with `yes`"
    );
}

#[test]
fn expect_gives_up_after_its_timeout() {
    let (stdin, _open) = pipe().unwrap();
    let played = Stage::new().play_on(stdin.into(), "[[step]]\nexpect = 'yes'\ntimeout = '5ms'");
    assert_eq!(
        played.ending(),
        "failed with 4: step 1 (`expect`, line 1): waited 5ms for a line with `yes` in vain"
    );
}

#[test]
fn an_answer_chooses_the_next_steps() {
    for (answer, shown, ending) in [
        ("1\n", "thanks again went on with 1", "finished"),
        ("2\n", "", "exited with 5"),
        ("3\n", "went on with 3", "finished"),
    ] {
        let played = Stage::new().play_with(answer, PERMISSION);
        let dialog = "Allow?\n  1. Yes\n  2. No\n  3. Maybe\nAnswer (1-3): ";
        assert_eq!(played.text(), format!("{dialog}{shown}"));
        assert_eq!(played.ending(), ending);
    }
}

#[test]
fn an_answer_that_is_no_choice_is_asked_again() {
    let played = Stage::new().play_with("4\nyes\n 1 \n", PERMISSION);
    assert_eq!(played.text().matches("Allow?").count(), 3);
    assert_eq!(played.ending(), "finished");
}

#[test]
fn other_answers_can_have_steps() {
    let script = "
        [[step]]
        ask = 'Allow?'
        choices = ['Yes']
        on.other = [{ print = 'not {line}' }]
    ";
    let played = Stage::new().play_with("never\n", script);
    assert!(played.text().ends_with("not never"));
}

#[test]
fn a_message_is_read_key_by_key_with_paste_on() {
    let script = "
        [[step]]
        message = '> '
        as = 'reply'
        [[step]]
        print = '[{reply}]'
    ";
    let played = Stage::new().play_with("helo\x7flo\r", script);
    assert_eq!(
        played.text(),
        "\x1b[?2004h> helo\x08 \x08lo\x1b[?2004l\r\n[hello]"
    );
}

#[test]
fn control_c_ends_a_message_with_130() {
    let played = Stage::new().play_with("he\x03", "[[step]]\nmessage = '> '");
    assert_eq!(played.ending(), "exited with 130");
}

#[test]
fn the_prompt_comes_from_the_input_or_from_a_file() {
    let script = "
        [[step]]
        prompt_contains = 'task_{attempt}'
        [[step]]
        print = '{prompt}'
    ";
    let stage = Stage::new();
    let played = stage.play_with("do\ntask_1\n", script);
    assert_eq!(played.text(), "do\ntask_1\n");

    fs::write(stage.path().join("brief.md"), "see task_1").unwrap();
    let stage = stage.with_variable("HANDOFF_PROMPT_FILE", "brief.md");
    assert_eq!(stage.play(script).text(), "see task_1");
}

#[test]
fn a_prompt_without_the_text_ends_with_3() {
    let script = "[[step]]\nread_prompt = true\n[[step]]\nprompt_contains = 'task_9'";
    let played = Stage::new().play_with("hello", script);
    assert_eq!(
        played.ending(),
        "failed with 3: step 2 (`prompt_contains`, line 3): \
         the prompt (5 bytes from the input) does not contain `task_9`"
    );
}
