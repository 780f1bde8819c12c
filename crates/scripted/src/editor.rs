//! The input line of a full-screen agent: keys in, message out. It neither reads nor writes.

use crate::keys::{CTRL_C, Key};

const CTRL_D: u8 = 0x04;
const CTRL_U: u8 = 0x15;
const BACKSPACE: u8 = 0x08;
const DELETE: u8 = 0x7f;

/// The message as typed so far.
#[derive(Debug, Default)]
pub(crate) struct Editor {
    text: Vec<u8>,
    is_pasting: bool,
    /// A pasted CR LF is one line end.
    follows_return: bool,
}

/// What a key leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Nothing but these bytes to show.
    Show(Vec<u8>),
    Submit,
    Interrupt,
    Close,
}

impl Editor {
    pub(crate) fn into_message(self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    pub(crate) fn press(&mut self, key: Key) -> Edit {
        match key {
            Key::Byte(byte) if self.is_pasting => self.paste(byte),
            Key::Byte(byte) => self.type_byte(byte),
            Key::Alt(b'\r' | b'\n') => self.insert(b'\n'),
            Key::Escape => self.clear(),
            Key::Sequence(sequence) => {
                match sequence.as_slice() {
                    b"[200~" => self.is_pasting = true,
                    b"[201~" => self.is_pasting = false,
                    _ => {}
                }
                Edit::Show(Vec::new())
            }
            Key::Alt(_) => Edit::Show(Vec::new()),
        }
    }

    fn type_byte(&mut self, byte: u8) -> Edit {
        match byte {
            // What was typed ahead, before raw mode, has its returns turned into newlines.
            b'\r' | b'\n' => Edit::Submit,
            CTRL_C => Edit::Interrupt,
            CTRL_D if self.text.is_empty() => Edit::Close,
            CTRL_U => self.clear(),
            BACKSPACE | DELETE => self.erase(),
            b'\t' | b' '.. => self.insert(byte),
            _ => Edit::Show(Vec::new()),
        }
    }

    fn paste(&mut self, byte: u8) -> Edit {
        let is_second_half = self.follows_return && byte == b'\n';
        self.follows_return = byte == b'\r';
        match byte {
            _ if is_second_half => Edit::Show(Vec::new()),
            b'\r' => self.insert(b'\n'),
            _ => self.insert(byte),
        }
    }

    fn insert(&mut self, byte: u8) -> Edit {
        self.text.push(byte);
        Edit::Show(if byte == b'\n' {
            b"\r\n".to_vec()
        } else {
            vec![byte]
        })
    }

    fn erase(&mut self) -> Edit {
        let is_continuation = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
        while self.text.pop_if(|byte| is_continuation(byte)).is_some() {}
        match self.text.pop() {
            Some(_) => Edit::Show(b"\x08 \x08".to_vec()),
            None => Edit::Show(Vec::new()),
        }
    }

    fn clear(&mut self) -> Edit {
        self.text.clear();
        Edit::Show(b"\r\x1b[2K".to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(editor: &mut Editor, text: &str) -> Vec<u8> {
        let mut shown = Vec::new();
        for byte in text.bytes() {
            match editor.press(Key::Byte(byte)) {
                Edit::Show(bytes) => shown.extend(bytes),
                edit @ (Edit::Submit | Edit::Interrupt | Edit::Close) => panic!("{edit:?}"),
            }
        }
        shown
    }

    fn sequence(text: &str) -> Key {
        Key::Sequence(text.as_bytes().to_vec())
    }

    #[test]
    fn enter_submits_what_was_typed() {
        let mut editor = Editor::default();
        assert_eq!(typed(&mut editor, "héllo"), "héllo".as_bytes());
        assert_eq!(editor.press(Key::Byte(b'\r')), Edit::Submit);
        assert_eq!(editor.into_message(), "héllo");
    }

    #[test]
    fn a_paste_keeps_its_line_ends_and_does_not_submit() {
        let mut editor = Editor::default();
        editor.press(sequence("[200~"));
        assert_eq!(typed(&mut editor, "a\rb\r\nc\n\n"), b"a\r\nb\r\nc\r\n\r\n");
        editor.press(sequence("[201~"));
        assert_eq!(editor.press(Key::Byte(b'\r')), Edit::Submit);
        assert_eq!(editor.into_message(), "a\nb\nc\n\n");
    }

    #[test]
    fn backspace_takes_a_whole_character() {
        let mut editor = Editor::default();
        typed(&mut editor, "aé\x7f\x7f\x7fb");
        assert_eq!(editor.into_message(), "b");
    }

    #[test]
    fn escape_clears_and_arrows_do_nothing() {
        let mut editor = Editor::default();
        typed(&mut editor, "no");
        editor.press(Key::Escape);
        editor.press(sequence("[A"));
        typed(&mut editor, "yes");
        assert_eq!(editor.into_message(), "yes");
    }

    #[test]
    fn control_d_closes_only_an_empty_message() {
        let mut editor = Editor::default();
        assert_eq!(editor.press(Key::Byte(CTRL_D)), Edit::Close);
        typed(&mut editor, "x\x04");
        assert_eq!(editor.press(Key::Byte(CTRL_C)), Edit::Interrupt);
    }
}
