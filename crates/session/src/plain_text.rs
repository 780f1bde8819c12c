//! What a program printed, as lines that can be read: no colours, no movements, nothing that a terminal would obey.

/// Turns raw output into lines. A line that was written over counts as it was in the end; moving the cursor to another row
/// ends a line.
pub struct PlainText {
    parser: vte::Parser,
    lines: Lines,
}

#[derive(Default)]
struct Lines {
    done: Vec<String>,
    line: String,
    /// The cursor is at the start of a line that has text: the next character writes it anew.
    is_returned: bool,
}

impl Default for PlainText {
    fn default() -> Self {
        Self {
            parser: vte::Parser::new(),
            lines: Lines::default(),
        }
    }
}

impl PlainText {
    /// Takes some output, and gives the lines that are complete now.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        self.parser.advance(&mut self.lines, bytes);
        std::mem::take(&mut self.lines.done)
    }

    /// The last line, which nothing has ended.
    pub fn rest(self) -> Option<String> {
        let line = self.lines.line;
        (!line.is_empty()).then_some(line)
    }
}

impl Lines {
    fn end(&mut self) {
        self.is_returned = false;
        let line = std::mem::take(&mut self.line);
        self.done.push(line.trim_end().to_owned());
    }
}

impl vte::Perform for Lines {
    fn print(&mut self, character: char) {
        if std::mem::take(&mut self.is_returned) {
            self.line.clear();
        }
        if !character.is_control() {
            self.line.push(character);
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.end(),
            b'\r' => self.is_returned = true,
            b'\t' => self.line.push('\t'),
            0x08 => drop(self.line.pop()),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, _: &vte::Params, _: &[u8], _: bool, action: char) {
        if matches!(action, 'A' | 'B' | 'E' | 'F' | 'H' | 'd' | 'f') && !self.line.is_empty() {
            self.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_left() {
        let table: [(&str, &[&str], Option<&str>); 6] = [
            ("one\r\ntwo", &["one"], Some("two")),
            ("\x1b[31mred\x1b[0m\x1b]52;c;aGk=\x07\r\n", &["red"], None),
            ("10%\r20%\r30%\n", &["30%"], None),
            ("ab\x08c\x07\n", &["ac"], None),
            ("a\x1b[5;1Hb\n", &["a", "b"], None),
            ("\u{9b}2Jx\x00\n", &["2Jx"], None),
        ];
        for (printed, lines, rest) in table {
            let mut text = PlainText::default();
            assert_eq!(text.push(printed.as_bytes()), lines, "{printed:?}");
            assert_eq!(text.rest().as_deref(), rest, "{printed:?}");
        }
    }

    #[test]
    fn a_character_in_two_pieces_is_one() {
        let mut text = PlainText::default();
        let (first, second) = "ü\n".as_bytes().split_at(1);
        assert_eq!(text.push(first), [""; 0]);
        assert_eq!(text.push(second), ["ü"]);
    }
}
