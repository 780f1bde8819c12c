//! A person at a session's terminal, sitting at a terminal of their own.

use std::time::Duration;

use handoff_process::terminal::Reading;
use handoff_process::{Exit, Program, Size, Terminal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

use super::hall::Hall;
use crate::stage::PATIENCE;

const SIZE: Size = Size {
    rows: 12,
    columns: 60,
};

/// A person's terminal with the program on it.
struct Seat {
    terminal: Terminal,
    text: String,
}

impl Seat {
    fn at(hall: &Hall, words: &[&str]) -> Self {
        let command = hall.stage.command(words);
        let mut program =
            Program::new(command.get_program(), hall.stage.repo.path()).with_arguments(words);
        let variables = command.get_envs();
        program.environment = variables
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        program.environment.insert("TERM".into(), "xterm".into());
        Self {
            terminal: Terminal::start(&program, SIZE).unwrap(),
            text: String::new(),
        }
    }

    fn look(&mut self, patience: Duration) {
        let timeout = Timespec::try_from(patience).unwrap();
        let fds = [self.terminal.line(), self.terminal.process()];
        let mut fds = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        assert_ne!(
            poll(&mut fds, Some(&timeout)),
            Ok(0),
            "nothing happens: {:?}",
            self.text
        );
        let mut buffer = [0; 4096];
        while let Reading::Some(length) = self.terminal.read(&mut buffer).unwrap() {
            self.text += &String::from_utf8_lossy(&buffer[..length]);
        }
    }

    #[track_caller]
    fn until(&mut self, part: &str) {
        while !self.text.contains(part) {
            self.look(PATIENCE);
        }
    }

    fn types(&mut self, keys: &str) {
        assert_eq!(self.terminal.write(keys.as_bytes()).unwrap(), keys.len());
    }

    fn end(&mut self) -> Exit {
        loop {
            if let Some(exit) = self.terminal.exit().unwrap() {
                self.look(PATIENCE);
                return exit;
            }
            self.look(PATIENCE);
        }
    }
}

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
