//! A person at a session's terminal, sitting at a terminal of their own.

use handoff_process::Exit;
use rustix::process::{Pid, Signal, kill_process};

use super::hall::Hall;
use super::seat::Seat;

const SHELL: [&str; 8] = [
    "run",
    "bash",
    "--id",
    "mine",
    "--timeout=9",
    "--",
    "--norc",
    "--noprofile",
];

#[test]
fn a_session_in_the_foreground_is_like_the_program_itself() {
    let hall = Hall::new();
    let mut seat = Seat::at(&hall, &SHELL);
    seat.until("bash-");
    seat.types("stty size; exit $((40 + 2))\r");
    assert_eq!(seat.end(), Exit::Code(42));
    assert!(seat.text.contains("12 60"), "{:?}", seat.text);
    assert!(
        seat.text.contains("\u{1b}[?1049l"),
        "the own screen is not back"
    );
}

#[test]
fn closing_the_terminal_leaves_the_session_alive() {
    let hall = Hall::new();
    let mut seat = Seat::at(&hall, &SHELL);
    seat.until("bash-");
    let pid = i32::try_from(seat.terminal.identity().pid).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::HUP).unwrap();
    assert_eq!(seat.end(), Exit::Signal(1));
    drop(seat);
    assert_eq!(hall.listed("mine")["state"], "prompt");
    let mut seat = Seat::at(&hall, &["attach", "--id", "mine"]);
    seat.until("bash-");
    seat.types("echo still $((1 + 1))\r");
    seat.until("still 2");
}

#[test]
fn one_types_and_others_look_until_they_leave() {
    let hall = Hall::new();
    let shell = hall.bash("desk");
    let mut writer = Seat::at(&hall, &["attach", "--id", "desk"]);
    writer.until("bash-");
    let mut second = Seat::at(&hall, &["attach", "--id", "desk"]);
    assert_eq!(second.end(), Exit::Code(4));
    assert!(
        second.text.contains("somebody else types"),
        "{}",
        second.text
    );
    let mut viewer = Seat::at(&hall, &["attach", "--id", "desk", "--read-only"]);
    viewer.until("bash-");
    viewer.types("echo no\r");
    writer.types("echo $((20 + 3))\r");
    viewer.until("23");
    assert_eq!(shell.client().status().unwrap().viewers, 2);
    writer.types("\u{1d}");
    assert_eq!(writer.end(), Exit::Code(0));
    assert!(writer.text.contains("desk goes on"), "{}", writer.text);
    viewer.types("\u{1d}");
    assert_eq!(viewer.end(), Exit::Code(0));
    let screen = shell.client().screen().unwrap().lines.join("\n");
    assert!(!screen.contains("echo no"), "{screen}");
}
