//! A person's terminal.

use std::time::Duration;

use handoff_process::terminal::Reading;
use handoff_process::{Exit, Program, Size, Terminal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::hall::Hall;
use crate::stage::PATIENCE;

const SIZE: Size = Size {
    rows: 12,
    columns: 60,
};

/// A person's terminal with the program on it.
pub(super) struct Seat {
    pub(super) terminal: Terminal,
    pub(super) text: String,
}

impl Seat {
    pub(super) fn at(hall: &Hall, words: &[&str]) -> Self {
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
    pub(super) fn until(&mut self, part: &str) {
        while !self.text.contains(part) {
            self.look(PATIENCE);
        }
    }

    pub(super) fn types(&mut self, keys: &str) {
        assert_eq!(self.terminal.write(keys.as_bytes()).unwrap(), keys.len());
    }

    pub(super) fn end(&mut self) -> Exit {
        loop {
            if let Some(exit) = self.terminal.exit().unwrap() {
                self.look(PATIENCE);
                return exit;
            }
            self.look(PATIENCE);
        }
    }
}
