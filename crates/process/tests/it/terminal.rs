//! Programs on a real pseudo-terminal.

use std::time::Duration;

use handoff_process::terminal::Reading;
use handoff_process::{Exit, Program, Size, Terminal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::part::{BOUND, is_gone, shell};

const SMALL: Size = Size {
    rows: 5,
    columns: 33,
};

/// A terminal and everything that was read from it.
struct Seat {
    terminal: Terminal,
    text: String,
}

impl Seat {
    fn start(program: &Program) -> Self {
        let text = String::new();
        let terminal = Terminal::start(program, SMALL).unwrap();
        Self { terminal, text }
    }

    /// Sleeps until the program prints or ends.
    fn sleep(&self) {
        let timeout = Timespec::try_from(BOUND).unwrap();
        let fds = [self.terminal.line(), self.terminal.process()];
        let mut fds = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        assert_ne!(poll(&mut fds, Some(&timeout)), Ok(0), "nothing happens");
    }

    fn drain(&mut self) {
        let mut buffer = [0; 4096];
        while let Reading::Some(length) = self.terminal.read(&mut buffer).unwrap() {
            self.text += str::from_utf8(&buffer[..length]).unwrap();
        }
    }

    fn until(&mut self, part: &str) {
        while !self.text.contains(part) {
            self.sleep();
            self.drain();
        }
    }

    fn end(&mut self) -> Exit {
        loop {
            let exit = self.terminal.exit().unwrap();
            self.drain();
            match exit {
                Some(exit) => return exit,
                None => self.sleep(),
            }
        }
    }
}

#[test]
fn a_program_finds_a_terminal_of_the_size_it_was_given() {
    let mut seat = Seat::start(&shell("stty size; test -t 0 && tty >/dev/null && exit 3"));
    assert_eq!(
        (seat.end(), seat.text.as_str()),
        (Exit::Code(3), "5 33\r\n")
    );
}

#[test]
fn everything_printed_before_the_end_is_read() {
    let mut seat = Seat::start(&shell("seq 1 20000"));
    assert_eq!(seat.end(), Exit::Code(0));
    let expected: String = (1..=20_000).map(|number| format!("{number}\r\n")).collect();
    assert_eq!(seat.text.len(), expected.len());
    assert!(seat.text == expected);
}

#[test]
fn typing_reaches_the_program_and_so_does_a_new_size() {
    let script =
        "trap 'stty size; exit 4' WINCH; echo ready; while :; do read line; echo got $line; done";
    let mut seat = Seat::start(&shell(script));
    seat.until("ready");
    assert_eq!(seat.terminal.write(b"hello\n").unwrap(), 6);
    seat.until("got hello");
    let wider = Size {
        rows: 6,
        columns: 44,
    };
    seat.terminal.resize(wider).unwrap();
    seat.terminal.write(b"\n").unwrap();
    assert_eq!(seat.end(), Exit::Code(4));
    assert!(seat.text.contains("6 44"), "{}", seat.text);
}

#[test]
fn the_program_leads_the_foreground_until_it_hands_it_on() {
    let mut seat = Seat::start(&shell("set -m; echo one; read x; sleep 1000"));
    seat.until("one");
    let own = seat.terminal.identity().pid;
    assert_eq!(seat.terminal.foreground(), Some(own));
    seat.terminal.write(b"\n").unwrap();
    let deadline = std::iter::repeat_n((), 1000);
    let is_handed_on = deadline.into_iter().any(|()| {
        let timeout = Timespec::try_from(Duration::from_millis(10)).unwrap();
        let fd = PollFd::from_borrowed_fd(seat.terminal.process(), PollFlags::IN);
        poll(&mut [fd], Some(&timeout)).unwrap();
        seat.terminal.foreground() != Some(own)
    });
    assert!(is_handed_on);
}

#[test]
fn a_signal_is_told_from_a_code() {
    let mut seat = Seat::start(&shell("kill -9 $$"));
    assert_eq!(seat.end(), Exit::Signal(9));
}

#[test]
fn dropping_the_terminal_kills_the_program() {
    let seat = Seat::start(&Program::new("/bin/sleep", "/").with_arguments(["1000"]));
    let pid = seat.terminal.identity().pid;
    drop(seat);
    assert!(is_gone(pid.try_into().unwrap()));
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let program = Program::new("/no/such/program", "/");
    let error = Terminal::start(&program, SMALL).unwrap_err();
    assert_eq!(error.to_string(), "cannot start `/no/such/program` in `/`");
}
