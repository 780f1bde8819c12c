//! A session's screen as it changes.

use std::io::BufRead as _;

use handoff_process::Exit;

use super::hall::Hall;
use super::seat::Seat;

const TALE: &str = "printf 'one\\r\\n'; read x; printf '\\033[31mtwo'; read x";

#[test]
fn a_screen_is_shown_each_time_that_it_changes_until_the_session_ends() {
    let hall = Hall::new();
    let session = hall.run("live", &["sh", "--", "-c", TALE]);
    session.shows("one");
    let mut follower = hall.stage.start(["pane", "--id", "live", "--follow"]);
    let words = ["pane", "--id", "live", "--follow", "--lines=1", "--json"];
    let mut program = hall.stage.start(words);
    let first = [follower.line(), follower.line()];
    assert!(
        first[0].starts_with("--- ") && first[1] == "one",
        "{first:?}"
    );
    assert!(program.line().contains(r#""lines":["one"]"#));
    // The empty line that Enter makes looks like none, so that no picture is shown for it.
    session.types("");
    let second = [(); 4].map(|()| follower.line());
    assert!(second[0].starts_with("--- "), "{second:?}");
    assert_eq!(second[1..], ["one", "", "two"]);
    while !program.line().contains(r#""lines":["two"]"#) {}
    session.types("");
    assert_eq!((follower.code(), program.code()), (Some(0), Some(0)));
    let late = hall.stage.say("pane --id live --follow");
    assert_eq!(late.code(), Some(4));
}

#[test]
fn a_terminal_is_painted_over_and_left_as_it_was() {
    let hall = Hall::new();
    let session = hall.run("live", &["sh", "--", "-c", TALE]);
    let mut seat = Seat::at(&hall, &["pane", "--id", "live", "--follow", "--ansi"]);
    seat.until("one");
    session.types("");
    // Up over the picture before, and the colour in the new one.
    seat.until("\u{1b}[1A\r\u{1b}[2K");
    seat.until("\u{1b}[31mtwo");
    seat.types("\u{3}");
    assert_eq!(seat.end(), Exit::Signal(2));
    assert!(!seat.text.contains("\u{1b}[?"), "{:?}", seat.text);
    assert_eq!(session.client().status().unwrap().viewers, 0);
}

#[test]
fn one_who_follows_ends_with_whoever_reads_it() {
    let hall = Hall::new();
    let session = hall.run("still", &["sh", "--", "-c", "echo one; exec sleep 1000"]);
    session.shows("one");
    hall.stage.add("task");
    hall.stage.feature("calm", "- [ ] **Step 1: One**\n");
    for words in [
        "pane --id still --follow",
        "logs --id still --follow",
        "events --id still",
        "events --follow",
        "status --follow",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut follower = hall.stage.command(words.split(' '));
        let mut follower = follower.stdout(writer).spawn().unwrap();
        let mut reader = std::io::BufReader::new(reader);
        reader.read_line(&mut String::new()).unwrap();
        drop(reader);
        // The session is still: there is no next word at which they would notice.
        assert_eq!(follower.wait().unwrap().code(), Some(0), "{words}");
    }
}
