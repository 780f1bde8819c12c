//! The program on a terminal: somebody sees what it says, and answers.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// What was seen, and how it ended.
pub(crate) struct Seen {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
}

/// Runs a program on a terminal of its own, on which `answer` was typed ahead.
pub(crate) fn run(command: Command, answer: &str) -> Seen {
    converse(command, &[("", answer)])
}

/// The same with somebody who waits for each of these texts, and then types what belongs to it.
pub(crate) fn converse(mut command: Command, talk: &[(&str, &str)]) -> Seen {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap();
    let path = path.to_str().unwrap();
    let terminal = || Stdio::from(File::options().read(true).write(true).open(path).unwrap());
    let mut master = File::from(master);
    let mut talk = talk.iter().peekable();
    while let Some((_, answer)) = talk.next_if(|(heard, _)| heard.is_empty()) {
        master.write_all(answer.as_bytes()).unwrap();
    }
    command
        .stdin(terminal())
        .stdout(terminal())
        .stderr(terminal());
    let mut child = command.spawn().unwrap();
    // Our copies of the terminal must be gone, or its end would never be seen.
    drop(command);
    let mut text = vec![];
    let mut buffer = [0; 4096];
    let mut answered = 0;
    // The last reader gets an error instead of an end.
    while let Ok(length @ 1..) = master.read(&mut buffer) {
        text.extend_from_slice(&buffer[..length]);
        let heard = String::from_utf8_lossy(&text[answered..]).into_owned();
        if let Some((_, answer)) = talk.next_if(|(expected, _)| heard.contains(expected)) {
            answered = text.len();
            master.write_all(answer.as_bytes()).unwrap();
        }
    }
    let text = String::from_utf8(text).unwrap().replace("\r\n", "\n");
    assert_eq!(talk.next(), None, "never heard: {text}");
    Seen {
        code: child.wait().unwrap().code(),
        text,
    }
}
