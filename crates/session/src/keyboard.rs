//! Whether somebody has typed something that is not sent off yet.
//!
//! Only the holder writes to the terminal, so it knows of every key. This is a guess at what an input line made of them, used
//! where the line itself cannot be read; it errs on the side of a draft.

/// What was typed by others than us since the last Enter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keyboard {
    /// Characters that stand in the line.
    length: usize,
    within: Within,
}

/// What the next byte belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// In a control sequence; its parameter so far, as far as it tells a paste.
    Sequence {
        parameter: u16,
    },
    Paste,
    /// In a sequence within a paste.
    PasteEscape,
    PasteSequence {
        parameter: u16,
    },
}

const ESC: u8 = 0x1b;

impl Keyboard {
    /// Whether there may be a text in the line that nobody sent off.
    pub const fn has_draft(&self) -> bool {
        self.length > 0
    }

    /// The line is empty, for all that is known.
    pub const fn forget(&mut self) {
        self.length = 0;
    }

    /// We left a text there.
    pub const fn leave(&mut self) {
        self.length += 1;
    }

    /// Somebody typed.
    pub fn typed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.within = self.next(*byte);
        }
    }

    fn next(&mut self, byte: u8) -> Within {
        match self.within {
            Within::Text => self.key(byte),
            Within::Escape if byte == b'[' || byte == b'O' => Within::Sequence { parameter: 0 },
            Within::Escape => Within::Text,
            Within::Sequence { parameter } => match read(parameter, byte) {
                Read::More(parameter) => Within::Sequence { parameter },
                Read::End(200) => Within::Paste,
                Read::End(_) => Within::Text,
            },
            Within::Paste if byte == ESC => Within::PasteEscape,
            Within::Paste => {
                self.add(byte);
                Within::Paste
            }
            Within::PasteEscape if byte == b'[' => Within::PasteSequence { parameter: 0 },
            Within::PasteEscape => Within::Paste,
            Within::PasteSequence { parameter } => match read(parameter, byte) {
                Read::More(parameter) => Within::PasteSequence { parameter },
                Read::End(201) => Within::Text,
                Read::End(_) => Within::Paste,
            },
        }
    }

    fn key(&mut self, byte: u8) -> Within {
        match byte {
            ESC => return Within::Escape,
            // Enter, Ctrl-C, Ctrl-D, Ctrl-U.
            b'\r' | b'\n' | 0x03 | 0x04 | 0x15 => self.forget(),
            0x08 | 0x7f => self.length = self.length.saturating_sub(1),
            b'\t' | 0x20.. => self.add(byte),
            _ => {}
        }
        Within::Text
    }

    /// A character of several bytes is one.
    const fn add(&mut self, byte: u8) {
        if byte & 0b1100_0000 != 0b1000_0000 {
            self.length += 1;
        }
    }
}

enum Read {
    More(u16),
    End(u16),
}

fn read(parameter: u16, byte: u8) -> Read {
    match byte {
        b'0'..=b'9' => {
            let digit = u16::from(byte - b'0');
            Read::More(parameter.saturating_mul(10).saturating_add(digit))
        }
        0x40..=0x7e => Read::End(parameter),
        _ => Read::More(u16::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_and_not_sent_off_is_a_draft() {
        let table = [
            ("", false),
            ("l", true),
            ("ls\r", false),
            ("ls\rx", true),
            ("é\x7f", false),
            ("ab\x7f", true),
            ("abc\x15", false),
            ("abc\x03", false),
            ("\x1b[A", false),
            ("\x1bOA\x1b[1;5C", false),
            ("\x1b[200~a\rb\x1b[201~", true),
            ("\x1b[200~a\x1b[201~\r", false),
            ("\x1b[200~\x1b[31m\r\x1b[201~", true),
        ];
        for (keys, expected) in table {
            let mut keyboard = Keyboard::default();
            keyboard.typed(keys.as_bytes());
            assert_eq!(keyboard.has_draft(), expected, "{keys:?}");
        }
    }

    #[test]
    fn keys_may_come_in_pieces() {
        let mut keyboard = Keyboard::default();
        for byte in "\x1b[200~a\x1b[201~\r".bytes() {
            keyboard.typed(&[byte]);
        }
        assert!(!keyboard.has_draft());
    }
}
