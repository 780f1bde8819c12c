//! What the agent shows.

use handoff_agents::scripted::{Flood, Pattern};
use sha2::{Digest, Sha256};

use crate::stage::Stage;

fn shown(script: &str) -> String {
    let stage = Stage::new().with_variable("WHO", "you");
    stage.play(script).text()
}

#[test]
fn texts_use_variables_and_environment() {
    let script = "
        [[step]]
        print = 'Hello {env.WHO}{env.UNSET}, attempt {attempt}, {other} {line}'
    ";
    assert_eq!(shown(script), "Hello you, attempt 1, {other} {line}");
}

#[test]
fn paced_text_arrives_whole() {
    let script = r#"
        [[step]]
        print = "né\n"
        pace = "1ms per char"
        [[step]]
        print = "a\nb"
        pace = "1ms per line"
    "#;
    assert_eq!(shown(script), "né\na\nb");
}

#[test]
fn bytes_need_not_be_text() {
    let script = "[[step]]\nbytes = 'caf\\xc3\\e[0m\\xff'";
    assert_eq!(Stage::new().play(script).output, b"caf\xc3\x1b[0m\xff");
}

#[test]
fn control_sequences_are_sent() {
    let script = "
        [[step]]
        title = 'for {env.WHO}'
        [[step]]
        osc = '7501;idle'
        end = 'st'
        [[step]]
        bracketed_paste = true
        [[step]]
        bracketed_paste = false
    ";
    let expected = "\x1b]2;for you\x07\x1b]7501;idle\x1b\\\x1b[?2004h\x1b[?2004l";
    assert_eq!(shown(script), expected);
}

#[test]
fn a_screen_is_redrawn_and_left() {
    let script = "
        [[step]]
        screen = ['draw {redraw}']
        redraws = 2
        every = '1ms'
    ";
    let frame = |number| format!("\x1b[H\x1b[2J┌────────┐\r\n│ draw {number} │\r\n└────────┘\r\n");
    let expected = format!(
        "\x1b[?1049h\x1b[?25l{}{}\x1b[?25h\x1b[?1049l",
        frame(1),
        frame(2)
    );
    assert_eq!(shown(script), expected);
}

#[test]
fn a_screen_can_stay_until_it_is_left() {
    let script = "
        [[step]]
        screen = []
        every = '0ms'
        stay = true
        [[step]]
        print = 'inside'
        [[step]]
        leave_screen = true
    ";
    assert!(shown(script).ends_with("└──┘\r\ninside\x1b[?25h\x1b[?1049l"));
}

#[test]
fn a_flood_has_the_checksum_of_its_seed() {
    let script = "[[step]]\nflood = 300_001\nseed = 7\nbytes_per_second = 100_000_000";
    let played = Stage::new().play(script);

    let flood = Flood {
        length: 300_001,
        seed: 7,
        pattern: Pattern::Lines,
        bytes_per_second: None,
    };
    let mut expected = vec![0; 300_001];
    flood.fill(0, &mut expected);
    assert_eq!(checksum(&played.output), checksum(&expected));
    assert_eq!(
        checksum(&played.output),
        "a6f92ff1d09266b5ecd174e8a8addec50084ed7030a66e639df941bfbf2fbcb8",
        "scripts and tests elsewhere rely on this flood"
    );
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
