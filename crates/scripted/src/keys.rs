//! From bytes to key presses.

use handoff_agents::scripted::Period;

use crate::clock::Deadline;
use crate::input::{Input, ReadError};

/// A terminal sends the rest of a sequence at once; a person takes longer for a second key.
const SEQUENCE_TIMEOUT: Period = Period::from_millis(25);

const ESCAPE: u8 = 0x1b;
/// No signal in raw mode, but a key like others.
pub(crate) const CTRL_C: u8 = 0x03;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    /// A byte of text or a control character.
    Byte(u8),
    /// The Escape key alone.
    Escape,
    /// A key pressed together with Alt.
    Alt(u8),
    /// A control sequence without its escape, such as `[200~`.
    Sequence(Vec<u8>),
}

impl Input {
    pub(crate) fn next_key(&mut self, deadline: Deadline) -> Result<Key, ReadError> {
        match self.next_byte(deadline)? {
            ESCAPE => self.after_escape(),
            byte => Ok(Key::Byte(byte)),
        }
    }

    fn after_escape(&mut self) -> Result<Key, ReadError> {
        let mut sequence = Vec::new();
        loop {
            let soon = Deadline::after(Some(SEQUENCE_TIMEOUT));
            match self.next_byte(soon) {
                Ok(byte) => sequence.push(byte),
                Err(ReadError::TimedOut | ReadError::Ended) if sequence.is_empty() => {
                    return Ok(Key::Escape);
                }
                Err(ReadError::TimedOut | ReadError::Ended) => break,
                Err(error) => return Err(error),
            }
            if is_complete(&sequence) {
                break;
            }
        }
        Ok(match sequence.as_slice() {
            [byte] => Key::Alt(*byte),
            _ => Key::Sequence(sequence),
        })
    }
}

fn is_complete(sequence: &[u8]) -> bool {
    match sequence {
        [b'[' | b'O'] => false,
        [b'[', .., last] => (0x40..=0x7e).contains(last),
        _ => true,
    }
}
