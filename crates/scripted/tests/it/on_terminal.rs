//! The agent on a pseudo-terminal, where keys and modes matter.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::thread::{self, JoinHandle};

use handoff_scripted::{Outcome, play};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

use crate::stage::{Stage, parse};

/// An agent on a terminal, and the person in front of it.
struct Seat {
    keyboard: File,
    terminal: File,
    agent: JoinHandle<Outcome>,
    shown: String,
}

impl Seat {
    fn play(script: &str) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let terminal = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let terminal = File::from(terminal);
        let script = parse(script);
        let stdin: OwnedFd = terminal.try_clone().unwrap().into();
        let output = terminal.try_clone().unwrap();
        let agent = thread::spawn(move || {
            let stage = Stage::new();
            play(&script, stage.world(stdin, output))
        });
        Self {
            keyboard: keyboard.into(),
            terminal,
            agent,
            shown: String::new(),
        }
    }

    fn until(&mut self, part: &str) -> &str {
        let mut chunk = [0; 1024];
        while !self.shown.contains(part) {
            let length = self.keyboard.read(&mut chunk).unwrap();
            self.shown
                .push_str(str::from_utf8(&chunk[..length]).unwrap());
        }
        &self.shown
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    fn echoes(&self) -> bool {
        let modes = tcgetattr(&self.terminal).unwrap().local_modes;
        modes.contains(LocalModes::ECHO)
    }

    fn ending(self) -> u8 {
        self.agent.join().unwrap().exit_code()
    }
}

#[test]
fn a_pasted_message_is_one_message() {
    let mut seat = Seat::play(
        "[[step]]
         message = '> '
         [[step]]
         print = '[{line}]'
         [[step]]
         expect = 'done'",
    );
    seat.until("> ");
    assert!(!seat.echoes());
    seat.press("\x1b[200~two\rlines\x1b[201~ and\r");
    assert!(seat.until("]").contains("[two\r\nlines and]"));
    assert!(seat.echoes());
    seat.press("done\r");
    assert_eq!(seat.ending(), 0);
}

#[test]
fn one_key_answers_a_dialog() {
    let mut seat = Seat::play(
        "[[step]]
         ask = 'Allow?'
         choices = ['Yes', 'No']
         answer = 'key'
         on.2 = [{ exit = 22 }]
         on.esc = [{ exit = 27 }]",
    );
    seat.until("Answer (1-2): ");
    seat.press("9\x1b[Ax2");
    assert_eq!(seat.ending(), 22);
}

#[test]
fn escape_answers_a_dialog() {
    let mut seat = Seat::play(
        "[[step]]
         ask = 'Allow?'
         choices = ['Yes']
         answer = 'key'
         on.esc = [{ exit = 27 }]",
    );
    seat.until("Answer");
    seat.press("\x1b");
    assert_eq!(seat.ending(), 27);
}
