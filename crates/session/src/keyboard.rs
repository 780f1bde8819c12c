//! Whether somebody has typed something that is not sent off yet.
//!
//! Only the holder writes to the terminal, so it knows of every key. This is a guess at what an input line made of them, used
//! where the line itself cannot be read; it errs on the side of a draft: a key that is not known may have fetched an old line,
//! and once the cursor has moved nobody knows what a backspace removes. Only Enter and Ctrl-C end that.

/// What was typed by others than us since the last Enter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keyboard {
    /// Characters that stand in the line.
    length: usize,
    /// A key was pressed that may have moved the cursor, or fetched a text.
    is_moved: bool,
    within: Within,
}

/// Who has typed since the last Enter, besides us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Typist {
    Nobody,
    /// Keys, and no text: something may stand there all the same.
    Perhaps,
    Somebody,
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
    /// One of a function key.
    Function,
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
        self.length > 0 || self.is_moved
    }

    /// Who has typed.
    pub const fn typist(&self) -> Typist {
        match (self.length, self.is_moved) {
            (0, false) => Typist::Nobody,
            (0, true) => Typist::Perhaps,
            _ => Typist::Somebody,
        }
    }

    /// The line is empty, for all that is known.
    pub const fn forget(&mut self) {
        self.length = 0;
        self.is_moved = false;
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
            Within::Escape if byte == b'[' => Within::Sequence { parameter: 0 },
            Within::Escape if byte == b'O' => Within::Function,
            Within::Escape | Within::Function => self.moved(),
            Within::Sequence { parameter } => match read(parameter, byte) {
                Read::More(parameter) => Within::Sequence { parameter },
                Read::End(200) => Within::Paste,
                Read::End(_) if is_report(byte) => Within::Text,
                Read::End(_) => self.moved(),
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
            // Enter, Ctrl-C.
            b'\r' | b'\n' | 0x03 => self.forget(),
            // Ctrl-U takes what is left of the cursor, a backspace one character of that.
            0x15 if !self.is_moved => self.forget(),
            0x08 | 0x7f if !self.is_moved => self.length = self.length.saturating_sub(1),
            0x08 | 0x15 | 0x7f => {}
            // Ctrl-D removes at most; Ctrl-E and Ctrl-L fetch nothing, and leave the cursor where it helps nobody.
            0x04 | 0x05 | 0x0c => {}
            b'\t' | 0x20.. => self.add(byte),
            _ => return self.moved(),
        }
        Within::Text
    }

    const fn moved(&mut self) -> Within {
        self.is_moved = true;
        Within::Text
    }

    /// A character of several bytes is one.
    const fn add(&mut self, byte: u8) {
        if byte & 0b1100_0000 != 0b1000_0000 {
            self.length += 1;
        }
    }
}

/// What a terminal says by itself: where the cursor is, what it is, whether it is looked at.
const fn is_report(last: u8) -> bool {
    matches!(last, b'I' | b'O' | b'R' | b'c' | b'n' | b't' | b'y')
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
            // An old line may stand there now.
            ("\x1b[A", true),
            ("\x1bOA\x1b[1;5C", true),
            ("\x10", true),
            ("\x12", true),
            ("\x19", true),
            ("\x1b[A\x15", true),
            ("\x1b[A\x03", false),
            ("\x1b[A\r", false),
            // What is removed before the text removes nothing of it.
            ("ab\x01\x7f\x7f\x7f", true),
            ("ab\x01\x15", true),
            ("ab\x04", true),
            // Nobody pressed these.
            ("\x1b[I\x1b[O\x1b[3;4R\x1b[?62;22c", false),
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
    fn keys_without_text_tell_less_than_text() {
        let table = [
            ("", Typist::Nobody),
            ("\x1b[A", Typist::Perhaps),
            ("\x1b[Ax", Typist::Somebody),
            ("x\x01\x7f", Typist::Somebody),
        ];
        for (keys, expected) in table {
            let mut keyboard = Keyboard::default();
            keyboard.typed(keys.as_bytes());
            assert_eq!(keyboard.typist(), expected, "{keys:?}");
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
